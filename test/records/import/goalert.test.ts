import assert from "node:assert/strict";
import { test } from "node:test";
import { fromGoAlert } from "../../../src/records/import/goalert/goalert.ts";
import { importText, linesOf } from "./read.ts";

const NOW = Date.UTC(2026, 10, 2, 12) / 1000;
const [ann, bob, eve] = ["ann@example.org", "bob@example.org", "eve@example.org"];
const nodes = (list: object[]) => ({ nodes: list });
const users = nodes([
  { id: "ua", name: "Ann", email: ann, role: "admin" },
  { id: "ub", name: "Bob", email: bob, role: "user" },
  { id: "ue", name: "Eve", email: eve, role: "user" },
]);
const rotation = (more: object) => ({
  id: "R",
  name: "Weekly",
  type: "weekly",
  shiftLength: 1,
  start: "2026-01-05T08:00:00Z",
  timeZone: "Europe/Berlin",
  activeUserIndex: 0,
  userIDs: ["ua", "ub", "ue"],
  ...more,
});
const every = [true, true, true, true, true, true, true];
const always = { start: "00:00", end: "00:00", weekdayFilter: every };
const target = (id: string, type: string, ...rules: object[]) => ({
  target: { id, type, name: id },
  rules,
});
const schedule = (targets: object[], more: object = {}) => ({
  id: "S",
  name: "Primary",
  timeZone: "Europe/Berlin",
  targets,
  ...more,
});
const read = (data: object) =>
  importText(fromGoAlert, NOW, { "export.json": { data: { users, ...data } } });
const layersOf = (made: ReturnType<typeof read>) =>
  made.project.schedules?.map((one) =>
    (one.layers ?? []).map(({ participants, restriction }) => [
      participants.join(),
      restriction ?? null,
    ]),
  );

test("whoever is on now there is on now here, whatever the arithmetic from the start says", () => {
  // The 44th week, 43 hand-overs after 5 January: the second of three by arithmetic.
  for (const [activeUserIndex, expected] of [
    [0, [eve, ann, bob]],
    [1, [ann, bob, eve]],
    [2, [bob, eve, ann]],
  ] as const) {
    const made = read({
      rotations: nodes([rotation({ activeUserIndex })]),
      schedules: nodes([schedule([target("R", "rotation", always)])]),
    });
    assert.deepEqual(layersOf(made), [[[expected.join(), null]]]);
  }
  const later = read({
    rotations: nodes([rotation({ activeUserIndex: 2, start: "2026-11-16T08:00:00Z" })]),
    schedules: nodes([schedule([target("R", "rotation", always)])]),
  });
  const [layer] = later.project.schedules?.[0]?.layers ?? [];
  assert.deepEqual(
    [layer?.rotation_start, layer?.participants],
    ["2026-11-02 09:00", [eve, ann, bob]],
  );
});

test("weekdays begin with Sunday, nights pass midnight, a rule that ends when it begins is a day; all are together", () => {
  const workdays = [false, true, true, true, true, true, false];
  const made = read({
    rotations: nodes([rotation({})]),
    schedules: nodes([
      schedule([
        target("R", "rotation", { start: "08:00", end: "18:00", weekdayFilter: workdays }),
        target("ub", "user", { start: "18:00", end: "08:00", weekdayFilter: workdays }),
        target("ue", "user", {
          start: "09:00",
          end: "09:00",
          weekdayFilter: [true, false, false, false, false, false, false],
        }),
        target("ua", "user"),
      ]),
    ]),
  });
  assert.deepEqual(layersOf(made), [
    [
      [[eve, ann, bob].join(), { days: [1, 2, 3, 4, 5], start_minute: 480, end_minute: 1080 }],
      [bob, { days: [1, 2, 3, 4, 5], start_minute: 1080, end_minute: 480 }],
    ],
    // Until nine on Monday, when the rotation is on from eight.
    [[eve, { days: [0], start_minute: 540, end_minute: 540 }]],
  ]);
  assert.match(linesOf(made.report, "schedule Primary"), /ua has no hours in it/);
});

test("overrides: somebody besides, somebody instead, nobody instead; temporary schedules", () => {
  const at = (day: number) => `2026-11-${String(day).padStart(2, "0")}T08:00:00Z`;
  const made = read({
    rotations: nodes([rotation({})]),
    schedules: nodes([
      schedule([target("R", "rotation", always)], {
        temporarySchedules: [
          {
            start: at(20),
            end: at(22),
            shifts: [
              { userID: "ub", start: at(20), end: at(21) },
              { userID: "ue", start: at(21), end: at(22) },
            ],
          },
        ],
      }),
    ]),
    userOverrides: nodes([
      { start: at(4), end: at(5), addUserID: "ub", removeUserID: "", target: { id: "S" } },
      // Ann has the week until the 9th, Bob the one after.
      { start: at(8), end: at(11), addUserID: "ue", removeUserID: "ua", target: { id: "S" } },
      { start: at(12), end: at(13), addUserID: "", removeUserID: "ub", target: { id: "S" } },
    ]),
  });
  assert.deepEqual(
    made.project.schedules?.map(({ name, overrides }) => [
      name,
      overrides
        ?.map((one) => [one.person, one.starts_at, one.ends_at])
        .sort((a, b) => (`${a[1]}` < `${b[1]}` ? -1 : 1)),
    ]),
    [
      [
        "Primary",
        [
          [eve, "2026-11-08 09:00", "2026-11-09 09:00"],
          [bob, "2026-11-20 09:00", "2026-11-21 09:00"],
          [eve, "2026-11-21 09:00", "2026-11-22 09:00"],
        ],
      ],
      [
        "Primary · 2",
        [
          [bob, "2026-11-04 09:00", "2026-11-05 09:00"],
          [bob, "2026-11-20 09:00", "2026-11-21 09:00"],
          [eve, "2026-11-21 09:00", "2026-11-22 09:00"],
        ],
      ],
    ],
  );
  assert.match(linesOf(made.report, "schedule Primary"), /bob@example\.org is removed from it/);
});

test("a delay is the wait after its step; rotations as targets, services, their keys and heartbeats", () => {
  const made = read({
    rotations: nodes([rotation({})]),
    schedules: nodes([
      schedule([target("R", "rotation", always)], {
        shifts: [
          {
            userID: "ua",
            start: "2026-11-02T08:00:00Z",
            end: "2026-11-09T08:00:00Z",
            truncated: false,
          },
        ],
      }),
    ]),
    escalationPolicies: nodes([
      {
        id: "P",
        name: "Default",
        repeat: 1,
        steps: [
          { delayMinutes: 15, targets: [{ id: "S", type: "schedule", name: "Primary" }] },
          {
            delayMinutes: 30,
            targets: [
              { id: "R", type: "rotation", name: "Weekly" },
              { id: "c", type: "slackChannel", name: "#ops" },
            ],
          },
        ],
      },
    ]),
    services: nodes([
      {
        id: "V",
        name: "Web",
        escalationPolicyID: "P",
        integrationKeys: [
          { id: "33333333-0000-4000-8000-000000000003", name: "Grafana", type: "grafana" },
          { id: "m", name: "Mail", type: "email" },
        ],
        heartbeatMonitors: [{ id: "h", name: "cron", timeoutMinutes: 15 }],
      },
    ]),
  });
  assert.deepEqual(made.pagesOf("Web"), [
    [0, ["Primary"]],
    [15, ["Weekly"]],
    [45, ["Primary"]],
    [60, ["Weekly"]],
  ]);
  assert.deepEqual(made.imported.commands, [
    'printf %s "$GOALERT_WEB_GRAFANA_KEY" | box source add-key goalert Web -',
  ]);
  assert.deepEqual(made.project.heartbeats, [
    { imported_from: "goalert:h", name: "cron", period_seconds: 900, grace_seconds: 60 },
  ]);
  assert.match(
    linesOf(made.report, "schedule Primary"),
    /^exact Its shifts of the next 7 days are GoAlert's own\.$/,
  );
  assert.match(linesOf(made.report, "escalation policy Default"), /slackChannel #ops/);
  assert.match(linesOf(made.report, "service Web"), /email here.*cron has a new address/s);
  const odd = read({
    rotations: nodes([rotation({ type: "monthly" })]),
    schedules: nodes([schedule([target("R", "rotation", always)])]),
  });
  assert.match(linesOf(odd.report, "schedule Primary"), /turns by monthly/);
});
