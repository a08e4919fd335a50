import assert from "node:assert/strict";
import { test } from "node:test";
import {
  compileLabelParts,
  type LabelPart,
  labelFault,
  labelPartText,
} from "../../../src/core/alerts/label-query.ts";
import { readAlertQuery } from "../../../src/core/alerts/query.ts";
import type { Labelled } from "../../../src/core/quiet/labels.ts";
import fc, { anyCharacter } from "../../support/property.ts";

/** What a query says of labels. */

const part = (name: string, op: LabelPart["op"], text = "", isNot = false): LabelPart => ({
  name,
  op,
  text,
  isNot,
});

const read: [query: string, parts: LabelPart[], words: string[]][] = [
  ["label:host=db7", [part("host", "=", "db7")], []],
  ['label:host~"db.*" x', [part("host", "~", "db.*")], ["x"]],
  ["-label:host=db7", [part("host", "=", "db7", true)], []],
  ["label:host!=db7", [part("host", "=", "db7", true)], []],
  ['-label:host!~"a b"', [part("host", "~", "a b")], []],
  ["label:host", [part("host", null)], []],
  ["-LABEL:Host", [part("Host", null, "", true)], []],
  ['label:"a name"="b c"', [part("a name", "=", "b c")], []],
  ['label:a="say \\"x\\" \\\\ C:\\new"', [part("a", "=", 'say "x" \\ C:\\new')], []],
  ['label:a~"\\d+\\\\"', [part("a", "~", "\\d+\\\\")], []],
  ["label:a=", [part("a", "=", "")], []],
  ["label:a=b=c", [part("a", "=", "b=c")], []],
  ["label: xlabel:a=b", [], ["label:", "xlabel:a=b"]],
  ['"label:a=b"', [], ["label:a=b"]],
  ['label:a="unended', [], ["label:a=unended"]],
];
for (const [query, labels, words] of read)
  test(`${query} is read`, () => {
    const found = readAlertQuery(query);
    assert.deepEqual([found.labels, found.words], [labels, words]);
  });

const text = fc.string({ unit: anyCharacter, maxLength: 12 }).filter((s) => !/[\n\r]/.test(s));
const aPart = fc.oneof(
  fc.record(
    { name: text, op: fc.constant("=" as const), text, isNot: fc.boolean() },
    { noNullPrototype: true },
  ),
  fc.record(
    {
      name: text,
      op: fc.constantFrom("~" as const, null),
      text: fc.constant(""),
      isNot: fc.boolean(),
    },
    { noNullPrototype: true },
  ),
);

test("what is written of labels is read as it was meant", () => {
  fc.assert(
    fc.property(fc.array(aPart, { maxLength: 3 }), (parts) => {
      const query = readAlertQuery(parts.map(labelPartText).join(" "));
      assert.deepEqual(query.labels, parts);
    }),
    { numRuns: 500 },
  );
});

test("of a label that varies any known value counts, and none where it must not be", () => {
  const value = fc.constantFrom("db7", "db8", "web", "");
  const values = fc.uniqueArray(value, { maxLength: 4 });
  const name = fc.constantFrom("host", "__proto__", "constructor");
  fc.assert(
    fc.property(
      values,
      name,
      fc.constantFrom(...(["=", "~", null] as const)),
      value,
      fc.boolean(),
      (all, name, op, text, isNot) => {
        const pattern = text.replace("8", ".");
        const of: Labelled = {
          labels: all[0] === undefined ? {} : { [name]: all[0] },
          varied: all.length > 1 ? { [name]: all } : {},
          varied_more: [],
        };
        const found = all.some((one) =>
          op === null ? true : op === "=" ? one === text : new RegExp(`^${pattern}$`).test(one),
        );
        const parts = [part(name, op, op === "~" ? pattern : text, isNot)];
        assert.equal(compileLabelParts(parts)(of), found !== isNot);
      },
    ),
    { numRuns: 500 },
  );
});

const one: Labelled = { labels: { a: "x" }, varied: {}, varied_more: [] };
for (const [what, parts] of [
  ["none", [part("a", "~", "(")]],
  ["too large", [part("a", "~", "x{300}", true)]],
  ["too large in all", [part("a", "~", "x{120}", true), part("b", "~", "x{120}", true)]],
] as const)
  test(`a pattern that is ${what} is named, and finds nothing`, () => {
    assert.match(labelFault(parts) ?? "", /^has (a pattern|patterns)/);
    assert.equal(compileLabelParts(parts)(one), false);
  });

test("a pattern over ten thousand long values doesn't hold up the loop", () => {
  const takes = compileLabelParts([part("a", "~", "(a|b|ab|.{1,40}){1,4}c")]);
  const begun = performance.now();
  for (let i = 0; i < 200; i += 1)
    takes({ labels: { a: `${"ab".repeat(2000)}${i}` }, varied: {}, varied_more: [] });
  assert.ok(performance.now() - begun < 2000, `${performance.now() - begun} ms`);
});
