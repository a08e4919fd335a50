import { test } from "node:test";
import { compareWithNaive } from "./against-naive.ts";

const SCHEDULES = 500;

test(`${SCHEDULES} random schedules equal the naive evaluator, asked at every minute`, (t) => {
  t.diagnostic(compareWithNaive(SCHEDULES, { everyMinute: true }));
});
