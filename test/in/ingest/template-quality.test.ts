import assert from "node:assert/strict";
import { test } from "node:test";
import { dice, linesOf, shuffled } from "../../../bench/template-dice.ts";
import { qualityOf, score } from "../../../bench/template-quality.ts";
import { SHAPES } from "../../../bench/template-shapes.ts";
import { Miner } from "../../../src/in/ingest/template/miner.ts";

test("templates group the sample lines as expected, in any order", () => {
  for (const seed of [1, 2, 3]) {
    const lines = linesOf(SHAPES, seed, 12);
    const straight = qualityOf(lines);
    assert.ok(
      straight.ga >= 0.97 && straight.fga >= 0.95,
      `seed ${seed}: ${JSON.stringify(straight)}`,
    );
    const mixed = qualityOf(shuffled(lines, dice(seed + 10)));
    assert.ok(Math.abs(mixed.ga - straight.ga) <= 0.01, `seed ${seed}: ${mixed.ga}`);
  }
});

test("the score counts a group only when it is exact", () => {
  assert.deepEqual(score(["a", "a", "b"], ["x", "x", "y"]), { ga: 1, fga: 1 });
  assert.equal(score(["a", "a", "b"], ["x", "x", "x"]).ga, 0);
  assert.equal(score(["a", "a", "b"], ["x", "y", "z"]).ga, 1 / 3);
});

test("a flood of templates stays within the limit, and used templates stay known", () => {
  const miner = new Miner({ limit: 200, rows: [] });
  const choices = dice(5);
  const word = (): string =>
    Array.from({ length: 6 }, () => String.fromCharCode(97 + choices.below(26))).join("");
  const { root } = miner.mine("the disk is full");
  const held = new Set<string>();
  for (let i = 0; i < 5_000; i++) {
    miner.mine(`${word()} ${word()} ${word()} ${"long ".repeat(i % 50 === 0 ? 2_000 : 1)}`);
    assert.equal(miner.mine("the disk is full").root, root);
    const { rows, evicted } = miner.takeChanges();
    for (const id of evicted) held.delete(id);
    for (const row of rows) held.add(row.id);
    assert.ok(miner.size <= 200 && held.size <= 200);
  }
  assert.equal(miner.overflowed, 5_001 - 200);
});
