import { test } from "node:test";
import { compareWithNaive, WINDOWS } from "./against-naive.ts";
import { holdsEachMinute } from "./years.ts";

/** The long form takes 500, asks at every minute, and watches two years. */
const SCHEDULES = 80;

test(`${SCHEDULES} random schedules over 90 days with a clock change equal the naive evaluator`, (t) => {
  t.diagnostic(compareWithNaive(SCHEDULES, { everyMinute: false }));
});

for (const zone of Object.keys(WINDOWS))
  test(`${zone}: every minute of a year has its one answer, and 09:00 stays 09:00`, () =>
    holdsEachMinute(zone, 1));
