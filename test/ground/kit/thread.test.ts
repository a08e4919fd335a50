import assert from "node:assert/strict";
import { test } from "node:test";
import { createWorkThread } from "../../../src/ground/kit/thread.ts";
import { handClock } from "../../support/clock.ts";

test("a thread that isn't loaded in time is told as busy, so that the caller tries again", async () => {
  const clock = handClock();
  const source = { code: "setInterval(() => {}, 1000)" };
  const thread = createWorkThread({ source, clock, deadlineMs: 1000, heapMb: 32, longestQueue: 0 });
  const heard = thread.ask("work");
  await new Promise((resolve) => setImmediate(resolve));
  await clock.turn(15_000);
  assert.deepEqual(await heard, { ended: "busy" });
  await thread.close();
});
