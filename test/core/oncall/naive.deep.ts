import { test } from "node:test";
import { compareWithNaive, WINDOWS } from "./against-naive.ts";
import { holdsEachMinute } from "./years.ts";

const SCHEDULES = 500;

test(`${SCHEDULES} random schedules equal the naive evaluator, asked at every minute`, (t) => {
  t.diagnostic(compareWithNaive(SCHEDULES, { everyMinute: true }));
});

for (const zone of Object.keys(WINDOWS))
  test(`${zone}: every minute of two years has its one answer, and 09:00 stays 09:00`, () =>
    holdsEachMinute(zone, 2));
