import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { sleep, systemClock } from "../../src/kit/clock.ts";
import { type TestBox, testBox } from "../support/box.ts";
import type { HandClock } from "../support/clock.ts";

/** What the renderer gives one text. */
const DEADLINE_MS = 2000;
/** What a busy machine may add to it, a new thread included; undisturbed, the first text takes half a minute. */
const SLACK_MS = 6000;
/** The aim is 50 ms, on a machine that isn't busy with other tests. */
const INGEST_P99_MS = 400;
/** A loop that renders stands until the deadline, and one event waits as long. */
const INGEST_SLOWEST_MS = 1500;

/** Deadlines are the machine's, so this box lives in real time. */
const realTime: HandClock = {
  ...systemClock,
  turn: (ms) => sleep(systemClock, ms),
  setWall: () => assert.fail("real time isn't set"),
  timers: () => 0,
};

let box: TestBox;
let token: string;
let entries: string;
before(async () => {
  box = await testBox({}, realTime);
  token = await box.project("p");
  const { body } = await box.api("POST", "/v1/projects/p/reports", { title: "a" });
  entries = `/v1/projects/p/reports/${body.id}/entries`;
  // The thread is there, and the hot path is warm.
  await box.api("POST", entries, { content_md: "warm" });
  for (let n = 0; n < 200; n++) await box.ingest(token, { message: `warm ${n}` });
});
after(() => box.stop());

for (const piece of ["a\n=\n", "a**b", "> > >"]) {
  test(`64 KiB of ${JSON.stringify(piece)} is refused in time, and events don't wait`, async (t) => {
    const content = piece.repeat(65_536 / piece.length + 1).slice(0, 65_536);
    let isAnswered = false;
    const begun = performance.now();
    const answered = box.api("POST", entries, { content_md: content }).then((answer) => {
      isAnswered = true;
      return { ...answer, took: performance.now() - begun };
    });
    const waits: number[] = [];
    while (!isAnswered) {
      const sent = performance.now();
      const { status } = await box.ingest(token, { message: `user ${waits.length} failed login` });
      waits.push(performance.now() - sent);
      assert.equal(status, 202);
    }
    const { status, body, took } = await answered;
    waits.sort((a, b) => a - b);
    const slowest = waits.at(-1) ?? Number.POSITIVE_INFINITY;
    const p99 = waits[Math.floor(waits.length * 0.99)] ?? Number.POSITIVE_INFINITY;
    t.diagnostic(
      `answered in ${took.toFixed()} ms; ${waits.length} events, p99 ${p99.toFixed(1)} ms, slowest ${slowest.toFixed(1)} ms`,
    );
    assert.deepEqual([status, body.error?.code], [400, "content_too_complex"]);
    assert.ok(took < DEADLINE_MS + SLACK_MS, `answered after ${took} ms`);
    assert.ok(p99 < INGEST_P99_MS, `p99 ${p99} ms`);
    assert.ok(slowest < INGEST_SLOWEST_MS, `slowest ${slowest} ms`);
  });
}

test("the next text is rendered as if nothing had been", async () => {
  assert.equal((await box.api("POST", entries, { content_md: "*fine*" })).status, 201);
});
