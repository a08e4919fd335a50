import assert from "node:assert/strict";
import { test } from "node:test";
import { createBuckets } from "../../../src/ground/kit/bucket.ts";
import { handClock } from "../../support/clock.ts";

test("a bucket empties, says how long, and fills with time and no further than its burst", async () => {
  const clock = handClock();
  const buckets = createBuckets(clock, { rate: 2, burst: 4 });
  assert.deepEqual(
    [1, 1, 2, 1].map((amount) => buckets.take("a", amount)),
    [
      { allowed: true, remaining: 3, retryAfter: 1 },
      { allowed: true, remaining: 2, retryAfter: 1 },
      { allowed: true, remaining: 0, retryAfter: 1 },
      { allowed: false, remaining: 0, retryAfter: 1 },
    ],
  );
  assert.equal(buckets.take("a", 4).retryAfter, 2);
  assert.equal(buckets.take("b").allowed, true, "another's is its own");
  await clock.turn(60_000);
  assert.deepEqual(buckets.take("a"), { allowed: true, remaining: 3, retryAfter: 1 });
});

test("an empty bucket that is tried again and again isn't forgotten for a crowd of others", () => {
  const buckets = createBuckets(handClock(), { rate: 1, burst: 1, keys: 3 });
  assert.equal(buckets.take("guesser").allowed, true);
  for (let i = 0; i < 20; i++) {
    buckets.take(`other ${i}`);
    assert.equal(buckets.take("guesser").allowed, false, `after ${i} others`);
  }
});
