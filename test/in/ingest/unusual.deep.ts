import assert from "node:assert/strict";
import { test } from "node:test";
import { opensWhatIsUnusual } from "./unusual-stories.ts";

const RUNS = Number(process.env["RUNS"] ?? 1000);

test(`what is unusual opens as the contract says and as the dry run finds, in ${RUNS} stories`, (t) => {
  const { some, unsure } = opensWhatIsUnusual(t, RUNS);
  assert.ok(some > RUNS / 4, `${some} alerts`);
  assert.ok(unsure > RUNS / 20, `${unsure} not judged whole`);
});
