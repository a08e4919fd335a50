import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";
import { type Plane, step, testPlane } from "../../support/plane.ts";

let plane: Plane;
beforeEach(() => {
  plane = testPlane();
  for (const name of ["ann", "bob", "cat"]) plane.account(name);
});
afterEach(() => plane.close());

const pages = () =>
  plane.events("alert.escalated").map(({ minute, level, accounts }) => [minute, level, accounts]);
const renotified = () => plane.events("alert.renotified").map(({ minute }) => minute);

test("a step at 0 runs with the opening, after an opening that shows level 0 and nobody", async () => {
  plane.rule({ escalations: [step(0, ["ann"]), step(10, ["bob"])] });
  await plane.fire();
  assert.deepEqual(plane.events(), [
    { minute: 0, event: "alert.opened", level: 0, accounts: [] },
    { minute: 0, event: "alert.escalated", level: 1, accounts: ["ann"] },
  ]);
  assert.equal(plane.last().escalation_level, 1);
  await plane.minutes(30);
  assert.deepEqual(pages(), [
    [0, 1, ["ann"]],
    [10, 2, ["bob"]],
  ]);
});

test("after_minutes counts from the opening for each step; repeats end with the next step", async () => {
  plane.rule({
    escalations: [step(5, ["ann"], { repeat: 4 }), step(15, ["bob"], { repeat: 20 })],
  });
  await plane.fire();
  await plane.minutes(60);
  assert.deepEqual(pages(), [
    [5, 1, ["ann"]],
    [9, 1, ["ann"]],
    [13, 1, ["ann"]],
    [15, 2, ["bob"]],
    [35, 2, ["bob"]],
    [55, 2, ["bob"]],
  ]);
});

test("equal times are one event with the last one's level", async () => {
  plane.rule({ escalations: [step(3, ["ann"]), step(3, ["bob", "ann"]), step(8, ["cat"])] });
  await plane.fire();
  await plane.minutes(10);
  assert.deepEqual(pages(), [
    [3, 2, ["ann", "bob"]],
    [8, 3, ["cat"]],
  ]);
});

test("a step that reaches nobody emits nothing, runs the next at once, which doesn't run again, and says so", async () => {
  plane.account("gone");
  plane.rule({ escalations: [step(2, ["gone"]), step(10, ["bob"]), step(20, ["cat"])] });
  await plane.fire();
  plane.removeAccount("gone");
  await plane.minutes(30);
  assert.deepEqual(pages(), [
    [2, 2, ["bob"]],
    [20, 3, ["cat"]],
  ]);
  const told = plane.timeline().map(({ kind, detail }) => [kind, detail["steps"] ?? null]);
  assert.deepEqual(told, [
    ["opened", null],
    ["reached_nobody", [1]],
    ["escalated", [2]],
    ["escalated", [3]],
  ]);
});

test("a top step that reaches nobody is tried again with its repeats", async () => {
  plane.schedule("duty", [
    {
      name: "from minute 16",
      participants: ["ann"],
      rotation_start: plane.start + 16 * 60,
      shift_minutes: 60,
      restriction: null,
    },
  ]);
  plane.rule({ escalations: [step(0, [], { schedules: ["duty"], repeat: 10 })] });
  await plane.fire();
  await plane.minutes(25);
  assert.deepEqual(pages(), [[20, 1, ["ann"]]]);
});

test("a step pages its accounts and whoever its schedules have on call at that time", async () => {
  plane.schedule("duty", [
    {
      name: "hours",
      participants: ["ann", "bob"],
      rotation_start: plane.start - 1800,
      shift_minutes: 60,
      restriction: null,
    },
  ]);
  plane.rule({ escalations: [step(0, ["cat"], { schedules: ["duty"], repeat: 30 })] });
  await plane.fire();
  await plane.minutes(70);
  assert.deepEqual(pages(), [
    [0, 1, ["cat", "ann"]],
    [30, 1, ["cat", "bob"]],
    [60, 1, ["cat", "bob"]],
  ]);
});

for (const how of ["ack", "resolve"] as const) {
  test(`${how} stops the ladder and renotify, also for an alert that is far up`, async () => {
    plane.rule({
      escalations: [step(0, ["ann"], { repeat: 5 }), step(20, ["bob"])],
      renotify_minutes: 3,
    });
    await plane.fire();
    await plane.minutes(7);
    plane[how]();
    const before = plane.events().length;
    await plane.minutes(60);
    assert.equal(plane.events().length, before);
    assert.equal(plane.last().due_at, null);
  });
}

test("renotify repeats while open, up to its cap", async () => {
  plane.rule({ renotify_minutes: 7, max_renotify: 3 });
  await plane.fire();
  await plane.minutes(100);
  assert.deepEqual(renotified(), [7, 14, 21]);
});

test("renotify has no limit at 0 and waits for a far time as it stands", async () => {
  plane.rule({ renotify_minutes: 50_000 });
  await plane.fire();
  await plane.minutes(30);
  assert.deepEqual(renotified(), []);
  assert.equal(plane.last().renotify_at, plane.start + 50_000 * 60);
});

test("a new burst renotifies once, only while open, and resolves nothing of the interval", async () => {
  plane.rule({ dedup_window_minutes: 5 });
  await plane.fire();
  await plane.minutes(5);
  await plane.fire();
  assert.deepEqual(renotified(), []);
  await plane.minutes(6);
  await Promise.all([plane.fire(), plane.fire(), plane.fire()]);
  assert.deepEqual(renotified(), [11]);
  plane.ack();
  await plane.minutes(20);
  await plane.fire();
  assert.deepEqual(renotified(), [11]);
});

test("auto-resolve waits for quiet since the last match, for open and acknowledged alike", async () => {
  plane.rule({ auto_resolve_quiet_minutes: 10 });
  await plane.fire();
  await plane.minutes(6);
  await plane.fire();
  plane.ack();
  await plane.minutes(9);
  assert.equal(plane.last().state, "acknowledged");
  await plane.minutes(1);
  assert.equal(plane.last().state, "resolved");
  assert.equal(plane.last().resolved_at, plane.start + 16 * 60);
  assert.deepEqual(plane.timeline().at(-1)?.detail, {
    reason: "quiet",
    quiet_minutes: 10,
    count: 2,
  });
  await plane.fire();
  assert.equal(plane.last().id, 2);
});

test("pages still queued for the relay are withdrawn by an ack; others stay", async () => {
  const { store } = plane.tenant;
  store.write((tx) => {
    for (const [id, type, relay] of [
      ["a", "webhook", 1],
      ["b", "webhook", 0],
      ["c", "apns", 0],
    ] as const)
      tx.sql(
        `INSERT INTO integrations (id, project_id, name, type, url, enabled, event_filter, relay, created_at)
         VALUES (?, 1, ?, ?, '', 1, '', ?, 0)`,
      ).run(id, id, type, relay);
  });
  // Nothing is sent while the loop doesn't turn.
  plane.rule({ escalations: [step(0, ["ann"])] });
  await plane.fire();
  plane.ack();
  const rows = store
    .sql("SELECT integration_id, event, status FROM deliveries ORDER BY id")
    .raw()
    .all();
  assert.deepEqual(
    rows.filter((row) => (row as string[])[2] === "dropped"),
    [
      ["a", "alert.opened", "dropped"],
      ["c", "alert.opened", "dropped"],
      ["a", "alert.escalated", "dropped"],
      ["c", "alert.escalated", "dropped"],
    ],
  );
  assert.deepEqual(plane.timeline().at(-1)?.detail, { pages_withdrawn: 4 });
});

test("a match long after an alert opened opens no second one, and one after a resolve does", async () => {
  plane.rule({ dedup_window_minutes: 60, escalations: [step(0, ["ann"])] });
  await plane.fire();
  await plane.minutes(1);
  plane.resolve();
  await plane.fire();
  assert.deepEqual(
    plane.events("alert.opened").map(({ minute }) => minute),
    [0, 1],
  );
});
