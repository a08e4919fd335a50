import assert from "node:assert/strict";
import { test } from "node:test";
import { partsOf } from "../../../src/core/alerts/parts.ts";
import { Miner } from "../../../src/in/ingest/template/miner.ts";
import fc, { anyCharacter } from "../../support/property.ts";

/** Which parts of a message are variable in its template. */

const marked = (message: string, template: string) =>
  partsOf(message, template)
    .map(({ text, variable }) => (variable ? `‹${text}›` : text))
    .join("");

test("the variable parts of a message are marked", () => {
  const cases: [message: string, template: string, marked: string][] = [
    [
      "payment 17 failed after 3 s",
      "payment <*> failed after <*> s",
      "payment ‹17› failed after ‹3› s",
    ],
    ["down", "down", "down"],
    ["17 is down", "<*> is down", "‹17› is down"],
    ["down: 17", "down: <*>", "down: ‹17›"],
    ["a=1  b=22\tend", "a=<*> b=<*> end", "a=‹1›  b=‹22›\tend"],
    ["  x 1 ", "x <*>", "  x ‹1› "],
    [
      "2026-11-22 04:00:01 WARN disk 93 full",
      "<*> disk <*> full",
      "‹2026-11-22 04:00:01 WARN› disk ‹93› full",
    ],
    ["x 1 2", "x <*><*>", "x ‹1 2›"],
    ["x 1 at main.js:3", "x <*> at <*>", "x ‹1› at ‹main.js:3›"],
    ["long 5 and the rest of it", "long <*> and…", "long ‹5› and the rest of it"],
    ["ab ab 1 ab", "ab <*> ab", "ab ‹ab 1› ab"],
    ["another thing", "payment <*> failed", "another thing"],
    ["", "<*>", ""],
  ];
  for (const [message, template, expected] of cases)
    assert.equal(marked(message, template), expected, template);
});

test("the parts add up to the message, and show all variable parts of a template's own message", () => {
  const word = fc.constantFrom(
    "disk",
    "at",
    "/var",
    "failed",
    "1",
    "17",
    "0.5",
    "ab-12",
    "é",
    "  ",
  );
  fc.assert(
    fc.property(fc.array(word, { maxLength: 12 }), (words) => {
      const message = words.join(" ");
      const template = new Miner({ limit: 10, rows: [] }).mine(message).ownText;
      const parts = partsOf(message, template);
      assert.equal(parts.map(({ text }) => text).join(""), message);
      if (template.includes("<*>"))
        assert.ok(
          parts.some(({ variable }) => variable),
          template,
        );
    }),
  );
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter }), fc.string(), (message, template) => {
      const of = template.replaceAll("a", "<*>");
      assert.equal(
        partsOf(message, of)
          .map(({ text }) => text)
          .join(""),
        message,
      );
    }),
  );
});
