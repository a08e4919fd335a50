import assert from "node:assert/strict";
import { test } from "node:test";
import { ServiceError } from "../../../src/ground/kit/errors.ts";
import { createSlices, finish, type Work } from "../../../src/ground/kit/slices.ts";

function* work(name: string, steps: number, seen: string[]): Work<string> {
  for (let i = 0; i < steps; i += 1) {
    seen.push(name);
    yield 1;
  }
  return name;
}

test("works take turns, a slice each, and each turn of the loop holds one slice", async () => {
  const seen: string[] = [];
  const slices = createSlices({ slice: 2, works: 10 });
  const both = Promise.all([slices.run(work("a", 4, seen)), slices.run(work("b", 2, seen))]);
  let turns = 0;
  const count = () => {
    turns += 1;
    if (seen.length < 6) setImmediate(count);
  };
  setImmediate(count);
  assert.deepEqual(await both, ["a", "b"]);
  assert.deepEqual(seen, ["a", "a", "b", "b", "a", "a"]);
  assert.ok(turns >= 3, `${turns} turns`);
  assert.equal(await slices.run(work("c", 1, seen)), "c", "and goes on after it was idle");
});

test("past the bound a work is refused, one that throws ends alone", async () => {
  const slices = createSlices({ slice: 1, works: 2 });
  const broken: Work<never> = (function* () {
    yield 1;
    throw new RangeError("broken");
  })();
  const first = slices.run(work("a", 3, []));
  const second = assert.rejects(slices.run(broken), RangeError);
  await assert.rejects(
    slices.run(work("late", 1, [])),
    (error) => error instanceof ServiceError && error.code === "overloaded",
  );
  await second;
  assert.equal(await first, "a");
  assert.equal(await slices.run(work("again", 1, [])), "again");
});

test("finish runs a work to its end at once", () => {
  assert.equal(finish(work("a", 5, [])), "a");
});
