import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import {
  afterDown,
  type HeartbeatPace,
  type HeartbeatState,
  heard,
  looked,
  newHeartbeatState,
} from "../../../src/in/heartbeats/state.ts";

/** Compares the state machine with a simple reference. */

const pace: HeartbeatPace = { period: 600, cron: null, timezone: "UTC", grace: 120, maxRun: 300 };

type Move = { wait: number } | { word: "success" | "start" | "fail" | "log" } | { down: number };

const move: fc.Arbitrary<Move> = fc.oneof(
  fc.record({ wait: fc.integer({ min: 1, max: 900 }) }),
  fc.record({ wait: fc.constantFrom(100, 200, 299, 301, 599, 610, 700, 719, 721) }),
  fc.record({ word: fc.constantFrom("success", "start", "fail", "log") }),
  fc.record({ down: fc.integer({ min: 1, max: 60 }) }),
  fc.record({ down: fc.integer({ min: 61, max: 5000 }) }),
  fc.record({ down: fc.constantFrom(61, 100, 380, 420, 490, 600) }),
);

/** The alert of a job, computed from the whole story. */
interface Told {
  open: boolean;
  /** Openings so far. */
  opened: number;
}

/** Plays a story second by second, as the box does: due work comes before a ping of the same second. */
function play(story: readonly Move[]): { told: Told; beat: HeartbeatState } {
  let at = 1_800_000_000;
  let beat: HeartbeatState = newHeartbeatState;
  const told: Told = { open: false, opened: 0 };
  const take = (step: ReturnType<typeof heard>) => {
    beat = step.beat;
    if (step.said === null) return;
    if (step.said.action === "fire" && !told.open) told.opened++;
    told.open = step.said.action === "fire";
  };
  for (const one of story) {
    if ("word" in one) take(heard(beat, one.word, pace, at));
    else if ("down" in one) {
      at += one.down;
      ({ beat } = afterDown(beat, pace, { seconds: one.down, at }));
    } else
      for (const until = at + one.wait; at < until; ) {
        at++;
        take(looked(beat, pace, at));
      }
  }
  return { told, beat };
}

/** The same, in seconds of up time: since when something is awaited, and for how long. */
function reference(story: readonly Move[]): Told {
  let up = 0;
  let waitFrom: number | null = null;
  let allowed = 0;
  let running: number | null = null;
  let open = false;
  let opened = 0;
  const fire = () => {
    if (!open) opened++;
    open = true;
  };
  const waitAgain = () => {
    waitFrom = up;
    allowed = 720;
    running = null;
  };
  for (const one of story) {
    if ("wait" in one) {
      up += one.wait;
      const limit = running === null ? allowed : 300;
      const from = running ?? waitFrom;
      if (!open && from !== null && up - from >= limit) {
        fire();
        running = null;
      }
    } else if ("down" in one) {
      if (open) continue;
      const from = running ?? waitFrom;
      if (from === null) continue;
      const left: number = (running === null ? allowed : 300) - (up - from);
      // After an outage in which reports may have been lost, a whole period; else at least the grace.
      const near = running !== null || left - 240 <= one.down;
      if (one.down > 60 && near) waitAgain();
      else if (running === null) {
        waitFrom = up;
        allowed = Math.max(left - one.down, 120);
      } else running = up - 300 + Math.max(left - one.down, 120);
    } else if (one.word === "success") {
      open = false;
      waitAgain();
    } else if (one.word === "fail") {
      fire();
      running = null;
    } else if (one.word === "start" && running === null) running = up;
  }
  return { open, opened };
}

test("for any reports and outages a heartbeat's alert is what a simple model says", () => {
  fc.assert(
    fc.property(fc.array(move, { maxLength: 20, size: "max", minLength: 3 }), (story) => {
      // After each move: an alert that comes too late must not look like one in time.
      for (let n = 1; n <= story.length; n++)
        assert.deepEqual(play(story.slice(0, n)).told, reference(story.slice(0, n)));
    }),
    { numRuns: 1000 },
  );
});

test("a job that is down stays down until a success, and fires again with the same instance", () => {
  fc.assert(
    fc.property(fc.array(move, { maxLength: 15, size: "max", minLength: 3 }), (story) => {
      const failed = play([{ word: "success" }, { word: "fail" }]).beat;
      const kept = story.filter((one) => !("word" in one) || one.word !== "success");
      const { beat } = play([{ word: "success" }, { word: "fail" }, ...kept]);
      assert.deepEqual([beat.state, beat.instance], ["down", failed.instance]);
      assert.ok(beat.deadlineAt !== null, "it is looked at again");
    }),
    { numRuns: 200 },
  );
});

test("an outage that ends before a cron time has lost no report", () => {
  const hourly = { ...pace, period: null, cron: "0 * * * *" };
  const noon = 1_800_000_000 - (1_800_000_000 % 3600);
  const { beat } = heard(newHeartbeatState, "success", hourly, noon - 3000);
  const { beat: after, lost } = afterDown(beat, hourly, { seconds: 600, at: noon - 30 });
  assert.deepEqual([lost, after.expectedAt], [false, noon]);
});
