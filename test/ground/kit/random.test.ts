import assert from "node:assert/strict";
import { test } from "node:test";
import { systemRandom } from "../../../src/ground/kit/random.ts";

test("every piece has its length and nothing is handed out twice", () => {
  const seen = new Set<string>();
  for (let i = 0; i < 5000; i += 1) {
    const bytes = systemRandom.bytes(8 + (i % 90));
    assert.equal(bytes.length, 8 + (i % 90));
    seen.add(bytes.toString("hex"));
  }
  assert.equal(seen.size, 5000);
});

test("a piece is the caller's own: later ones don't change it", () => {
  const first = systemRandom.bytes(16);
  const copy = Buffer.from(first);
  for (let i = 0; i < 1000; i += 1) systemRandom.bytes(16);
  assert.deepEqual(first, copy);
});

test("fractions lie in [0, 1) and spread", () => {
  const fractions = Array.from({ length: 10_000 }, () => systemRandom.fraction());
  assert.ok(fractions.every((x) => x >= 0 && x < 1));
  const mean = fractions.reduce((a, b) => a + b) / fractions.length;
  assert.ok(Math.abs(mean - 0.5) < 0.05, String(mean));
});
