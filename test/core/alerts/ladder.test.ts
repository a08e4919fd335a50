import assert from "node:assert/strict";
import { test } from "node:test";
import {
  afterStep,
  nextRenotify,
  nextRung,
  repeatSeconds,
  runLadder,
  secondsOf,
  type Timers,
  whatIsDue,
} from "../../../src/core/alerts/ladder.ts";
import { lateness } from "../../../src/core/alerts/life/due.ts";
import type { EscalationStep } from "../../../src/core/projects/rule.ts";
import { step } from "../../support/plane.ts";

const NOW = 1_000_000;

function timers(over: Partial<Timers>): Timers {
  return {
    ladderFrom: NOW,
    step: 0,
    stepAt: null,
    repeatAt: null,
    renotifyAt: null,
    renotified: 0,
    quietAt: null,
    expiresAt: null,
    heldUntil: null,
    undeliveredAt: null,
    wakesAt: null,
    ...over,
  };
}

function rule(escalations: EscalationStep[], renotify_minutes = 0, max_renotify = 0) {
  return { escalations, renotify_minutes, max_renotify, auto_resolve_quiet_minutes: 0 };
}

const three = [step(0, ["a"]), step(10, ["b"]), step(20, ["c"])];

const dueTable: [what: string, over: Partial<Timers>, minute: number, due: object | null][] = [
  ["nothing before its time", { step: 1, stepAt: NOW + 600 }, 9, null],
  [
    "a step at its very second",
    { step: 1, stepAt: NOW + 600 },
    10,
    { first: 2, last: 2, dueAt: NOW + 600, repeat: false },
  ],
  [
    "all that were missed as one, late by the furthest",
    { step: 1, stepAt: NOW + 600 },
    31,
    { first: 2, last: 3, dueAt: NOW + 1200, repeat: false },
  ],
  [
    "a repeat",
    { step: 1, stepAt: NOW + 600, repeatAt: NOW + 300 },
    5,
    { first: 1, last: 1, dueAt: NOW + 300, repeat: true },
  ],
  [
    "a step takes the place of a repeat due with it",
    { step: 1, stepAt: NOW + 600, repeatAt: NOW + 600 },
    10,
    { first: 2, last: 2, dueAt: NOW + 600, repeat: false },
  ],
  ["a ladder at its top", { step: 3 }, 500, null],
];

for (const [what, over, minute, due] of dueTable) {
  test(`due: ${what}`, () => {
    assert.deepEqual(whatIsDue(rule(three), timers(over), NOW + minute * 60).steps, due);
  });
}

test("quiet for long enough comes before everything else that is due", () => {
  const due = whatIsDue(rule(three), timers({ stepAt: NOW, renotifyAt: NOW, quietAt: NOW }), NOW);
  assert.deepEqual(due, { resolve: "quiet", steps: null, renotify: null });
});

test("steps run in array order: one never comes before the one ahead of it", () => {
  const ladder = [step(10, ["a"]), step(5, ["b"]), step(20, ["c"])];
  assert.deepEqual(
    [1, 2, 3].map((n) => secondsOf(ladder, n)),
    [600, 600, 1200],
  );
  assert.deepEqual(nextRung(ladder, 0), { first: 1, last: 2 });
  assert.deepEqual(nextRung(ladder, 2), { first: 3, last: 3 });
  assert.equal(nextRung(ladder, 3), null);
});

const byName = (reachable: readonly string[]) => (of: EscalationStep) =>
  of.accounts.filter((account) => reachable.includes(account));

const climbTable: [
  what: string,
  ladder: EscalationStep[],
  first: number,
  last: number,
  result: object,
][] = [
  [
    "pages a step",
    three,
    1,
    1,
    { step: 1, paged: { span: { first: 1, last: 1 }, accounts: ["a"] }, nobody: [] },
  ],
  [
    "pages the union of those missed, each once",
    [step(0, ["a", "b"]), step(5, ["b", "c"])],
    1,
    2,
    { step: 2, paged: { span: { first: 1, last: 2 }, accounts: ["a", "b", "c"] }, nobody: [] },
  ],
  [
    "goes on at once where nobody is reached",
    [step(0, ["gone"]), step(10, ["b"]), step(20, ["c"])],
    1,
    1,
    { step: 2, paged: { span: { first: 2, last: 2 }, accounts: ["b"] }, nobody: [1] },
  ],
  [
    "takes the steps of one time together when it goes on",
    [step(0, []), step(10, ["gone"]), step(10, ["b"])],
    1,
    1,
    { step: 3, paged: { span: { first: 2, last: 3 }, accounts: ["b"] }, nobody: [1, 2] },
  ],
  [
    "doesn't go on where only some of one time reach nobody",
    [step(0, ["a"]), step(0, ["gone"]), step(10, ["b"])],
    1,
    2,
    { step: 2, paged: { span: { first: 1, last: 2 }, accounts: ["a"] }, nobody: [2] },
  ],
  [
    "ends at the top where nobody at all is reached",
    [step(0, []), step(10, ["gone"])],
    1,
    1,
    { step: 2, paged: null, nobody: [1, 2] },
  ],
];

for (const [what, ladder, first, last, result] of climbTable) {
  test(`climb: ${what}`, () => {
    assert.deepEqual(runLadder(ladder, { first, last }, byName(["a", "b", "c"])), result);
  });
}

test("after a step: the next one by the opening, repeats from now", () => {
  const ladder = [step(0, ["a"], { repeat: 3 }), step(10, ["b"])];
  assert.deepEqual(afterStep(ladder, { step: 1, ladderFrom: NOW, now: NOW + 7 }), {
    step: 1,
    stepAt: NOW + 600,
    repeatAt: NOW + 7 + 180,
  });
  assert.deepEqual(afterStep(ladder, { step: 2, ladderFrom: NOW, now: NOW }), {
    step: 2,
    stepAt: null,
    repeatAt: null,
  });
});

test("steps of one time repeat as often as the one that repeats most often", () => {
  const ladder = [
    step(0, ["a"], { repeat: 9 }),
    step(0, ["b"], { repeat: 4 }),
    step(0, ["c"]),
    step(5, ["d"]),
  ];
  assert.deepEqual(
    [1, 2, 3, 4].map((n) => repeatSeconds(ladder, n)),
    [540, 240, 240, null],
  );
});

test("renotify: off at 0, without limit at 0, no more at the cap", () => {
  assert.equal(nextRenotify(rule([], 0), 0, NOW), null);
  assert.equal(nextRenotify(rule([], 5), 99, NOW), NOW + 300);
  assert.equal(nextRenotify(rule([], 5, 2), 1, NOW), NOW + 300);
  assert.equal(nextRenotify(rule([], 5, 2), 2, NOW), null);
});

test("50,000 minutes are 50,000 minutes", () => {
  const due = whatIsDue(rule([], 50_000), timers({ renotifyAt: NOW + 3_000_000 }), NOW + 2_147_484);
  assert.equal(due.renotify, null);
});

const latenessTable: [what: string, dueAt: number, upSince: number, says: object][] = [
  ["in time", NOW, 0, {}],
  ["a few seconds are no matter", NOW - 4, 0, {}],
  ["late with the box up", NOW - 5, 0, { late_seconds: 5 }],
  [
    "late because the box was down",
    NOW - 660,
    NOW - 1,
    { late_seconds: 660, late_because: "box was down" },
  ],
  [
    "a short outage is named, too",
    NOW - 2,
    NOW - 1,
    { late_seconds: 2, late_because: "box was down" },
  ],
];

for (const [what, dueAt, upSince, says] of latenessTable) {
  test(`lateness: ${what}`, () => {
    assert.deepEqual(lateness({ dueAt, now: NOW, upSince }), says);
  });
}
