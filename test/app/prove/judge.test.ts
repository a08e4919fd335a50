import assert from "node:assert/strict";
import { test } from "node:test";
import type {
  Outcome,
  Received,
  RunEvidence,
  SeenAlert,
  SeenPage,
  SeenPush,
} from "../../../src/app/prove/evidence.ts";
import { blindSpots } from "../../../src/app/prove/forge.ts";
import { judge } from "../../../src/app/prove/judge.ts";

const alert: SeenAlert = {
  id: "1",
  project: "orders",
  rule: "each",
  state: "resolved",
  count: 2,
  level: 400,
  escalation_level: 1,
  dedup_key: null,
  identifiers: {},
};

/** Its sender reported one firing twice, and its end. */
const named: SeenAlert = {
  ...alert,
  id: "2",
  project: "named",
  count: 1,
  dedup_key: "disk",
};
/** One host was silenced until it was told, one alert was snoozed and rang again. */
const hushed: SeenAlert = {
  ...alert,
  id: "3",
  project: "quiet",
  state: "open",
  count: 1,
  escalation_level: 0,
  identifiers: { host: "hushed1" },
};
const rung: SeenAlert = { ...hushed, id: "4", identifiers: { host: "loud2" } };
/** One became critical, one was answered by its link. */
const risen: SeenAlert = { ...hushed, id: "5", rule: "paging", level: 500, identifiers: {} };
const linked: SeenAlert = { ...risen, id: "6", level: 400, state: "acknowledged" };
/** Its ladder changed. */
const climbed: SeenAlert = { ...hushed, id: "7", rule: "climb1 0", identifiers: {} };
const others = [hushed, rung, risen, linked, climbed];
const quiet = (alertId: string) => ({ alertId, endpoint: "quiet/healthy" });
const word = (status: "firing" | "resolved", instance: number, outcome: Outcome = "accepted") => ({
  name: "disk",
  status,
  instance,
  outcome,
});
const said = [word("firing", 1), word("firing", 1), word("resolved", 1)];

function arrival(event: string, step: number, changes: Partial<Received> = {}): Received {
  const known = { endpoint: "orders/healthy", alertId: "1", digest: `bytes of ${event}` };
  return {
    ...known,
    eventId: `id of ${event}`,
    event,
    timestamp: 1000 + step,
    step,
    acceptedAt: step + 1,
    ...changes,
  };
}

const honest: RunEvidence = {
  events: [
    { n: 0, project: "orders", outcome: "accepted" },
    { n: 1, project: "orders", outcome: "unknown" },
    { n: 2, project: "orders", outcome: "unknown" },
    { n: 3, project: "orders", outcome: "refused" },
  ],
  verbs: [{ verb: "resolve", alertId: "1" }],
  arrivals: [
    arrival("alert.opened", 1),
    arrival("alert.opened", 3, { endpoint: "orders/action" }),
    arrival("alert.opened", 5),
    arrival("alert.escalated", 7, { acceptedAt: null }),
    arrival("alert.escalated", 9),
    arrival("alert.resolved", 11),
    arrival("alert.opened", 14, quiet("3")),
    arrival("alert.opened", 16, quiet("4")),
    arrival("alert.opened", 22, quiet("5")),
    arrival("alert.opened", 24, quiet("6")),
    arrival("alert.acknowledged", 26, quiet("6")),
    arrival("alert.opened", 30, quiet("7")),
    arrival("alert.renotified", 20, quiet("4")),
  ],
  projects: [
    {
      name: "orders",
      rules: [{ name: "each", count: 1, keys: 1, ladder: true, tag: null }],
      endpoints: ["orders/healthy"],
      action: "orders/action",
      named: false,
      quiet: false,
    },
    {
      name: "named",
      endpoints: [],
      action: null,
      named: true,
      quiet: false,
      rules: [{ name: "each", count: 1, keys: 1, ladder: false, tag: null }],
    },
    {
      name: "quiet",
      endpoints: ["quiet/healthy"],
      action: null,
      named: false,
      quiet: true,
      rules: [{ name: "each", count: 1, keys: 1, ladder: false, tag: null }],
    },
  ],
  hushes: [{ host: "hushed1", until: 1014, owes: "alert.opened" }],
  rings: [{ alertId: "4", until: 1000 }],
  rises: [{ alertId: "5", contactId: "critical" }],
  climbs: [{ alertId: "7", until: 1000 }],
  pressed: ["6"],
  told: [
    { purpose: "page", alertIds: ["1", "5", "6", "7"], code: null, link: "/ack/x", wasTaken: true },
  ],
  pages: [
    { alertId: "1", contactId: "hook", status: "delivered" },
    { alertId: "5", contactId: "critical", status: "delivered" },
    { alertId: "7", contactId: "own", status: "delivered" },
    { alertId: "1", contactId: "stays", status: "delivered" },
    { alertId: "1", contactId: "left", status: "withdrawn" },
  ],
  devices: [
    { contactId: "stays", isLeaving: false, revokedAt: null },
    { contactId: "left", isLeaving: true, revokedAt: 500 },
  ],
  pushes: [push(0, 400), push(1, 450), push(1, 600)],
  words: said,
  looks: [
    { name: "disk", said: said.slice(0, 2), standing: [1] },
    { name: "disk", said, standing: [] },
  ],
  alerts: [alert, named, ...others],
  lines: [0, 2],
  pending: 0,
  givenUp: 0,
  damage: null,
  falls: [],
  oddAnswers: [],
};

const acked = honest.arrivals.toSpliced(12, 0, arrival("alert.acknowledged", 18, quiet("4")));
const ackedToo = [...honest.arrivals, arrival("alert.acknowledged", 28, quiet("5"))];
const brokenBy = (changes: Partial<RunEvidence>) =>
  judge({ ...honest, ...changes }).map(({ promise }) => promise);

test("what an honest box shows breaks no promise", () => {
  assert.deepEqual(judge(honest), []);
});

test("a breach of any promise is seen", () => {
  assert.deepEqual(blindSpots(honest), []);
});

test("where nothing happened nothing is proven", () => {
  const blind = blindSpots({
    ...honest,
    events: [],
    arrivals: [],
    alerts: [],
    lines: [],
    verbs: [],
    words: [],
    looks: [],
    told: [],
    pages: [],
    hushes: [],
    rings: [],
    rises: [],
    climbs: [],
    pressed: [],
    pushes: [],
  });
  assert.ok(blind.includes("every alert reached every endpoint"));
  assert.ok(blind.includes("alerts count what is stored"));
  assert.ok(blind.includes("every page is pushed to the browsers of who is paged"));
  assert.ok(blind.includes("nothing is pushed to a browser that was revoked"));
  assert.ok(blind.includes("a firing that was answered has its alert"));
});

test("each promise is broken by what breaks it, and only that", () => {
  const cases: [string, Partial<RunEvidence>][] = [
    ["every accepted event is stored", { lines: [1, 2] }],
    ["every alert reached every endpoint", { arrivals: honest.arrivals.toSpliced(5, 1) }],
    [
      "every alert reached every endpoint",
      { arrivals: honest.arrivals.filter(({ endpoint }) => endpoint !== "orders/action") },
    ],
    ["alerts count what is stored", { alerts: [{ ...alert, count: 1 }, named, ...others] }],
    ["alerts count what is stored", { alerts: [{ ...alert, count: 3 }, named, ...others] }],
    ["each firing is counted once", { alerts: [alert, ...others] }],
    ["each firing is counted once", { alerts: [alert, { ...named, count: 2 }, ...others] }],
    ["a firing that was answered has its alert", { looks: [looked(said.slice(0, 2), [])] }],
    ["an end that was answered holds", { looks: [looked(said, [1])] }],
    ["one alert of a name stands", { looks: [looked(said.slice(0, 1), [1, 1])] }],
    [
      "the events of an alert come in order",
      { arrivals: honest.arrivals.toReversed().map(restep) },
    ],
    [
      "nothing is sent while it is silenced",
      { hushes: [{ host: "hushed1", until: 1015, owes: "alert.opened" }] },
    ],
    [
      "an acknowledgement that ends notifies again",
      { arrivals: honest.arrivals.filter(({ event }) => event !== "alert.renotified") },
    ],
    [
      "an acknowledgement that ends notifies again",
      {
        alerts: [alert, named, hushed, risen, linked, climbed, { ...rung, state: "acknowledged" }],
        arrivals: acked,
      },
    ],
    [WORSE, { alerts: [alert, named, hushed, rung, linked, climbed, { ...risen, level: 400 }] }],
    [WORSE, { pages: pagesBut("critical") }],
    [CLIMBED, { pages: pagesBut("own") }],
    [CLIMBED, { pages: [...honest.pages, { ...honest.pages[2], contactId: "also" } as SeenPage] }],
    [LINKED, { pressed: [] }],
    [
      LINKED,
      {
        alerts: [alert, named, hushed, rung, linked, climbed, { ...risen, state: "acknowledged" }],
        arrivals: ackedToo,
      },
    ],
    ["nothing waits once faults stop", { givenUp: 1 }],
    ["every page of a person reaches them", { told: [] }],
    ["every page of a person reaches them", { pages: pagesBut("hook") }],
    ["every page of a person reaches them", { pages: pagesBut("hook", "failed") }],
    [PUSHED, { pages: pagesBut("stays") }],
    [PUSHED, { pages: pagesBut("stays", "failed") }],
    [PUSHED, { pages: pagesBut("left", "delivered"), pushes: [push(0, 400)] }],
    [PUSHED, { pushes: [{ ...push(0, 400), wasTaken: false }] }],
    [PUSHED, { pushes: [{ ...push(0, 400), isPage: false }] }],
    [PUSHED, { pushes: [push(1, 400)] }],
    [
      "a push can be opened by its browser",
      { pushes: [push(0, 400), { ...push(0, 1), isRead: false }] },
    ],
    ["nothing is pushed to a browser that was revoked", { pushes: [push(0, 400), push(1, 1501)] }],
  ];
  for (const [promise, changes] of cases) assert.deepEqual(brokenBy(changes), [promise]);
});

const WORSE = "an alert that becomes critical rings as such";
const CLIMBED = "an alert follows the change of its ladder and pages once";
const LINKED = "a link acknowledges what it was pressed for, and nothing else";
const PUSHED = "every page is pushed to the browsers of who is paged";

function push(device: number, at: number): SeenPush {
  const said = { isRead: true, isPage: true, alertIds: ["1"], more: 0 };
  return { device, at, ...said, wasTaken: true };
}

/** The honest pages, the one by this contact with another status, or without it. */
function pagesBut(contact: string, status?: string) {
  return honest.pages.flatMap((page) => {
    if (page.contactId !== contact) return [page];
    return status === undefined ? [] : [{ ...page, status }];
  });
}

function looked(words: RunEvidence["words"], standing: number[]) {
  return { name: "disk", said: words, standing };
}

test("what wasn't answered may have been taken or not", () => {
  const end = [...said.slice(0, 2), word("resolved", 1, "unknown")];
  const next = [...said, word("firing", 2, "unknown")];
  for (const look of [looked(end, []), looked(end, [1]), looked(next, []), looked(next, [2])])
    assert.deepEqual(brokenBy({ looks: [look] }), []);
  assert.deepEqual(brokenBy({ looks: [looked(next, [1])] }), ["an end that was answered holds"]);
  const words = [...said, word("firing", 2, "unknown")];
  for (const count of [1, 2])
    assert.deepEqual(brokenBy({ words, alerts: [alert, { ...named, count }, ...others] }), []);
});

function restep(seen: Received, i: number): Received {
  return { ...seen, step: 2 * i, acceptedAt: seen.acceptedAt === null ? null : 2 * i + 1 };
}

test("an event that was taken twice is no breach, one that was sent on before it was taken is", () => {
  const early = honest.arrivals.map((seen) =>
    seen.event === "alert.escalated" && seen.acceptedAt !== null
      ? { ...seen, acceptedAt: 99 }
      : seen,
  );
  assert.deepEqual(brokenBy({ arrivals: early }), ["the events of an alert come in order"]);
});

test("a window's events may wait uncounted, but no more of them than it holds back", () => {
  const projects = honest.projects.map((plan) => ({
    ...plan,
    rules: plan.rules.map((rule) => ({ ...rule, count: 3 })),
  }));
  assert.deepEqual(brokenBy({ projects, lines: [0, 1, 2] }), []);
  const many = Array.from({ length: 20 }, (_, n) => n + 4);
  const events = [...honest.events, ...many.map((n) => sentTo("orders", n))];
  const lines = [0, 2, ...many];
  assert.deepEqual(brokenBy({ projects, events, lines }), ["alerts count what is stored"]);
});

function sentTo(project: string, n: number) {
  return { n, project, outcome: "accepted" as const };
}
