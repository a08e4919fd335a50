import assert from "node:assert/strict";
import { test } from "node:test";
import { seed } from "../support/seed.ts";
import { runMutated } from "./mutated.ts";

test("2,000 bent requests: no 5xx, no hang, nothing left behind, good ones answered in between", async (t) => {
  const figures = await runMutated(2000, seed);
  t.diagnostic(
    `seed ${seed}: ${JSON.stringify(figures.byStatus)}, unanswered ${figures.unanswered}`,
  );
  const sorted = figures.good.toSorted((a, b) => a - b);
  assert.ok((sorted[sorted.length >> 1] ?? 0) <= 500, `the middle one of ${sorted}`);
  assert.ok((figures.byStatus[400] ?? 0) > 100 && (figures.byStatus[202] ?? 0) > 20, "many kinds");
});
