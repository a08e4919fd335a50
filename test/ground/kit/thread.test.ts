import assert from "node:assert/strict";
import { test } from "node:test";
import { systemClock } from "../../../src/ground/kit/clock.ts";
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

/** One that works for so many milliseconds of its own CPU time, or waits as long for others, and then says "done". */
const worker = `
  const { parentPort } = require("node:worker_threads");
  parentPort.on("message", ({ busy, waits }) => {
    if (waits) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, waits);
    while (busy && process.threadCpuUsage().user / 1000 < busy);
    parentPort.postMessage("done");
  });
  parentPort.postMessage("loaded");`;

test("work that gets no core in time may take longer, and work that has had its time may not", async (t) => {
  const source = { code: worker };
  const limits = { deadlineMs: 400, heapMb: 32, longestQueue: 0 };
  const thread = createWorkThread({ source, clock: systemClock, ...limits });
  t.after(() => thread.close());
  assert.deepEqual(await thread.ask({ waits: 1000 }), { said: "done" });
  assert.deepEqual(await thread.ask({ busy: 60_000 }), { ended: "late" });
  assert.deepEqual(await thread.ask({ waits: 60_000 }), { ended: "late" });
});

test("work that isn't patient has its limit and no more, and what waited too long for its turn is busy", async (t) => {
  const source = { code: worker };
  const limits = { deadlineMs: 400, heapMb: 32, longestQueue: 5, patience: 1, longestWaitMs: 200 };
  const thread = createWorkThread({ source, clock: systemClock, ...limits });
  t.after(() => thread.close());
  const long = thread.ask({ waits: 60_000 });
  const later = [thread.ask({ waits: 1 }), thread.ask({ waits: 1 })];
  const from = performance.now();
  assert.deepEqual(await long, { ended: "late" });
  assert.ok(performance.now() - from < 5 * limits.deadlineMs);
  assert.deepEqual(await Promise.all(later), [{ ended: "busy" }, { ended: "busy" }]);
  assert.deepEqual(await thread.ask({ waits: 1 }), { said: "done" });
});
