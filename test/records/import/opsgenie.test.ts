import assert from "node:assert/strict";
import { test } from "node:test";
import { fromOpsgenie } from "../../../src/records/import/opsgenie/opsgenie.ts";
import { importText, linesOf } from "./read.ts";

const NOW = Date.UTC(2026, 10, 2, 12) / 1000;
const user = (id: string, email: string, role: string, more: object = {}) => ({
  id,
  username: email,
  fullName: id,
  role: { name: role },
  blocked: false,
  ...more,
});
const users = {
  data: [
    user("ann", "Ann@Example.org", "Owner"),
    user("bob", "bob@example.org", "Admin"),
    user("eve", "eve@example.org", "Observer"),
    user("old", "old@example.org", "User", { blocked: true }),
  ],
};
const who = (id: string) => ({ type: "user", id, username: `${id}@example.org` });
const rotation = (name: string, participants: object[], more: object = {}) => ({
  id: `r-${name}`,
  name,
  startDate: "2026-01-05T08:00:00Z",
  type: "weekly",
  length: 1,
  participants,
  ...more,
});
const schedule = (rotations: object[], more: object = {}) => ({
  data: [
    { id: "S1", name: "Primary", timezone: "Europe/Berlin", enabled: true, rotations, ...more },
  ],
});
const hours = (startHour: number, endHour: number) => ({
  type: "time-of-day",
  restriction: { startHour, startMin: 0, endHour, endMin: 0 },
});
const days = (startDay: string, startHour: number, endDay: string, endHour: number) => ({
  type: "weekday-and-time-of-day",
  restrictions: [{ startDay, startHour, startMin: 0, endDay, endHour, endMin: 0 }],
});
const ann = "ann@example.org";
const bob = "bob@example.org";
const eve = "eve@example.org";

test("rotations are on call together: a schedule each, but one where their hours never meet", () => {
  const read = (rotations: object[], more: Record<string, unknown> = {}) =>
    importText(fromOpsgenie, NOW, {
      "users.json": users,
      "schedules.json": schedule(rotations),
      ...more,
    });
  const { project, report } = read([
    rotation("day", [who("ann"), who("bob")], { timeRestriction: hours(8, 18) }),
    rotation("night", [who("eve")], { type: "daily", length: 2, timeRestriction: hours(18, 8) }),
    rotation("weekend", [who("bob"), { type: "none" }], {
      timeRestriction: days("saturday", 0, "monday", 8),
    }),
    rotation("over", [who("ann")], { endDate: "2026-05-01T00:00:00Z" }),
  ]);
  assert.deepEqual(
    project.schedules?.map(({ name, layers }) => [
      name,
      layers?.map((layer) => [
        layer.name,
        layer.participants,
        layer.rotation_start,
        layer.shift_minutes,
        layer.restriction,
      ]),
    ]),
    [
      [
        "Primary",
        [
          [
            "day",
            [ann, bob],
            "2026-01-05 09:00",
            10_080,
            { days: [], start_minute: 480, end_minute: 1080 },
          ],
          [
            "night",
            [eve],
            "2026-01-05 09:00",
            2880,
            { days: [], start_minute: 1080, end_minute: 480 },
          ],
        ],
      ],
      [
        "Primary · 2",
        [
          [
            "weekend",
            [bob, null],
            "2026-01-05 09:00",
            10_080,
            { days: [0, 6], start_minute: 0, end_minute: 1440 },
          ],
          [
            "weekend (2)",
            [bob, null],
            "2026-01-05 09:00",
            10_080,
            { days: [1], start_minute: 0, end_minute: 480 },
          ],
        ],
      ],
    ],
  );
  assert.doesNotMatch(linesOf(report, "schedule Primary"), /weekend/, "nobody's turn is exact");
  assert.match(linesOf(report, "user old"), /blocked there/);
  assert.match(linesOf(report, "user eve"), /role observer/);
  const limited = read(
    [
      rotation("day", [who("ann")], { timeRestriction: hours(8, 18) }),
      rotation("night", [who("eve")], { timeRestriction: hours(18, 8) }),
    ],
    {
      "overrides-S1.json": {
        data: [
          {
            alias: "o",
            user: who("bob"),
            startDate: "2026-12-24T08:00:00Z",
            endDate: "2027-04-01T08:00:00Z",
            rotations: [{ id: "r-night", name: "night" }],
          },
          {
            alias: "past",
            user: who("bob"),
            startDate: "2026-01-24T08:00:00Z",
            endDate: "2026-01-27T08:00:00Z",
          },
        ],
      },
    },
  );
  assert.deepEqual(
    limited.project.schedules?.map(({ name, overrides }) => [
      name,
      overrides?.map(({ starts_at, ends_at }) => [starts_at, ends_at]),
    ]),
    [
      ["Primary", undefined],
      // Longer than 90 days: in two pieces.
      [
        "Primary · 2",
        [
          ["2026-12-24 09:00", "2027-03-24 09:00"],
          ["2027-03-24 09:00", "2027-04-01 10:00"],
        ],
      ],
    ],
  );
});

test("a team has its members' turns; its own timeline is compared", () => {
  const period = (id: string, from: string, to: string) => ({
    startDate: from,
    endDate: to,
    recipient: { type: "user", id, name: `${id}@example.org` },
  });
  const { project, report } = importText(fromOpsgenie, NOW, {
    "users.json": users,
    "team.json": {
      data: {
        id: "T",
        name: "ops",
        members: [
          { user: who("bob"), role: "admin" },
          { user: who("eve"), role: "user" },
        ],
      },
    },
    "schedule-backup.json": {
      schedule: schedule([rotation("all", [who("ann"), { type: "team", id: "T", name: "ops" }])])
        .data[0],
      scheduleOverrideList: [
        {
          alias: "o",
          user: who("eve"),
          startDate: "2026-11-03T08:00:00Z",
          endDate: "2026-11-04T08:00:00Z",
        },
      ],
    },
    "timeline.json": {
      data: {
        _parent: { id: "S1", name: "Primary" },
        startDate: "2026-11-02T00:00:00Z",
        endDate: "2026-11-10T08:00:00Z",
        finalTimeline: {
          rotations: [
            {
              name: "all",
              // Week 43: the second of three turns.
              periods: [
                period("bob", "2026-11-02T08:00:00Z", "2026-11-03T08:00:00Z"),
                period("eve", "2026-11-03T08:00:00Z", "2026-11-04T08:00:00Z"),
                period("bob", "2026-11-04T08:00:00Z", "2026-11-09T08:00:00Z"),
                period("ann", "2026-11-09T08:00:00Z", "2026-11-10T08:00:00Z"),
              ],
            },
          ],
        },
      },
    },
  });
  assert.deepEqual(project.schedules?.[0]?.layers?.[0]?.participants, [ann, bob, eve]);
  assert.match(
    linesOf(report, "schedule Primary"),
    /team ops has a turn.*\napproximate Other people are on call from 2026-11-09 09:00 to 2026-11-10 09:00 \S+: there ann@example\.org, here eve@example\.org\.$/,
  );
});

test("delays count from the alert's opening; whom a team's step pages, units, repeats, an acknowledgement", () => {
  const rule = (amount: number, unit: string, recipient: object, more: object = {}) => ({
    condition: "if-not-acked",
    notifyType: "default",
    delay: { timeAmount: amount, timeUnit: unit },
    recipient,
    ...more,
  });
  const team = { type: "team", id: "T", name: "ops" };
  const { project, report, imported, pagesOf, ladders } = importText(fromOpsgenie, NOW, {
    "users.json": users,
    "team.json": {
      data: {
        id: "T",
        name: "ops",
        members: [
          { user: who("ann"), role: "admin" },
          { user: who("bob"), role: "user" },
        ],
      },
    },
    "schedules.json": schedule([rotation("all", [who("ann"), who("bob")])]),
    "escalations.json": {
      data: [
        {
          id: "E1",
          name: "ops_escalation",
          ownerTeam: { id: "T", name: "ops" },
          rules: [
            rule(0, "minutes", { type: "schedule", id: "S1", name: "Primary" }),
            rule(90, "seconds", { type: "schedule", name: "Primary" }, { notifyType: "next" }),
            rule(1, "hours", team, { notifyType: "admins", condition: "if-not-closed" }),
            rule(2, "hours", { type: "schedule", id: "S1" }, { notifyType: "all" }),
          ],
          repeat: { waitInterval: 10, count: 1, closeAlertAfterAll: true },
        },
        { id: "E2", name: "spare", rules: [rule(0, "minutes", who("bob"))] },
      ],
    },
    "routing-rules-T.json": {
      data: [
        {
          id: "R1",
          name: "late",
          order: 0,
          criteria: { type: "match-any-condition" },
          notify: { type: "none" },
        },
        {
          id: "R2",
          name: "rest",
          order: 1,
          criteria: { type: "match-all" },
          notify: { type: "escalation", id: "E1" },
        },
      ],
    },
    "integrations.json": {
      data: [
        { id: "I1", name: "Sentry", type: "Sentry", enabled: true, teamId: "T" },
        {
          id: "I2",
          name: "Scripts",
          type: "API",
          enabled: true,
          teamId: "T",
          apiKey: "11111111-2222-4333-8444-555555555555",
        },
      ],
    },
    "heartbeats.json": {
      data: {
        heartbeats: [
          {
            name: "backup",
            interval: 2,
            intervalUnit: "hours",
            enabled: true,
            alertMessage: "no backup",
          },
        ],
      },
    },
    "forwardings.json": { data: [{ id: "F", fromUser: who("ann"), toUser: who("bob") }] },
    "policy.json": { id: "P", name: "quiet nights", type: "alert", enabled: true, filter: {} },
  });
  assert.deepEqual(
    project.rules?.map((one) => [one.name, one.match?.sources, one.ladder]),
    [["ops", ["Scripts"], "ops_escalation"]],
  );
  assert.deepEqual(pagesOf("ops"), [
    [0, ["Primary"]],
    [2, ["Primary"]],
    [60, [ann]],
    [120, [ann, bob]],
    [130, ["Primary"]],
    [132, ["Primary"]],
    [190, [ann]],
    [250, [ann, bob]],
  ]);
  assert.deepEqual(
    ladders.map(({ name, steps, imported_from }) => [name, steps[0]?.accounts, imported_from]),
    [
      ["ops_escalation", [], "opsgenie:E1"],
      ["spare", [bob], "opsgenie:E2"],
    ],
    "also the one that no team uses",
  );
  assert.deepEqual(project.heartbeats, [
    { imported_from: "opsgenie:backup", name: "backup", period_seconds: 7200, grace_seconds: 60 },
  ]);
  assert.equal(imported.commands.length, 1);
  for (const [what, how] of [
    ["escalation ops_escalation", /closes the alert.*next on call|next on call.*closes the alert/s],
    ["escalation ops_escalation", /when the alert is acknowledged/],
    ["team ops", /routing rule late isn't imported: it has no conditions/],
    ["integration Sentry", /use the format of Sentry/],
    ["heartbeat backup", /text, priority and team/],
    ["forwarding rule F", /override/],
    ["quiet nights in policy.json", /isn't imported/],
    ["escalation spare", /exact The ladder spare of 1 step\./],
  ] as const)
    assert.match(linesOf(report, what), how, what);
});
