import assert from "node:assert/strict";
import { test } from "node:test";
import { filledLines } from "../../../src/ground/kit/text.ts";
import { byteLines, LF, NUL } from "../../../src/in/adapters/byte-lines.ts";
import fc from "../../support/property.ts";

const text = fc.string({ unit: fc.constantFrom("a", "é", " ", "\r", "\n", "\0") });

test("a body's lines are those of its text, and lie in it", () => {
  fc.assert(
    fc.property(text, fc.nat(4), fc.boolean(), (whole, most, isNulEnd) => {
      const body = Buffer.from(whole);
      const lines = byteLines(body, most, isNulEnd ? [LF, NUL] : [LF]);
      const read = isNulEnd ? whole.replaceAll("\0", "\n") : whole.replaceAll("\0", "\r");
      assert.deepEqual(
        lines.map((line) => `${line}`.replaceAll("\0", "\r")),
        filledLines(read, most),
      );
      for (const line of lines) assert.equal(line.buffer, body.buffer);
    }),
  );
});
