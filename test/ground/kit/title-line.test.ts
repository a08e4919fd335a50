import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { codePoints, titleLine } from "../../../src/ground/kit/text.ts";
import fc, { anyCharacter } from "../../support/property.ts";

const table: readonly (readonly [string, string, string])[] = [
  ["one line", "disk full", "disk full"],
  ["the first line that says something", "\n \r\n\tdisk full\nsecond", "disk full"],
  ["every kind of line break ends it", "disk full\u2028second", "disk full"],
  ["white space within it is one space", "  disk \t full\u0007now ", "disk full now"],
  ["200 characters stay", "é".repeat(200), "é".repeat(200)],
  ["of 201 the last two make room for the mark", "é".repeat(201), `${"é".repeat(199)}…`],
  ["a character of two units is one", "😀".repeat(201), `${"😀".repeat(199)}…`],
  ["half a character can't be stored", "disk \ud83d full", "disk \ufffd full"],
  ["nothing", " \n\r\n\u0000", ""],
];

describe("the title in a text", () => {
  for (const [what, text, title] of table)
    test(what, () => {
      assert.equal(titleLine(text), title);
    });

  test("is one whole line of at most so many characters", () => {
    const unit = fc.oneof(
      anyCharacter,
      fc.constantFrom(
        "\n",
        "\r",
        "\u2028",
        "\u2029",
        "\u0085",
        "\v",
        " ",
        "\0",
        "\ud800",
        "\udc00",
        "a",
      ),
    );
    fc.assert(
      fc.property(
        fc.string({ unit, maxLength: 1000 }),
        fc.integer({ min: 2, max: 200 }),
        (text, most) => {
          const title = titleLine(text, most);
          assert.ok(title.isWellFormed());
          assert.ok(codePoints(title) <= most, `${codePoints(title)} of ${most}`);
          assert.doesNotMatch(title, /[\p{Cc}\u2028\u2029]|^\s|\s$/u);
          assert.equal(titleLine(title, most), title);
          // A text with anything to read has a title.
          assert.equal(title === "", !/[^\s\p{Cc}]/u.test(text));
        },
      ),
    );
  });

  test("costs little for a text of any length", () => {
    const started = performance.now();
    titleLine(`${" ".repeat(1_000_000)}${"\0 ".repeat(1_000_000)}a${" b".repeat(1_000_000)}`);
    assert.ok(performance.now() - started < 250);
  });
});
