import assert from "node:assert/strict";
import test from "node:test";
import { lineDiff } from "../../../src/records/config-file/diff.ts";
import fc from "../../support/property.ts";

const text = fc.array(fc.constantFrom("a", "b", "c", "d"), { minLength: 1, maxLength: 12 });

test("what differs, with what is around it, and where lines are left out", () => {
  const before = ["1", "2", "3", "4", "5", "6", "7", "8", "9"];
  const after = ["1", "2", "x", "4", "5", "6", "7", "8", "y", "9"];
  assert.deepEqual(lineDiff(before.join("\n"), after.join("\n"), 1), [
    "  2",
    "- 3",
    "+ x",
    "  4",
    "…",
    "  8",
    "+ y",
    "  9",
  ]);
  assert.deepEqual(lineDiff("a", "a"), []);
  assert.deepEqual(lineDiff("", "a\nb"), ["+ a", "+ b"]);
});

test("the lines of both sides are all there, in order", () => {
  fc.assert(
    fc.property(text, text, (before, after) => {
      const lines = lineDiff(before.join("\n"), after.join("\n"), 100);
      const side = (mark: string) =>
        lines.filter((line) => line[0] !== mark).map((line) => line.slice(2));
      if (before.join() === after.join()) return assert.deepEqual(lines, []);
      assert.deepEqual([side("+"), side("-")], [before, after]);
    }),
  );
});

test("two long texts that share nothing are compared in little time", () => {
  const lines = (mark: string) => Array.from({ length: 40_000 }, (_, at) => `${mark}${at}`);
  const shown = lineDiff(["same", ...lines("a")].join("\n"), ["same", ...lines("b")].join("\n"));
  assert.equal(shown.length, 80_001);
  assert.deepEqual(shown.slice(0, 2), ["  same", "- a0"]);
});
