import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";
import { unacknowledge } from "../../src/core/alerts/verbs.ts";
import { getMeta } from "../../src/ground/store/meta.ts";
import { type Plane, step, testPlane } from "../support/plane.ts";

const HOUR = 3600;
const DAY = 24 * HOUR;

let plane: Plane;
beforeEach(() => {
  plane = testPlane();
  for (const name of ["ann", "bob"]) plane.account(name);
});
afterEach(() => plane.close());

/** Sets the machine's clock by `seconds`, as NTP or a person does. */
function jump(seconds: number): void {
  plane.clock.setWall(plane.clock.now() + seconds * 1000);
}

/** The minute of each event by the clock before the jumps. */
const minutesOf = (kind: string, jumped = 0) =>
  plane.events(kind).map(({ minute }) => minute - jumped / 60);

const LADDER = {
  escalations: [step(0, ["ann"], { repeat: 7 }), step(20, ["bob"])],
  renotify_minutes: 15,
  auto_resolve_quiet_minutes: 30,
};

for (const by of [3, -3, HOUR, -HOUR, 14 * DAY, -5 * 365 * DAY]) {
  test(`a jump of ${by} s fires nothing and skips nothing`, async () => {
    plane.rule(LADDER);
    await plane.fire();
    await plane.minutes(10);
    jump(by);
    await plane.minutes(0.1);
    assert.equal(plane.events().length, 3, "opened, step 1, its repeat");
    await plane.minutes(21);
    // Elapsed time counts. The history has the new time; an event's own never goes back.
    const since = plane.timeline().slice(3);
    assert.deepEqual(
      since.map(({ at, kind }) => [Math.round((at - plane.start - by) / 60), kind]),
      [
        [14, "escalated"],
        [15, "renotified"],
        [20, "escalated"],
        [30, "resolved"],
      ],
    );
    assert.deepEqual(plane.tenant.watch.state().lastJump?.by, by);
  });
}

for (const by of [5 * HOUR, -5 * HOUR]) {
  test(`what a window counted is as old as it was after a jump of ${by} s, in memory and after a start`, async () => {
    plane.rule({ fire_after: { count: 3, distinct_sources: 1, window_minutes: 10 } });
    await plane.fire();
    await plane.fire();
    await plane.minutes(5);
    jump(by);
    await plane.minutes(4);
    assert.equal((await plane.fire()).alerted, true);
    plane.resolve();
    await plane.fire();
    await plane.minutes(1);
    jump(by);
    await plane.minutes(8);
    await plane.fire();
    await plane.stop();
    plane.again();
    await plane.minutes(2);
    assert.equal((await plane.fire()).alerted, false, "the first has left");
    assert.equal((await plane.fire()).alerted, true);
  });

  test(`an acknowledgement that is taken back after a jump of ${by} s leaves the ladder the wait that it had`, async () => {
    plane.rule({ escalations: [step(0, ["ann"]), step(10, ["bob"])] });
    await plane.fire();
    await plane.minutes(2);
    plane.ack();
    await plane.minutes(1);
    jump(by);
    await plane.minutes(1);
    plane.tenant.store.write((tx) => unacknowledge(tx, plane.last().id, "ann"));
    await plane.minutes(7.9);
    assert.equal(plane.last().escalation_level, 1);
    await plane.minutes(0.2);
    assert.equal(plane.last().escalation_level, 2);
  });
}

test("event times of one alert and kind still rise after the clock went back", async () => {
  plane.rule({ escalations: [step(0, ["ann"], { repeat: 5 })] });
  await plane.fire();
  await plane.minutes(6);
  jump(-HOUR);
  await plane.minutes(20);
  const times = minutesOf("alert.escalated");
  assert.equal(times.length, 6);
  assert.deepEqual(
    times,
    [...new Set(times)].toSorted((a, b) => a - b),
  );
});

test("what happens in the second of a jump counts by the old time, and moves with the rest", async () => {
  plane.rule({ auto_resolve_quiet_minutes: 30 });
  await plane.fire();
  await plane.minutes(10);
  jump(-HOUR);
  await plane.fire();
  await plane.minutes(29);
  assert.equal(plane.last().state, "open");
  await plane.minutes(2);
  assert.equal(plane.last().state, "resolved");
});

test("what waits to go out moves with the jump, and so does its age", async () => {
  const { store } = plane.tenant;
  const at = plane.clock.now() + 30_000;
  store.write((tx) => {
    tx.sql(
      `INSERT INTO deliveries (integration_id, event_row, event, status, next_attempt_ms, created_at)
       VALUES ('x', 1, 'alert.opened', 'pending', ?, ?), ('x', 1, 'alert.opened', 'failed', NULL, ?)`,
    ).run(at, tx.at, tx.at);
    tx.sql(
      `INSERT INTO executions (action_id, project_id, event, status, next_attempt_ms, created_at)
       VALUES ('x', 1, 'alert.opened', 'pending', ?, ?)`,
    ).run(at, tx.at);
    tx.sql(
      `INSERT INTO integrations (id, project_id, name, type, url, enabled, event_filter, failing_since, created_at)
       VALUES ('x', 1, 'x', 'webhook', '', 0, '', ?, 0)`,
    ).run(tx.at);
  });
  jump(2 * DAY);
  await plane.clock.turn(1000);
  const rows = store.sql("SELECT next_attempt_ms, created_at FROM deliveries ORDER BY id");
  assert.deepEqual(rows.raw().all(), [
    [at + 2 * DAY * 1000, plane.start + 2 * DAY],
    [null, plane.start],
  ]);
  const executions = store.sql("SELECT next_attempt_ms, created_at FROM executions").raw().all();
  assert.deepEqual(executions, [[at + 2 * DAY * 1000, plane.start + 2 * DAY]]);
  const streak = store.sql("SELECT failing_since FROM integrations").pluck().get();
  assert.equal(streak, plane.start + 2 * DAY);
});

test("that the box is up is written every ten seconds, and when it stops", async () => {
  await plane.clock.turn(25_000);
  assert.equal(getMeta(plane.tenant.store, "last_alive"), plane.start + 20);
  await plane.stop();
  plane.again();
  assert.equal(getMeta(plane.tenant.store, "last_alive"), plane.start + 25);
});

test("a start fourteen days behind is reported, holds deletion, and fires and skips nothing; the right time mends it", async () => {
  plane.rule(LADDER);
  await plane.fire();
  await plane.minutes(10);
  await plane.stop();
  jump(-14 * DAY);
  plane.again();
  const state = plane.tenant.watch.state();
  assert.deepEqual([state.sane, state.behindBy, state.holdsDeletion], [false, 14 * DAY, true]);
  await plane.minutes(1);
  assert.equal(plane.events().length, 3);
  jump(14 * DAY);
  await plane.clock.turn(1000);
  const mended = plane.tenant.watch.state();
  assert.deepEqual([mended.sane, mended.behindBy, mended.lastJump?.by], [true, 0, 14 * DAY]);
  assert.equal(mended.holdsDeletion, true, "for a day still");
  await plane.minutes(20);
  assert.deepEqual(minutesOf("alert.escalated").map(Math.round), [0, 7, 14, 20]);
  assert.deepEqual(minutesOf("alert.resolved").map(Math.round), [30]);
});

test("a clock that was behind stays known as such over another restart", async () => {
  await plane.stop();
  jump(-HOUR);
  plane.again();
  await plane.stop();
  plane.again();
  assert.equal(plane.tenant.watch.state().sane, false);
  await plane.minutes(70);
  assert.equal(plane.tenant.watch.state().sane, true);
});

test("a clock put back while the box runs is right from then on", async () => {
  jump(-DAY);
  await plane.clock.turn(2000);
  const { sane, behindBy, holdsDeletion } = plane.tenant.watch.state();
  assert.deepEqual([sane, behindBy, holdsDeletion], [true, 0, true]);
});

test("a few seconds behind at the start are no matter", async () => {
  await plane.stop();
  jump(-50);
  plane.again();
  const { sane, holdsDeletion } = plane.tenant.watch.state();
  assert.deepEqual([sane, holdsDeletion], [true, false]);
});

test("after weeks off nothing is deleted by age for a day", async () => {
  await plane.stop();
  jump(30 * DAY);
  plane.again();
  assert.equal(plane.tenant.watch.state().holdsDeletion, true);
  assert.equal(plane.tenant.watch.state().sane, true);
});
