import { test } from "node:test";
import fc from "../../support/property.ts";
import { counts, startTelling } from "./simulated.ts";
import { simulatedStories } from "./stories.ts";

test("what is simulated is what a box then does: ladders, schedules, overrides, contacts, silences, snoozes", async (t) => {
  const telling = startTelling();
  t.after(() => telling.close());
  await fc.assert(fc.asyncProperty(simulatedStories, telling.tell), {
    numRuns: 3,
    endOnFailure: true,
  });
  t.diagnostic(JSON.stringify(counts));
});
