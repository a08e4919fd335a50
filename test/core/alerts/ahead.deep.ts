import { test } from "node:test";
import fc from "../../support/property.ts";
import { seed } from "../../support/seed.ts";
import { counts, standingStories, startAsking } from "./ahead.ts";

const ALERTS = Number(process.env["RUNS"] ?? 10_000);
/** A box is begun anew after so many groups of stories. */
const OF_ONE_BOX = 25;

test(`what ${ALERTS} alerts are said to do next is what the box then does`, async (t) => {
  for (let box = 0; counts.asked < ALERTS; box += 1) {
    const asking = startAsking();
    const how = { numRuns: OF_ONE_BOX, seed: seed + box, endOnFailure: true };
    try {
      await fc.assert(fc.asyncProperty(standingStories, asking.tell), how);
    } finally {
      await asking.close();
      console.log(JSON.stringify(counts));
    }
  }
  t.diagnostic(JSON.stringify(counts));
});
