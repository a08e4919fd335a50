import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";
import { startDrill } from "../../../src/core/alerts/drill.ts";
import { readReach } from "../../../src/core/alerts/reached.ts";
import { dayAhead } from "../../../src/core/alerts/rungs-ahead.ts";
import { nextSaid } from "../../../src/core/alerts/said.ts";
import { snooze } from "../../../src/core/alerts/verbs.ts";
import { silenceWrite } from "../../../src/core/quiet/silence.ts";
import { createSilence } from "../../../src/core/quiet/silences.ts";
import { type Plane, step, testPlane } from "../../support/plane.ts";

let plane: Plane;
beforeEach(() => {
  plane = testPlane();
  for (const name of ["ann", "bob", "cat"]) plane.account(name);
});
afterEach(() => plane.close());

const now = () => Math.floor(plane.clock.now() / 1000);
/** What the latest alert is said to do. */
const next = () =>
  dayAhead(plane.tenant.store, plane.last(), now()).rungs.map(
    ({ at, why, accounts }) => `${(at - plane.start) / 60} ${why} ${accounts}`,
  );
const told = () => plane.events().map(({ minute, event }) => `${minute} ${event.slice(6)}`);

test("a snoozed alert whose rule is deleted is told again at the end of its snooze, or of a silence that holds then", async () => {
  plane.rule({ escalations: [step(0, ["ann"]), step(10, ["bob"])] });
  await plane.fire();
  const until = plane.start + 30 * 60;
  plane.tenant.store.write((tx) => snooze(tx, plane.last().id, { until, accountId: "ann" }));
  plane.deleteRule();
  assert.deepEqual(next(), ["30 renotify ann"]);
  const write = silenceWrite.parse({
    match: { rule: plane.last().rule },
    reason: "deploy 41",
    starts_at: plane.start + 20 * 60,
    ends_at: plane.start + 40 * 60,
  });
  plane.tenant.store.write((tx) => createSilence(tx, { write, createdBy: "ann" }));
  assert.deepEqual(next(), ["40 renotify ann"]);
  await plane.minutes(35);
  assert.deepEqual(next(), ["40 renotify ann"]);
  await plane.minutes(30);
  assert.deepEqual(told().slice(3), ["40 renotified"]);
  assert.deepEqual(next(), []);
});

test("what a drill would do after its end is said nowhere: not as what comes next, in a message, or of whom it reaches", async () => {
  const rule = plane.rule({
    escalations: [step(0, ["ann"]), step(14, ["bob"]), step(15, ["cat"])],
  });
  plane.tenant.store.write((tx) => startDrill(tx, rule, { by: "ann", message: "" }));
  assert.deepEqual(next(), ["14 step bob"]);
  const due = readReach(plane.tenant.store, plane.last().id, now());
  assert.deepEqual(
    due.map(({ account_id, reason, due_at }) => [account_id, reason, due_at]),
    [
      ["ann", "no_channel", null],
      ["bob", "step_not_reached", plane.start + 14 * 60],
      ["cat", "step_not_reached", null],
    ],
  );
  const said = () => plane.tenant.store.write((tx) => nextSaid(tx, plane.last(), rule)).next;
  assert.equal(said()?.at, plane.start + 14 * 60);
  await plane.minutes(14.5);
  assert.equal(said(), null);
  await plane.minutes(5);
  assert.deepEqual(told(), ["0 opened", "0 escalated", "14 escalated", "15 resolved"]);
});
