import assert from "node:assert/strict";
import { test } from "node:test";
import { withRun } from "../../src/app/box-found.ts";

test("of many runs that took the box in vain the latest are known, and the one that served", () => {
  let runs: string[] = [];
  for (let n = 0; n < 2_000; n++) runs = withRun(runs, `run${n}`);
  assert.equal(runs.length, 501);
  assert.deepEqual([runs[0], runs[1], runs.at(-1)], ["run0", "run1500", "run1999"]);
});
