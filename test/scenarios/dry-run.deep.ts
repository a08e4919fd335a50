import { test } from "node:test";
import { testBox } from "../support/box.ts";
import { opensTheSame } from "./dry-run-property.ts";

const RUNS = 1000;

test(`a dry run opens what a box opens that is fed the same events, ${RUNS} times`, async (t) => {
  const box = await testBox();
  t.after(() => box.stop());
  await opensTheSame(box, RUNS);
});
