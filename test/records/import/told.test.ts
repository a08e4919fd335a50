import assert from "node:assert/strict";
import { test } from "node:test";
import { importers } from "../../../src/records/import/list.ts";
import { importText, linesOf } from "./read.ts";

const NOW = Date.UTC(2026, 10, 2, 12) / 1000;
const ENDED = "2026-06-01T00:00:00Z";

function read(system: string, files: Readonly<Record<string, unknown>>) {
  const importer = importers.find((one) => one.system === system);
  assert.ok(importer);
  return importText(importer, NOW, files);
}

const nodes = (list: object[], hasNextPage?: boolean) => ({
  nodes: list,
  ...(hasNextPage !== undefined && { pageInfo: { hasNextPage } }),
});

for (const [system, value] of [
  ["opsgenie", { data: [], took: 0.1, requestId: "r" }],
  ["opsgenie", []],
  ["opsgenie", { data: { heartbeats: [] } }],
  ["pagerduty", []],
  ["pagerduty", { users: [], limit: 25, offset: 0, more: false, total: null }],
  ["pagerduty", { overrides: [] }],
  ["oncall", []],
  ["oncall", { count: 0, next: null, previous: null, results: [] }],
  ["goalert", { data: { users: nodes([]), rotations: nodes([]) } }],
] as const)
  test(`an empty export of ${system} is a fact: ${JSON.stringify(value)}`, () => {
    const { report } = read(system, { "empty.json": value });
    assert.deepEqual(report, [
      {
        sort: "exact",
        what: "empty.json",
        how: "It is empty: there is nothing to import.",
      },
    ]);
  });

for (const system of ["opsgenie", "pagerduty", "oncall", "goalert"])
  test(`what is no export of ${system} is not called empty`, () => {
    const { report } = read(system, { "odd.json": { weather: "rain" } });
    assert.ok(report.length > 0 && report.every(({ sort }) => sort === "impossible"));
  });

/** Three answers of each system's users: the first two say that there are more. */
const user = (id: string) => ({ id, email: `${id}@example.org`, username: `${id}@example.org` });
const opsgenie = (offset: number) =>
  `https://api.opsgenie.com/v2/users?limit=1&offset=${offset}&order=ASC`;
const oncall = (n: number) => `https://x.example/api/v1/users/${n === 1 ? "" : `?page=${n}`}`;
const PAGES: Readonly<Record<string, readonly object[]>> = {
  pagerduty: [
    { users: [user("a")], limit: 1, offset: 0, more: true },
    { users: [user("b")], limit: 1, offset: 1, more: true },
    { users: [user("c")], limit: 1, offset: 2, more: false },
  ],
  opsgenie: [
    { data: [user("a")], paging: { next: opsgenie(1), first: opsgenie(0), last: opsgenie(2) } },
    {
      data: [user("b")],
      paging: { prev: opsgenie(0), next: opsgenie(2), first: opsgenie(0), last: opsgenie(2) },
    },
    { data: [user("c")], paging: { prev: opsgenie(1), first: opsgenie(0), last: opsgenie(2) } },
  ],
  oncall: [
    { results: [user("a")], previous: null, next: oncall(2) },
    { results: [user("b")], previous: oncall(1), next: oncall(3) },
    { results: [user("c")], previous: oncall(2), next: null },
  ],
  goalert: [
    { data: { users: nodes([user("a")], true) } },
    { data: { users: nodes([user("b")], true) } },
    { data: { users: nodes([user("c")], false) } },
  ],
};
for (const [system, [first, second, third]] of Object.entries(PAGES))
  test(`a page of ${system} is missing only where it isn't among the files`, () => {
    const saysMore = (files: Record<string, unknown>) =>
      read(system, files)
        .report.filter(({ how }) => /answer isn.t complete/.test(how))
        .map(({ what }) => what.replace("users of ", ""));
    assert.deepEqual(saysMore({ "1.json": first, "2.json": second, "3.json": third }), []);
    assert.deepEqual(saysMore({ "1.json": first }), ["1.json"]);
    assert.deepEqual(saysMore({ "2.json": second, "3.json": third }), []);
    // GoAlert's answers don't say which they are.
    if (system === "goalert") return;
    assert.deepEqual(saysMore({ "1.json": first, "2.json": second }), ["2.json"]);
    assert.deepEqual(saysMore({ "1.json": first, "3.json": third }), ["1.json"]);
  });

test("pages of another list, or several pages in one file, are no page too few or too many", () => {
  const [first, second, third] = PAGES["pagerduty"] ?? [];
  const more = (report: readonly { how: string }[]) =>
    report.filter(({ how }) => /answer isn.t complete/.test(how)).length;
  assert.equal(more(read("pagerduty", { "all.json": [first, second, third] }).report), 0);
  const shifts = {
    results: [],
    previous: "https://x.example/api/v1/on_call_shifts/",
    next: null,
  };
  const [start] = PAGES["oncall"] ?? [];
  assert.equal(more(read("oncall", { "users.json": start, "shifts.json": shifts }).report), 1);
});

test("what has nobody on call any more, or never had, is told and left out", () => {
  const pagerduty = read("pagerduty", {
    "s.json": {
      schedule: {
        id: "S",
        name: "Primary",
        time_zone: "Etc/UTC",
        schedule_layers: [
          { name: "old", end: ENDED, restrictions: [{ type: "daily_restriction" }] },
        ],
      },
    },
  });
  const ended = new RegExp(`exact Its (layer|rotation|shift) old ended at ${ENDED}`);
  assert.match(linesOf(pagerduty.report, "schedule Primary"), ended);
  const opsgenieMade = read("opsgenie", {
    "s.json": {
      data: [
        {
          id: "S",
          name: "Primary",
          timezone: "Etc/UTC",
          enabled: true,
          rotations: [{ name: "old", endDate: ENDED }],
        },
      ],
    },
  });
  assert.match(linesOf(opsgenieMade.report, "schedule Primary"), ended);
  const shift = (id: string, more: object = {}) => ({
    id,
    name: id,
    type: "recurrent_event",
    start: "2026-01-05T09:00:00",
    duration: 3600,
    frequency: "weekly",
    users: [],
    ...more,
  });
  const oncallMade = read("oncall", {
    "s.json": [{ id: "S", name: "Primary", type: "calendar", time_zone: "UTC", shifts: ["old"] }],
    "shifts.json": [shift("old", { until: ENDED }), shift("spare")],
  });
  assert.match(linesOf(oncallMade.report, "schedule Primary"), ended);
  assert.match(linesOf(oncallMade.report, "shift spare"), /No schedule of the files uses it/);
  const route = { id: "X", integration_id: "I", routing_regex: "us-east" };
  assert.match(
    linesOf(read("oncall", { "routes.json": [route] }).report, "route us-east"),
    /Its integration isn't in the files/,
  );
  const rotation = { id: "R", name: "spare", type: "weekly", timeZone: "Etc/UTC" };
  const goalertMade = read("goalert", { "e.json": { data: { rotations: nodes([rotation]) } } });
  assert.match(
    linesOf(goalertMade.report, "rotation spare"),
    /No schedule and no escalation policy uses it/,
  );
});

test("of a thing in two files that differ the one that says more is taken, and that is told", () => {
  const schedule = (name: string, more: object = {}) => ({
    schedules: [{ id: "S", name, time_zone: "Etc/UTC", ...more }],
  });
  const lines = (before: object, after: object) =>
    linesOf(read("pagerduty", { "1.json": before, "2.json": after }).report, "schedules S");
  const whole = schedule("Primary", { schedule_layers: [] });
  assert.equal(lines(schedule("Primary"), whole), "");
  assert.match(lines(schedule("Secondary"), whole), /^approximate Two files have it and differ/);
  assert.match(lines(whole, schedule("Secondary")), /^approximate Two files have it and differ/);
});

for (const [system, of] of Object.entries({
  pagerduty: (users: object[]) => ({ users }),
  opsgenie: (data: object[]) => ({ data }),
  oncall: (results: object[]) => ({ results }),
}))
  test(`a user in two files of ${system} has the name of the fuller one, whichever comes first`, () => {
    const bare = of([user("a")]);
    const full = of([{ ...user("a"), name: "Ann Example", fullName: "Ann Example" }]);
    for (const files of [
      { "1.json": bare, "2.json": full },
      { "1.json": full, "2.json": bare },
    ]) {
      const { report } = read(system, files);
      const users = report.map(({ what }) => what).filter((what) => what.startsWith("user "));
      assert.deepEqual([...new Set(users)], ["user Ann Example"]);
    }
  });

test("an urgency that is always low, or goes by severity or by the hour, is told as what it is", () => {
  for (const [rule, expected] of [
    [{ type: "constant", urgency: "high" }, /^exact A source and a rule/],
    [{ type: "constant", urgency: "low" }, /All its incidents are of low urgency/],
    [{ type: "constant", urgency: "severity_based" }, /depends on the event's severity/],
    [
      { type: "use_support_hours", during_support_hours: { urgency: "high" } },
      /depends on the hour/,
    ],
  ] as const) {
    const { report } = read("pagerduty", {
      "p.json": {
        users: [user("a")],
        escalation_policies: [
          {
            id: "P",
            name: "P",
            escalation_rules: [{ targets: [{ id: "a", type: "user_reference" }] }],
          },
        ],
        services: [
          { id: "W", name: "Web", escalation_policy: { id: "P" }, incident_urgency_rule: rule },
        ],
      },
    });
    assert.match(linesOf(report, "service Web"), expected);
  }
});
