import { inBoth, long, test } from "../../support/long.ts";
import { compareWithNaive, WINDOWS } from "./against-naive.ts";
import { holdsEachMinute } from "./years.ts";

/** The deep form takes 500, asks at every minute, and watches two years. */
for (const [as, schedules] of inBoth(10, 80))
  as(
    `${schedules} random schedules over 90 days with a clock change equal the naive evaluator`,
    (t) => {
      t.diagnostic(compareWithNaive(schedules, { everyMinute: false }));
    },
  );

for (const [n, zone] of Object.keys(WINDOWS).entries())
  (n < 2 ? test : long)(
    `${zone}: every minute of a year has its one answer, and 09:00 stays 09:00`,
    () => holdsEachMinute(zone, 1),
  );
