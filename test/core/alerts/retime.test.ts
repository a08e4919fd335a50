import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";
import type { TimedRule, Timers } from "../../../src/core/alerts/ladder.ts";
import { retimed } from "../../../src/core/alerts/life/rule.ts";
import { unacknowledge } from "../../../src/core/alerts/verbs.ts";
import type { RuleBody } from "../../../src/core/projects/rule.ts";
import { type Plane, step, testPlane } from "../../support/plane.ts";

let plane: Plane;
beforeEach(() => {
  plane = testPlane();
  for (const name of ["ann", "bob", "cat"]) plane.account(name);
});
afterEach(() => plane.close());

const pages = () =>
  plane.events("alert.escalated").map(({ minute, level, accounts }) => [minute, level, accounts]);

interface Change {
  what: string;
  before: Partial<RuleBody>;
  /** When the rule is replaced, in minutes after the opening. */
  at: number;
  after: Partial<RuleBody>;
  /** All pages up to minute 120. */
  pages: [number, number, string[]][];
}

const changes: Change[] = [
  {
    what: "of a ladder that is added the furthest step whose time has passed runs once, at once",
    before: {},
    at: 30,
    after: { escalations: [step(0, ["ann"]), step(10, ["bob"]), step(60, ["cat"])] },
    pages: [
      [30, 2, ["bob"]],
      [60, 3, ["cat"]],
    ],
  },
  {
    what: "its repeats count from then",
    before: {},
    at: 30,
    after: { escalations: [step(10, ["bob"], { repeat: 40 }), step(100, ["cat"])] },
    pages: [
      [30, 1, ["bob"]],
      [70, 1, ["bob"]],
      [100, 2, ["cat"]],
    ],
  },
  {
    what: "a step that is moved to a time that has passed runs at once",
    before: { escalations: [step(0, ["ann"]), step(60, ["bob"])] },
    at: 30,
    after: { escalations: [step(0, ["ann"]), step(20, ["bob"])] },
    pages: [
      [0, 1, ["ann"]],
      [30, 2, ["bob"]],
    ],
  },
  {
    what: "others on a step that has run are paged at once",
    before: { escalations: [step(0, ["ann"])] },
    at: 30,
    after: { escalations: [step(0, ["bob"])] },
    pages: [
      [0, 1, ["ann"]],
      [30, 1, ["bob"]],
    ],
  },
  {
    what: "steps of one time are one event, and run as one",
    before: {},
    at: 30,
    after: { escalations: [step(0, ["ann"]), step(10, ["bob"]), step(10, ["cat"])] },
    pages: [[30, 3, ["bob", "cat"]]],
  },
  {
    what: "where the furthest step reaches nobody, the next one runs at once",
    before: {},
    at: 30,
    after: { escalations: [step(0, ["ann"]), step(10, []), step(60, ["cat"])] },
    pages: [[30, 3, ["cat"]]],
  },
  {
    what: "where nobody is reached up to the top and nobody was paged yet, the nearest step below runs",
    before: {},
    at: 30,
    after: { escalations: [step(0, ["ann"]), step(5, ["bob"]), step(10, [])] },
    pages: [[30, 2, ["bob"]]],
  },
  {
    what: "a ladder that has reached nobody goes on at once when somebody is put on it",
    before: { escalations: [step(0, []), step(60, [])] },
    at: 30,
    after: { escalations: [step(0, []), step(60, ["cat"])] },
    pages: [[30, 2, ["cat"]]],
  },
  {
    what: "a step that is taken away pages nobody again",
    before: { escalations: [step(0, ["ann"]), step(10, ["bob"])] },
    at: 30,
    after: { escalations: [step(0, ["ann"])] },
    pages: [
      [0, 1, ["ann"]],
      [10, 2, ["bob"]],
    ],
  },
  {
    what: "a change that leaves the ladder alone leaves its times alone",
    before: { escalations: [step(0, ["ann"], { repeat: 25 })] },
    at: 30,
    after: { escalations: [step(0, ["ann"], { repeat: 25 })], investigate: true },
    pages: [0, 25, 50, 75, 100].map((minute) => [minute, 1, ["ann"]]),
  },
  {
    what: "a repeat that is pending comes no later than it would have",
    before: { escalations: [step(0, ["ann"], { repeat: 25 })] },
    at: 30,
    after: { escalations: [step(0, ["ann"], { repeat: 50 })] },
    pages: [0, 25, 50, 100].map((minute) => [minute, 1, ["ann"]]),
  },
  {
    what: "a later step moves with the rule",
    before: { escalations: [step(0, ["ann"]), step(60, ["bob"])] },
    at: 30,
    after: { escalations: [step(0, ["ann"]), step(90, ["cat"])] },
    pages: [
      [0, 1, ["ann"]],
      [90, 2, ["cat"]],
    ],
  },
  {
    what: "a ladder that is taken away ends",
    before: { escalations: [step(0, ["ann"], { repeat: 5 }), step(60, ["bob"])] },
    at: 7,
    after: {},
    pages: [
      [0, 1, ["ann"]],
      [5, 1, ["ann"]],
    ],
  },
  {
    what: "a step that ran early because nobody was reached doesn't run again",
    before: { escalations: [step(0, []), step(40, ["bob"])] },
    at: 10,
    after: { escalations: [step(0, []), step(40, ["bob"]), step(50, ["cat"])] },
    pages: [
      [0, 2, ["bob"]],
      [50, 3, ["cat"]],
    ],
  },
];

for (const { what, before, at, after, pages: expected } of changes) {
  test(`a rule is replaced: ${what}`, async () => {
    plane.rule(before);
    await plane.fire();
    await plane.minutes(at);
    plane.replaceRule(after);
    await plane.minutes(120 - at);
    assert.deepEqual(pages(), expected);
  });
}

const HOUR: TimedRule = {
  escalations: [],
  renotify_minutes: 60,
  max_renotify: 0,
  auto_resolve_quiet_minutes: 60,
};
const idle: Timers = {
  ladderFrom: 0,
  step: 0,
  stepAt: null,
  repeatAt: null,
  renotifyAt: 3600,
  renotified: 2,
  quietAt: 3600,
  expiresAt: null,
  heldUntil: null,
  undeliveredAt: null,
  wakesAt: null,
};

const timersTable: [what: string, after: Partial<TimedRule>, over: Partial<Timers>][] = [
  ["nothing changes", {}, {}],
  ["renotify comes sooner", { renotify_minutes: 10 }, { renotifyAt: 1200 }],
  ["renotify comes no later than it would have", { renotify_minutes: 600 }, {}],
  ["renotify is off", { renotify_minutes: 0 }, { renotifyAt: null }],
  ["the cap is reached", { max_renotify: 2 }, { renotifyAt: null }],
  ["quiet counts on towards a longer time", { auto_resolve_quiet_minutes: 90 }, { quietAt: 5400 }],
  ["quiet was long enough already", { auto_resolve_quiet_minutes: 5 }, { quietAt: 300 }],
  ["auto-resolve is off", { auto_resolve_quiet_minutes: 0 }, { quietAt: null }],
];

for (const [what, after, over] of timersTable) {
  test(`timers of an open alert: ${what}`, () => {
    const changed = { ...HOUR, ...after };
    const change = { before: HOUR, after: changed, timers: idle, paged: false, now: 600 };
    assert.deepEqual(retimed({ ...change, state: "open" }), { ...idle, ...over });
  });
}

test("quiet that was not counted before begins with the change", () => {
  const before = { ...HOUR, auto_resolve_quiet_minutes: 0 };
  const timers = { ...idle, quietAt: null };
  const after = retimed({ before, after: HOUR, state: "open", timers, paged: false, now: 600 });
  assert.equal(after.quietAt, 600 + 3600);
});

test("an acknowledged alert gets no ladder and no renotify from a change", () => {
  const timers = { ...idle, renotifyAt: null };
  const after = { ...HOUR, escalations: [step(0, ["ann"], { repeat: 1 }), step(99, ["bob"])] };
  const change = { before: HOUR, after, timers, paged: false, now: 600 };
  assert.deepEqual(retimed({ ...change, state: "acknowledged" }), timers);
});

test("a step that was due and had not run yet is not lost with a change in the same second", () => {
  const before = { ...HOUR, escalations: [step(0, ["ann"]), step(10, ["bob"])] };
  const after = { ...HOUR, escalations: [step(0, ["cat"]), step(10, ["bob"])] };
  const timers = { ...idle, step: 1, stepAt: 600 };
  const next = retimed({ before, after, state: "open", timers, paged: true, now: 600 });
  assert.deepEqual([next.step, next.stepAt], [1, 600]);
});

test("a page that a change made due is not lost with another change before it went", async () => {
  plane.rule({ escalations: [step(0, ["ann"])] });
  await plane.fire();
  await plane.minutes(30);
  plane.replaceRule({ escalations: [step(0, ["bob"]), step(10, ["cat"])] });
  plane.replaceRule({ escalations: [step(0, ["bob"])] });
  await plane.minutes(30);
  assert.deepEqual(pages(), [
    [0, 1, ["ann"]],
    [30, 1, ["bob"]],
  ]);
});

test("steps that were missed while the box was down are not lost with a change before they could run", async () => {
  plane.rule({ escalations: [step(0, ["ann"]), step(10, ["bob"]), step(20, ["cat"])] });
  await plane.fire();
  await plane.minutes(8);
  await plane.stop();
  await plane.minutes(23);
  plane.again();
  plane.replaceRule({ escalations: [step(0, ["ann"]), step(10, ["bob"]), step(25, ["cat"])] });
  await plane.minutes(1);
  assert.deepEqual(pages(), [
    [0, 1, ["ann"]],
    [31, 3, ["bob", "cat"]],
  ]);
});

test("the history says that the rule was changed, and not that the page came late", async () => {
  plane.rule({});
  await plane.fire();
  await plane.minutes(30);
  plane.replaceRule({ escalations: [step(10, ["bob"])] });
  await plane.minutes(1);
  const told = plane.timeline().filter(({ kind }) => kind !== "delivered");
  assert.deepEqual(
    told.map(({ at, kind, detail }) => [(at - plane.start) / 60, kind, detail]).slice(1),
    [
      [
        30,
        "retimed",
        { why: "rule_changed", ladder: "goes_on", next_step: 1, next_at: plane.start + 1800 },
      ],
      [30, "escalated", { level: 1, steps: [1], accounts: ["bob"], why: "step" }],
    ],
  );
});

test("an acknowledged alert is not paged for a changed ladder", async () => {
  plane.rule({});
  await plane.fire();
  plane.ack();
  await plane.minutes(30);
  plane.replaceRule({ escalations: [step(10, ["bob"])] });
  await plane.minutes(60);
  assert.deepEqual(pages(), []);
});

test("an alert that is open again pages whom its ladder names by now: after an acknowledgement, and after its end", async () => {
  const rule = { auto_resolve_quiet_minutes: 20, reopen_within_seconds: 3600 };
  plane.rule({ ...rule, escalations: [step(0, ["ann"]), step(50, ["bob"])] });
  await plane.fire();
  plane.ack();
  plane.replaceRule({ ...rule, escalations: [step(0, ["cat"]), step(50, ["bob"])] });
  await plane.minutes(5);
  plane.tenant.store.write((tx) => unacknowledge(tx, plane.last().id, "ann"));
  await plane.minutes(16);
  assert.equal(plane.last().state, "resolved");
  plane.replaceRule({ ...rule, escalations: [step(0, ["ann", "cat"]), step(50, ["bob"])] });
  await plane.minutes(4);
  await plane.fire();
  await plane.minutes(1);
  assert.equal(plane.last().id, 1);
  assert.deepEqual(pages(), [
    [0, 1, ["ann"]],
    [5, 1, ["cat"]],
    [25, 1, ["ann", "cat"]],
  ]);
});

test("a rule is deleted: what is timed ends, the alert stays and says so", async () => {
  plane.rule({
    escalations: [step(0, ["ann"], { repeat: 5 })],
    renotify_minutes: 7,
    auto_resolve_quiet_minutes: 30,
  });
  await plane.fire();
  await plane.minutes(6);
  plane.deleteRule();
  const before = plane.events();
  await plane.minutes(60);
  assert.deepEqual(plane.events(), before);
  assert.deepEqual([plane.last().state, plane.last().due_at], ["open", null]);
  assert.deepEqual(plane.timeline().at(-1), {
    at: plane.start + 360,
    kind: "retimed",
    account_id: null,
    detail: { why: "rule_deleted", ladder: "ended" },
  });
  assert.equal(plane.ack().state, "acknowledged");
});

test("a match after the change counts quiet by the new rule, also for an alert that is in memory", async () => {
  plane.rule({});
  await plane.fire();
  plane.replaceRule({ auto_resolve_quiet_minutes: 10 });
  await plane.minutes(5);
  await plane.fire();
  await plane.minutes(9);
  assert.equal(plane.last().state, "open");
  await plane.minutes(1);
  assert.equal(plane.last().state, "resolved");
});
