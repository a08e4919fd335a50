import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";
import { assignAlert } from "../../../src/core/alerts/assign.ts";
import { silenceAlert } from "../../../src/core/alerts/silence-alert.ts";
import { liftSilence, rewriteSilence } from "../../../src/core/alerts/silencing.ts";
import { escalateNow, snooze, unacknowledge } from "../../../src/core/alerts/verbs.ts";
import { silenceWrite } from "../../../src/core/quiet/silence.ts";
import { createSilence } from "../../../src/core/quiet/silences.ts";
import { defaultRule, type Plane, step, testPlane } from "../../support/plane.ts";

let plane: Plane;
beforeEach(() => {
  plane = testPlane();
  for (const name of ["ann", "bob", "cat"]) plane.account(name);
});
afterEach(() => plane.close());

/** Silences from one minute of the test to another. */
function silence(from: number, until: number, more: object = {}): string {
  const write = silenceWrite.parse({
    match: { rule: "rule 1" },
    reason: "deploy 41",
    starts_at: plane.start + from * 60,
    ends_at: plane.start + until * 60,
    ...more,
  });
  return plane.tenant.store.write((tx) => createSilence(tx, { write, createdBy: "ann" }).id);
}

const told = () =>
  plane.events().map(({ minute, event, level }) => `${minute} ${event.slice(6)} ${level}`);
const kinds = () => plane.timeline().map(({ kind }) => kind);

test("an alert that opens while it is quiet is told at the end, and its ladder begins there", async () => {
  plane.rule({ escalations: [step(0, ["ann"]), step(10, ["bob"])] });
  const id = silence(0, 30);
  await plane.fire();
  await plane.minutes(29);
  assert.deepEqual(told(), []);
  assert.equal(plane.last().silenced_by, id);
  await plane.minutes(1);
  assert.deepEqual(told(), ["30 opened 0", "30 escalated 1"]);
  assert.equal(plane.last().silenced_by, null);
  await plane.minutes(30);
  assert.deepEqual(told(), ["30 opened 0", "30 escalated 1", "40 escalated 2"]);
  assert.deepEqual(kinds(), ["opened", "silenced", "silence_over", "escalated", "escalated"]);
  const held = plane.timeline()[1]?.detail;
  assert.deepEqual(held, {
    by: id,
    kind: "silence",
    until: plane.start + 1800,
    reason: "deploy 41",
    held: "opened",
  });
});

test("a ladder that is changed while nobody heard of the alert begins at its first step all the same", async () => {
  plane.rule({ escalations: [step(60, ["cat"])] });
  silence(0, 30);
  await plane.fire();
  await plane.minutes(15);
  plane.replaceRule({ escalations: [step(0, ["ann"]), step(10, ["bob"])] });
  await plane.minutes(60);
  assert.deepEqual(told(), ["30 opened 0", "30 escalated 1", "40 escalated 2"]);
});

test("a rung and a renotify that come due while it is quiet wait for its end; later rungs keep their distance", async () => {
  plane.rule({
    escalations: [step(0, ["ann"]), step(10, ["bob"]), step(25, ["cat"])],
    renotify_minutes: 12,
    max_renotify: 2,
  });
  await plane.fire();
  silence(5, 40);
  await plane.minutes(60);
  assert.deepEqual(told(), [
    "0 opened 0",
    "0 escalated 1",
    "40 escalated 2",
    "40 renotified 2",
    "52 renotified 2",
    "55 escalated 3",
  ]);
});

test("a silence that ends before the rung holds nothing back; one that begins at its very second does", async () => {
  plane.rule({ escalations: [step(10, ["ann"])] });
  await plane.fire();
  silence(2, 10);
  await plane.minutes(9);
  silence(12, 20);
  await plane.minutes(1);
  assert.deepEqual(told(), ["0 opened 0", "10 escalated 1"]);
  plane.rule({ escalations: [step(0, ["ann"])], identifier_keys: ["x"] });
  await plane.minutes(2);
  assert.deepEqual(kinds(), ["opened", "silenced", "silence_over", "escalated", "silenced"]);
});

test("of overlapping silences the last one's end counts, and a restart in between loses nothing", async () => {
  plane.rule({ escalations: [step(0, ["ann"])] });
  silence(0, 10);
  silence(8, 20);
  await plane.fire();
  await plane.minutes(12);
  assert.deepEqual(told(), []);
  await plane.stop();
  await plane.minutes(4);
  plane.again();
  await plane.minutes(3);
  assert.deepEqual(told(), []);
  await plane.stop();
  await plane.minutes(11);
  plane.again();
  await plane.minutes(1);
  assert.deepEqual(told(), ["30 opened 0", "30 escalated 1"]);
});

test("critical alerts ring unless the silence says so, also when they become critical later", async () => {
  plane.rule({ escalations: [step(0, ["ann"])] });
  silence(0, 60);
  await plane.fire("disk is failing", 400);
  await plane.minutes(5);
  assert.deepEqual(told(), []);
  await plane.fire("disk is failing", 500);
  await plane.minutes(0);
  await plane.minutes(1);
  assert.deepEqual(told(), ["5 opened 0", "5 escalated 1"]);
  silence(6, 60, { critical: true });
  plane.resolve();
  await plane.fire("disk is failing", 500);
  assert.equal(plane.events("alert.opened").length, 1);
});

test("a silence that is lifted, or cut short, tells what it held at once; one that is extended holds on", async () => {
  plane.rule({ escalations: [step(0, ["ann"])] });
  const id = silence(0, 30);
  await plane.fire();
  const change = (until: number) =>
    plane.tenant.store.write((tx) => rewriteSilence(tx, id, { ends_at: plane.start + until * 60 }));
  await plane.minutes(10);
  change(60);
  await plane.minutes(30);
  assert.deepEqual(told(), []);
  change(45);
  await plane.minutes(5);
  assert.deepEqual(told(), ["45 opened 0", "45 escalated 1"]);
  const second = silence(45, 90);
  plane.resolve();
  await plane.fire();
  await plane.minutes(5);
  plane.tenant.store.write((tx) => liftSilence(tx, second));
  await plane.minutes(0);
  await plane.minutes(1);
  assert.deepEqual(told().slice(-2), ["50 opened 0", "50 escalated 1"]);
});

test("an alert that was never told of is acknowledged and resolved without a word; of others the end is told", async () => {
  plane.rule({ escalations: [step(0, ["ann"])] });
  const id = silence(0, 30);
  await plane.fire();
  plane.ack();
  plane.resolve();
  await plane.minutes(40);
  assert.deepEqual(told(), []);
  assert.ok(id);
  await plane.fire();
  silence(40, 60);
  plane.resolve();
  assert.deepEqual(told(), ["40 opened 0", "40 escalated 1", "40 resolved 1"]);
});

test("a jump of the clock moves a silence that has begun, and what it holds, with it", async () => {
  plane.rule({ escalations: [step(0, ["ann"])] });
  silence(0, 30);
  await plane.fire();
  await plane.minutes(10);
  plane.clock.setWall(plane.clock.now() - 6 * 3_600_000);
  await plane.minutes(19);
  assert.deepEqual(told(), []);
  await plane.minutes(2);
  assert.equal(plane.events("alert.escalated").length, 1);
});

test("a dependent alert is quiet while the one above it stands", async () => {
  plane.rule({
    match: {
      min_level: 450,
      sources: [],
      tags: [],
      template_contains: "link",
      first_seen_days: null,
      unusual: null,
    },
  });
  plane.rule({
    match: {
      min_level: null,
      sources: [],
      tags: [],
      template_contains: "slow",
      first_seen_days: null,
      unusual: null,
    },
    escalations: [step(0, ["ann"]), step(10, ["bob"])],
    silenced_by: [{ rule: "rule 1", equal: [] }],
  });
  await plane.fire("link is down", 450);
  const above = plane.last().id;
  await plane.fire("page is slow");
  assert.equal(plane.last().silenced_by, `alert:${above}`);
  await plane.minutes(20);
  plane.ack(above);
  await plane.minutes(10);
  assert.deepEqual(told(), ["0 opened 0", "20 acknowledged 0"]);
  plane.resolve(above);
  await plane.minutes(0);
  await plane.minutes(10);
  assert.deepEqual(told().slice(3), ["30 opened 0", "30 escalated 1", "40 escalated 2"]);
});

test("a dependent alert rings once the rule above it is deleted, though an alert of that stands", async () => {
  const about = (template_contains: string) => ({
    match: {
      min_level: null,
      sources: [],
      tags: [],
      template_contains,
      first_seen_days: null,
      unusual: null,
    },
  });
  plane.rule({
    ...about("slow"),
    escalations: [step(0, ["ann"])],
    silenced_by: [{ rule: "rule 2", equal: [] }],
  });
  plane.rule(about("link"));
  await plane.fire("link is down");
  await plane.fire("page is slow");
  await plane.minutes(5);
  assert.equal(plane.last().silenced_by, "alert:1");
  plane.deleteRule();
  await plane.minutes(1);
  assert.equal(plane.alert(1).state, "open");
  assert.deepEqual(told(), ["0 opened 0", "5 opened 0", "5 escalated 1"]);
});

test("a snoozed alert is open again at its end, told, its ladder from the first step", async () => {
  plane.rule({ escalations: [step(0, ["ann"]), step(10, ["bob"])] });
  await plane.fire();
  await plane.minutes(12);
  const until = plane.start + 40 * 60;
  plane.tenant.store.write((tx) => snooze(tx, plane.last().id, { until, accountId: "bob" }));
  assert.equal(plane.last().state, "acknowledged");
  await plane.stop();
  await plane.minutes(20);
  plane.again();
  await plane.minutes(60);
  assert.deepEqual(told(), [
    "0 opened 0",
    "0 escalated 1",
    "10 escalated 2",
    "12 acknowledged 2",
    "40 renotified 2",
    "40 escalated 1",
    "50 escalated 2",
  ]);
  assert.deepEqual(kinds().slice(3, 7), [
    "acknowledged",
    "snoozed",
    "unacknowledged",
    "renotified",
  ]);
});

test("where the rule says so each acknowledgement ends, and an alert that wakes into a silence waits for its end", async () => {
  plane.rule({ escalations: [step(5, ["ann"])], ack_expires_minutes: 15 });
  await plane.fire();
  await plane.minutes(6);
  plane.ack();
  await plane.minutes(20);
  assert.deepEqual(told().slice(2), ["6 acknowledged 1", "21 renotified 1", "26 escalated 1"]);
  plane.ack();
  silence(30, 60);
  await plane.minutes(33);
  assert.deepEqual(told().slice(5), ["26 acknowledged 1"]);
  assert.equal(plane.last().state, "open");
  await plane.minutes(8);
  assert.deepEqual(told().slice(6), ["60 escalated 1", "60 renotified 1"]);
});

const assign = (accounts: string[], keep_ladder: boolean) =>
  plane.tenant.store.write((tx) =>
    assignAlert(tx, plane.last().id, { by: "ann", assign: { accounts, keep_ladder } }),
  );

test("an alert that is assigned while it is quiet is told to whom it was given at the end, and nobody before", async () => {
  plane.rule({ escalations: [step(0, ["ann"]), step(30, ["bob"])] });
  await plane.fire();
  silence(5, 20);
  await plane.minutes(6);
  assign(["cat"], true);
  await plane.minutes(40);
  assert.deepEqual(told().slice(2), ["20 renotified 1", "30 escalated 2"]);
  assert.deepEqual(plane.events("alert.renotified")[0]?.accounts, ["cat"]);
  plane.ack();
  silence(50, 60);
  await plane.minutes(5);
  assign(["cat"], true);
  assert.equal(plane.last().silenced_by === null, false);
  await plane.minutes(10);
  assert.deepEqual(told().slice(5), ["60 renotified 2"]);
});

test("one that nobody heard of and that was assigned is opened at the end, and told to whom it was given alone", async () => {
  plane.rule({ escalations: [step(0, ["ann"]), step(10, ["bob"])] });
  silence(0, 20);
  await plane.fire();
  assign(["cat"], false);
  await plane.minutes(60);
  assert.deepEqual(told(), ["20 opened 0", "20 renotified 0"]);
  assert.deepEqual(plane.events("alert.renotified")[0]?.accounts, ["cat"]);
});

test("who was given an alert that nobody heard of is told of it also where it was taken meanwhile and is open again", async () => {
  const { store } = plane.tenant;
  const handBack = () => store.write((tx) => void unacknowledge(tx, plane.last().id, "ann"));
  const wait = () => plane.minutes(30);
  for (const [n, [again, isDeleted]] of (
    [
      [handBack, false],
      [wait, false],
      [handBack, true],
      [wait, true],
    ] as const
  ).entries()) {
    const at = (plane.clock.now() / 1000 - plane.start) / 60;
    plane.rule({ match: { ...defaultRule.match, template_contains: `trouble ${"abcd"[n]}` } });
    silence(at, at + 20, { match: {}, all: true });
    await plane.fire(`trouble ${"abcd"[n]} is there`);
    assign(["cat"], false);
    store.write((tx) =>
      snooze(tx, plane.last().id, { until: plane.start + (at + 50) * 60, accountId: "bob" }),
    );
    await plane.minutes(20);
    assert.deepEqual(
      plane.events().filter(({ minute }) => minute >= at),
      [],
    );
    if (isDeleted) plane.deleteRule();
    await again();
    await plane.minutes(1);
    assert.deepEqual(
      plane
        .events()
        .filter(({ minute }) => minute >= at)
        .map(({ event, accounts }) => [event, accounts]),
      [
        ["alert.opened", ["cat"]],
        ["alert.renotified", ["cat"]],
      ],
    );
    plane.resolve();
    await plane.minutes(1);
  }
});

test("an alert that was acknowledged unheard of and is given to others is opened first", async () => {
  plane.rule({ escalations: [step(0, ["ann"]), step(10, ["bob"])] });
  for (const [at, again] of [
    [0, () => assign(["cat"], true)],
    [30, () => plane.tenant.store.write((tx) => escalateNow(tx, plane.last().id, "ann"))],
  ] as const) {
    silence(at, at + 10);
    await plane.fire();
    plane.ack();
    await plane.minutes(15);
    const before = told().length;
    again();
    assert.deepEqual(
      told()
        .slice(before)
        .map((text) => text.split(" ")[1]),
      ["opened", "escalated"],
    );
    plane.resolve();
    await plane.minutes(15);
  }
});

test("a burst that comes with what ends the quiet is told with all that was held, the opening first", async () => {
  plane.rule({ escalations: [step(0, ["ann"])], dedup_window_minutes: 2 });
  silence(0, 60);
  await plane.fire("disk is failing", 400);
  await plane.minutes(5);
  await plane.fire("disk is failing", 500);
  await plane.minutes(1);
  assert.deepEqual(told(), ["5 opened 0", "5 escalated 1"]);
  plane.resolve();
  await plane.minutes(54);
  await plane.fire("disk is failing", 400);
  silence(61, 90);
  await plane.minutes(5);
  await plane.fire("disk is failing", 400);
  assert.notEqual(plane.last().silenced_by, null);
  await plane.minutes(5);
  await plane.fire("disk is failing", 500);
  await plane.minutes(1);
  assert.deepEqual(told().slice(3), ["60 opened 0", "60 escalated 1", "70 renotified 1"]);
});

test("a silence that is over stays so when the clock is set back into it, one that comes again, too", async () => {
  plane.rule({ escalations: [step(0, ["ann"])] });
  const daily = { repeat: "daily", repeat_until: plane.start + 20 * 86_400 };
  const [once, again] = [silence(0, 60), silence(0, 60, daily)];
  await plane.minutes(20);
  for (const id of [once, again]) plane.tenant.store.write((tx) => liftSilence(tx, id));
  await plane.minutes(5);
  plane.clock.setWall(plane.clock.now() - 15 * 60_000);
  await plane.minutes(1);
  await plane.fire();
  assert.equal(plane.last().silenced_by, null);
  assert.deepEqual(
    plane.events().map(({ event }) => event),
    ["alert.opened", "alert.escalated"],
  );
});

test("held alerts that become one are told once, at the end", async () => {
  plane.rule({ escalations: [step(0, ["ann"]), step(10, ["bob"])] });
  silence(0, 20);
  for (const word of ["orders", "stock", "mail"]) {
    await plane.fire(`the queue overflowed again for customer ${word}`);
    await plane.minutes(1);
  }
  assert.ok(plane.timeline(1).some(({ kind }) => kind === "merged"));
  await plane.minutes(30);
  assert.deepEqual(told(), ["20 opened 0", "20 escalated 1", "30 escalated 2"]);
});

test("of an alert that was told and one that was held, which become one, no page comes while it is quiet and none is lost", async () => {
  plane.rule({
    escalations: [step(0, ["ann"]), step(10, ["bob"])],
    identifier_keys: [],
  });
  await plane.fire("gamma took far too long to answer for customer orders");
  await plane.minutes(5);
  silence(5, 40);
  await plane.fire("gamma took far too long to answer for customer stock");
  await plane.minutes(1);
  await plane.fire("gamma took far too long to answer for customer mail");
  await plane.minutes(60);
  assert.deepEqual(told().slice(0, 2), ["0 opened 0", "0 escalated 1"]);
  assert.deepEqual(
    plane
      .events()
      .filter(({ minute, event }) => minute > 1 && minute < 40 && event !== "alert.resolved"),
    [],
  );
  const standing = plane.tenant.store
    .sql("SELECT id FROM alerts WHERE state = 'open'")
    .pluck()
    .all();
  assert.deepEqual(standing, [1]);
  // The first step of the one that was held is owed still.
  assert.deepEqual(told().slice(2), ["40 escalated 1", "45 escalated 2"]);
});

test("a silence of one source takes no alert that became one with another's, or was opened again by another's event", async () => {
  const ladder = { escalations: [step(5, ["ann"])] };
  plane.rule({ ...ladder, auto_resolve_quiet_minutes: 20, reopen_within_seconds: 3600 });
  const fails = "gamma took far too long to answer for customer";
  await plane.fire(`${fails} orders`);
  await plane.fire(`${fails} stock`, 400, "db");
  await plane.minutes(1);
  silence(1, 60, { match: { sources: ["app"] } });
  await plane.fire(`${fails} mail`);
  assert.ok(plane.timeline(1).some(({ kind }) => kind === "merged"));
  await plane.minutes(5);
  assert.deepEqual(told().slice(3), ["5 escalated 1"]);
  plane.resolve(1);
  await plane.fire("disk is failing");
  await plane.minutes(21);
  assert.equal(plane.last().state, "resolved");
  await plane.fire("disk is failing", 400, "db");
  await plane.minutes(1);
  assert.equal(plane.last().state, "open");
  assert.deepEqual(told().slice(5), ["27 opened 0", "27 escalated 1"]);
});

test("of alerts that become one, who was given either goes on being paged", async () => {
  plane.rule({ renotify_minutes: 10, max_renotify: 1, identifier_keys: [] });
  await plane.fire("gamma took far too long to answer for customer orders");
  await plane.fire("gamma took far too long to answer for customer stock");
  const second = plane.last().id;
  plane.tenant.store.write((tx) =>
    assignAlert(tx, second, {
      by: "ann",
      assign: { accounts: ["bob"], schedules: [], keep_ladder: true },
    }),
  );
  await plane.fire("gamma took far too long to answer for customer mail");
  assert.ok(plane.timeline(1).some(({ kind }) => kind === "merged"));
  await plane.minutes(11);
  const again = plane.events().filter(({ event }) => event === "alert.renotified");
  assert.deepEqual(
    again.map(({ accounts }) => accounts),
    [["bob"]],
  );
});

test("a rung that is run by hand while an earlier one's repeat is held runs at the end", async () => {
  plane.rule({
    escalations: [step(0, ["ann"], { repeat: 10 }), step(30, ["bob"]), step(50, ["cat"])],
  });
  await plane.fire();
  silence(5, 120);
  await plane.minutes(80);
  plane.tenant.store.write((tx) => escalateNow(tx, plane.last().id, "ann"));
  await plane.minutes(60);
  assert.deepEqual(told().slice(0, 3), ["0 opened 0", "0 escalated 1", "120 escalated 3"]);
  assert.equal(plane.last().silenced_by, null);
});

test("what is only looked at again while it is quiet is told to nobody at its end: nothing was held", async () => {
  plane.rule({ escalations: [step(0, ["ann"])] });
  await plane.fire();
  const id = plane.tenant.store.write((tx) =>
    silenceAlert(tx, plane.last().id, {
      until: plane.start + 20 * 60,
      reason: "deploy 41",
      accountId: "ann",
    }),
  );
  await plane.minutes(5);
  plane.tenant.store.write((tx) =>
    rewriteSilence(tx, id ?? "", { ends_at: plane.start + 30 * 60 }),
  );
  silence(10, 40);
  await plane.minutes(60);
  assert.equal(plane.last().silenced_by, null);
  assert.deepEqual(told(), ["0 opened 0", "0 escalated 1"]);
});

test("what is owed at the end of the quiet is told also where the rule is changed, or deleted, meanwhile", async () => {
  const ladder = [step(0, ["ann"])];
  const unack = () => plane.tenant.store.write((tx) => unacknowledge(tx, plane.last().id, "ann"));
  plane.rule({ escalations: ladder });
  await plane.fire();
  plane.ack();
  silence(0, 20);
  unack();
  await plane.minutes(5);
  plane.replaceRule({ escalations: [...ladder, step(90, ["bob"])] });
  await plane.minutes(20);
  assert.deepEqual(told().slice(3), ["20 renotified 1"]);
  silence(25, 40);
  assign(["cat"], false);
  await plane.minutes(5);
  plane.deleteRule();
  await plane.minutes(20);
  assert.deepEqual(told().slice(4), ["40 renotified 1"]);
  assert.deepEqual(plane.events().at(-1)?.accounts, ["cat"]);
  // The rule is gone already.
  plane.ack();
  silence(50, 60);
  unack();
  await plane.minutes(30);
  assert.deepEqual(told().slice(6), ["60 renotified 1"]);
  assert.equal(plane.last().due_at, null);
});
