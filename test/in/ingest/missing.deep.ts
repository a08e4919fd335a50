import assert from "node:assert/strict";
import { test } from "node:test";
import { opensWhatIsMissing } from "./missing-stories.ts";

const RUNS = Number(process.env["RUNS"] ?? 1000);

test(`what is missing opens as the contract says and as the dry run finds, in ${RUNS} stories`, (t) => {
  const some = opensWhatIsMissing(t, RUNS);
  assert.ok(some > RUNS / 5, `${some} alerts`);
});
