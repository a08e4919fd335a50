import assert from "node:assert/strict";
import { test } from "node:test";
import { snooze } from "../../../src/core/alerts/verbs.ts";
import { silenceWrite } from "../../../src/core/quiet/silence.ts";
import { createSilence } from "../../../src/core/quiet/silences.ts";
import { type Plane, step, testPlane } from "../../support/plane.ts";
import fc from "../../support/property.ts";

type Command =
  | { do: "fire" | "ack" | "snooze" | "resolve" | "restart"; n: number }
  | { do: "wait"; n: number }
  | { do: "silence"; n: number; length: number };

const command: fc.Arbitrary<Command> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant("fire" as const), n: fc.nat(2) }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant("wait" as const), n: fc.nat(40) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("silence" as const),
      n: fc.integer({ min: 1, max: 10 }),
      length: fc.integer({ min: 1, max: 60 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constantFrom(
        "ack" as const,
        "snooze" as const,
        "resolve" as const,
        "restart" as const,
      ),
      n: fc.integer({ min: 1, max: 50 }),
    }),
  },
);

const LOUD = ["alert.opened", "alert.escalated", "alert.renotified"];
const minutesNow = (plane: Plane) => (Math.floor(plane.clock.now() / 1000) - plane.start) / 60;

/** Nothing is told while a silence holds, and nothing is held back while none does. */
function judge(plane: Plane, silences: readonly [from: number, until: number][]) {
  for (const { event, minute } of plane.events())
    for (const [from, until] of silences)
      assert.ok(
        // Two events of one kind never carry the same second, so one may be written a second later than it was.
        !LOUD.includes(event) || minute <= from + 1 / 30 || minute >= until,
        `${event} at ${minute} in ${from} to ${until}`,
      );
  const now = minutesNow(plane);
  if (silences.some(([from, until]) => from <= now && now < until)) return;
  const held = plane.tenant.store
    .sql("SELECT id FROM alerts WHERE state = 'open' AND (untold = 1 OR silenced_by IS NOT NULL)")
    .all();
  assert.deepEqual(held, [], `held back at ${now}`);
  const untold = plane.tenant.store
    .sql(
      `SELECT id FROM alerts a WHERE state = 'open' AND NOT EXISTS
         (SELECT 1 FROM events e WHERE e.alert_id = a.id AND e.event = 'alert.escalated')`,
    )
    .all();
  assert.deepEqual(untold, [], `its first step hasn't run at ${now}`);
}

async function story(commands: readonly Command[]): Promise<void> {
  const plane = testPlane();
  const silences: [number, number][] = [];
  try {
    for (const name of ["ann", "bob"]) plane.account(name);
    plane.rule({
      escalations: [step(0, ["ann"], { repeat: 6 }), step(15, ["bob"], { repeat: 20 })],
      renotify_minutes: 11,
      dedup_window_minutes: 9,
      ack_expires_minutes: 25,
    });
    // Ten seconds off the minutes at which silences begin and end.
    await plane.clock.turn(10_000);
    for (const one of commands) {
      const minute = Math.floor(minutesNow(plane));
      if (one.do === "fire") await plane.fire(["disk full", "disk slow now", "gone"][one.n]);
      else if (one.do === "wait") await plane.minutes(one.n);
      else if (one.do === "silence") {
        const [from, until] = [minute + one.n, minute + one.n + one.length];
        const write = silenceWrite.parse({
          match: { rule: "rule 1" },
          reason: "story",
          starts_at: plane.start + from * 60,
          ends_at: plane.start + until * 60,
        });
        plane.tenant.store.write((tx) => createSilence(tx, { write, createdBy: "ann" }));
        silences.push([from, until]);
      } else if (one.do === "restart") {
        await plane.stop();
        await plane.minutes(one.n);
        plane.again();
      } else if (plane.tenant.store.sql("SELECT 1 FROM alerts").get() !== undefined) {
        const { id, state } = plane.last();
        if (one.do === "ack") plane.ack(id);
        else if (one.do === "resolve") plane.resolve(id);
        else if (state !== "resolved") {
          const until = Math.floor(plane.clock.now() / 1000) + one.n * 60;
          plane.tenant.store.write((tx) => snooze(tx, id, { until, accountId: "ann" }));
        }
      }
      await plane.clock.turn(1000);
      judge(plane, silences);
    }
  } finally {
    await plane.close();
  }
}

test("nothing is told while it is quiet, and nothing is held back longer: random stories with restarts", async () => {
  await fc.assert(fc.asyncProperty(fc.array(command, { minLength: 5, maxLength: 25 }), story), {
    numRuns: 15,
  });
});
