import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "../../support/property.ts";
import { counts, standingStories, startAsking } from "./ahead.ts";

test("what an alert is said to do next is what the box then does: repeats, snoozes, silences to come, shifts, the fallback", async (t) => {
  const asking = startAsking();
  t.after(() => asking.close());
  await fc.assert(fc.asyncProperty(standingStories, asking.tell), {
    numRuns: 3,
    endOnFailure: true,
  });
  for (const [what, n] of Object.entries(counts)) assert.ok(n > 0, what);
  t.diagnostic(JSON.stringify(counts));
});
