import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { sleep, systemClock } from "../../src/ground/kit/clock.ts";
import { type TestBox, testBox } from "../support/box.ts";
import type { HandClock } from "../support/clock.ts";

/** The renderer gives a text two seconds; a busy machine and a new thread add to it. Undisturbed, the first takes thirty. */
const LATEST_MS = 16_000;
/** Between two events. A sender that never pauses would only keep a core busy. */
const PAUSE_MS = 5;
/** A loop that renders stands until the deadline: one or two events would be answered. */
const FEWEST_EVENTS = 10;
/** What this thread may work while it waits for one event: a fifth of the deadline, however long others are at work. */
const LONGEST_WORK_MS = 400;
/** How many times as long as beforehand an event may take in the middle, since the renderer has a core to itself. */
const SLOWER = 10;

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
/** Milliseconds of the middle one of a hundred events while nothing is rendered. */
let undisturbed: number;
before(async () => {
  box = await testBox({}, realTime);
  token = await box.project("p");
  const { body } = await box.api("POST", "/v1/projects/p/reports", { title: "a" });
  entries = `/v1/projects/p/reports/${body.id}/entries`;
  // The thread is there, and the hot path is warm.
  await box.api("POST", entries, { content_md: "warm" });
  const waits: number[] = [];
  for (let n = 0; n < 200; n++) waits.push(await ingest(n));
  undisturbed = middle(waits.slice(100));
});
after(() => box.stop());

/** Milliseconds of one event. */
async function ingest(n: number): Promise<number> {
  const sent = performance.now();
  const { status } = await box.ingest(token, { message: `user ${n} failed login` });
  assert.equal(status, 202);
  return performance.now() - sent;
}

const middle = (values: number[]) =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.POSITIVE_INFINITY;

/** Tests that a text of nothing but each piece meets its deadline while events come in. */
export function refusedInTime(pieces: readonly string[]): void {
  for (const piece of pieces)
    test(`64 KiB of ${JSON.stringify(piece)} is refused in time, and events don't wait`, async (t) => {
      const content = piece.repeat(65_536 / piece.length + 1).slice(0, 65_536);
      let isAnswered = false;
      const begun = performance.now();
      const answered = box.api("POST", entries, { content_md: content }).then((answer) => {
        isAnswered = true;
        return { ...answer, took: performance.now() - begun };
      });
      const waits: number[] = [];
      let hardest = 0;
      while (!isAnswered) {
        const before = process.threadCpuUsage();
        await sleep(systemClock, PAUSE_MS);
        waits.push(await ingest(waits.length));
        const { user, system } = process.threadCpuUsage(before);
        hardest = Math.max(hardest, (user + system) / 1000);
      }
      const { status, body, took } = await answered;
      const usual = middle(waits);
      t.diagnostic(
        `answered in ${took.toFixed()} ms; ${waits.length} events, the middle one in ${usual.toFixed(1)} ms, before in ${undisturbed.toFixed(1)} ms`,
      );
      assert.deepEqual([status, body.error?.code], [400, "content_too_complex"]);
      assert.ok(took < LATEST_MS, `answered after ${took} ms`);
      assert.ok(waits.length > FEWEST_EVENTS, `${waits.length} events`);
      assert.ok(hardest < LONGEST_WORK_MS, `${hardest} ms of work on the loop`);
      assert.ok(usual < 20 + SLOWER * undisturbed, `${usual} ms, before ${undisturbed} ms`);
    });

  test("the next text is rendered as if nothing had been", async () => {
    assert.equal((await box.api("POST", entries, { content_md: "*fine*" })).status, 201);
  });
}
