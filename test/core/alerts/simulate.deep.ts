import { test } from "node:test";
import fc from "../../support/property.ts";
import { seed } from "../../support/seed.ts";
import { counts, startTelling } from "./simulated.ts";
import { simulatedStories } from "./stories.ts";

const STORIES = Number(process.env["RUNS"] ?? 10_000);
/** A box is begun anew after so many groups of stories. */
const OF_ONE_BOX = 25;

test(`what is simulated is what a box then does, in ${STORIES} stories`, async (t) => {
  for (let box = 0; counts.stories < STORIES; box += 1) {
    const telling = startTelling();
    const how = { numRuns: OF_ONE_BOX, seed: seed + box, endOnFailure: true };
    try {
      await fc.assert(fc.asyncProperty(simulatedStories, telling.tell), how);
    } finally {
      await telling.close();
      console.log(JSON.stringify(counts));
    }
  }
  t.diagnostic(JSON.stringify(counts));
});
