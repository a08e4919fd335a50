import assert from "node:assert/strict";
import { test } from "node:test";
import { fromPagerDuty } from "../../../src/records/import/pagerduty/pagerduty.ts";
import { importText, linesOf } from "./read.ts";

const NOW = Date.UTC(2026, 10, 2, 12) / 1000;
const ref = (id: string, type = "user_reference") => ({ id, type, summary: id });
const users = {
  users: [
    {
      id: "PANN",
      type: "user",
      name: "Ann",
      email: "Ann@Example.org",
      role: "owner",
      contact_methods: [ref("c")],
    },
    { id: "PBOB", type: "user", name: "Bob", email: "bob@example.org", role: "limited_user" },
    { id: "PEVE", type: "user", name: "Eve", email: "eve@example.org", role: "read_only_user" },
  ],
  limit: 100,
  offset: 0,
  more: false,
};
const layer = (name: string, people: string[], more: object = {}) => ({
  id: name,
  name,
  start: "2026-01-05T09:00:00-05:00",
  end: null,
  rotation_virtual_start: "2026-01-05T09:00:00-05:00",
  rotation_turn_length_seconds: 604_800,
  users: people.map((id) => ({ user: ref(id) })),
  ...more,
});
const schedule = (more: object) => ({
  schedule: {
    id: "PS1",
    type: "schedule",
    name: "Primary",
    time_zone: "Eastern Time (US & Canada)",
    ...more,
  },
});
const nights = {
  type: "daily_restriction",
  start_time_of_day: "22:00:00",
  duration_seconds: 36_000,
};
const weekend = {
  type: "weekly_restriction",
  start_day_of_week: 5,
  start_time_of_day: "17:00:00",
  duration_seconds: 230_400,
};
const sunday = {
  type: "weekly_restriction",
  start_day_of_week: 7,
  start_time_of_day: "00:00:00",
  duration_seconds: 3600,
};

test("the first layer wins there and the last here; weekdays, Rails' zone, a window over days", () => {
  const { project, report } = importText(fromPagerDuty, NOW, {
    "users.json": users,
    "PS1.json": schedule({
      schedule_layers: [
        layer("cover", ["PBOB"], { restrictions: [weekend, sunday] }),
        layer("nights", ["PANN", "PBOB"], { restrictions: [nights] }),
        layer("old", ["PEVE"], { end: "2026-06-01T00:00:00Z" }),
        layer("base", ["PANN", "PBOB", "PGONE"]),
      ],
    }),
  });
  const [made] = project.schedules ?? [];
  assert.equal(made?.timezone, "America/New_York");
  assert.deepEqual(
    made?.layers?.map(({ name, participants, rotation_start, restriction }) => [
      name,
      participants,
      rotation_start,
      restriction ?? null,
    ]),
    [
      ["base", ["ann@example.org", "bob@example.org", "ann@example.org"], "2026-01-05 09:00", null],
      [
        "nights",
        ["ann@example.org", "bob@example.org"],
        "2026-01-05 09:00",
        { days: [], start_minute: 1320, end_minute: 480 },
      ],
      [
        "cover",
        ["bob@example.org"],
        "2026-01-05 09:00",
        { days: [5], start_minute: 1020, end_minute: 1440 },
      ],
      [
        "cover (2)",
        ["bob@example.org"],
        "2026-01-05 09:00",
        { days: [0, 6], start_minute: 0, end_minute: 1440 },
      ],
      [
        "cover (3)",
        ["bob@example.org"],
        "2026-01-05 09:00",
        { days: [1], start_minute: 0, end_minute: 540 },
      ],
      [
        "cover (4)",
        ["bob@example.org"],
        "2026-01-05 09:00",
        { days: [0], start_minute: 0, end_minute: 60 },
      ],
    ],
  );
  assert.match(linesOf(report, "schedule Primary"), /names the user PGONE, who isn't imported/);
  assert.match(linesOf(report, "schedule Primary"), /1 of 3 turns have nobody/);
  assert.match(linesOf(report, "user Ann"), /ways to be reached \(1\)/);
  assert.match(linesOf(report, "user Eve"), /read_only_user/);
});

test("turns that are counted from later, or begin later, keep their days", () => {
  const { project, report } = importText(fromPagerDuty, NOW, {
    "users.json": users,
    "PS1.json": schedule({
      schedule_layers: [
        layer("virtual", ["PANN", "PBOB"], { rotation_virtual_start: "2026-11-30T09:00:00-05:00" }),
        layer("future", ["PANN", "PBOB"], { start: "2026-12-07T09:00:00-05:00" }),
        layer("midway", ["PANN", "PBOB"], { start: "2026-12-09T09:00:00-05:00" }),
      ],
    }),
  });
  const starts = project.schedules?.[0]?.layers?.map((one) => [
    one.name,
    one.participants[0],
    one.rotation_start,
  ]);
  assert.deepEqual(starts, [
    // 48 weeks after 5 January: an even turn, Ann's.
    ["midway", "ann@example.org", "2026-12-07 09:00"],
    ["future", "ann@example.org", "2026-12-07 09:00"],
    // Five turns before 30 November.
    ["virtual", "bob@example.org", "2026-10-26 09:00"],
  ]);
  assert.match(linesOf(report, "schedule Primary"), /midway begins in the middle of a turn/);
});

const policy = {
  escalation_policies: [
    {
      id: "PE1",
      type: "escalation_policy",
      name: "Default",
      num_loops: 1,
      escalation_rules: [
        { escalation_delay_in_minutes: 30, targets: [ref("PS1", "schedule_reference")] },
        {
          escalation_delay_in_minutes: 15,
          targets: [ref("PANN"), ref("PGONE")],
          escalation_rule_assignment_strategy: "round_robin",
        },
      ],
    },
  ],
};

test("a delay is the wait after its rule; a service is a source, a rule and its old key", () => {
  const { project, report, imported, pagesOf } = importText(fromPagerDuty, NOW, {
    "users.json": users,
    "PS1.json": schedule({ schedule_layers: [layer("base", ["PANN"])] }),
    "policies.json": policy,
    "services.json": {
      services: [
        {
          id: "PW",
          type: "service",
          name: "Web",
          status: "disabled",
          acknowledgement_timeout: 1800,
          auto_resolve_timeout: null,
          escalation_policy: ref("PE1", "escalation_policy_reference"),
          alert_grouping: "intelligent",
          integrations: [
            {
              id: "PI1",
              type: "events_api_v2_inbound_integration",
              name: "Prometheus",
              integration_key: "0123456789abcdef0123456789abcdef",
            },
            {
              id: "PI2",
              type: "generic_email_inbound_integration",
              name: "Mail",
              integration_email: "web@x.pagerduty.com",
            },
          ],
        },
      ],
      teams: [{ id: "T" }],
    },
  });
  assert.deepEqual(pagesOf("Web"), [
    [0, ["Primary"]],
    [30, ["ann@example.org"]],
    [45, ["Primary"]],
    [75, ["ann@example.org"]],
  ]);
  assert.deepEqual(project.sources, [
    { name: "Web", kind: "pagerduty", imported_from: "pagerduty:PW" },
  ]);
  assert.equal(project.rules?.[0]?.ack_expires_minutes, 30);
  assert.deepEqual(imported.commands, [
    'printf %s "$PAGERDUTY_WEB_PROMETHEUS_KEY" | box source add-key pagerduty Web -',
  ]);
  assert.equal(imported.secrets[0]?.value, "0123456789abcdef0123456789abcdef");
  assert.match(linesOf(report, "service Web"), /disabled there.*web@x\.pagerduty\.com/s);
  assert.match(linesOf(report, "services"), /alert_grouping/);
  assert.match(linesOf(report, "escalation policy Default"), /PGONE.*round robin/s);
  assert.match(linesOf(report, "teams of services.json"), /aren't imported/);
});

test("its own rendered shifts are compared with the box's, overrides are to come and told once", () => {
  const week = (n: number, id: string) => ({
    start: new Date(Date.UTC(2026, 10, 2 + 7 * n, 14)).toISOString(),
    end: new Date(Date.UTC(2026, 10, 9 + 7 * n, 14)).toISOString(),
    user: ref(id),
  });
  const override = {
    id: "PO1",
    start: "2026-11-24T14:00:00Z",
    end: "2026-11-25T14:00:00Z",
    user: ref("PBOB"),
  };
  const files = (weeks: object[]) => ({
    "users.json": users,
    "PS1.json": schedule({
      schedule_layers: [layer("base", ["PANN", "PBOB"])],
      final_schedule: { rendered_schedule_entries: weeks },
      overrides_subschedule: { rendered_schedule_entries: [{ ...override, id: "x" }] },
    }),
    "overrides-PS1.json": {
      overrides: [
        override,
        { ...override, id: "PO0", start: "2025-01-01T00:00:00Z", end: "2025-01-02T00:00:00Z" },
      ],
    },
  });
  // Week 43 after 5 January began on 2 November: Bob's.
  const shown = importText(
    fromPagerDuty,
    NOW,
    files([week(0, "PBOB"), week(1, "PANN"), week(2, "PBOB"), week(3, "PANN")]),
  );
  assert.deepEqual(shown.project.schedules?.[0]?.overrides, [
    { person: "bob@example.org", starts_at: "2026-11-24 09:00", ends_at: "2026-11-25 09:00" },
  ]);
  assert.match(
    linesOf(shown.report, "schedule Primary"),
    /^approximate Other people are on call from 2026-11-24 09:00 to 2026-11-25 09:00 \S+: there ann@example\.org, here bob@example\.org\.$/,
  );
  const day = (id: string, from: number, to: number) => ({
    start: new Date(Date.UTC(2026, 10, from, 14)).toISOString(),
    end: new Date(Date.UTC(2026, 10, to, 14)).toISOString(),
    user: ref(id),
  });
  const right = [
    week(0, "PBOB"),
    week(1, "PANN"),
    week(2, "PBOB"),
    day("PANN", 23, 24),
    day("PBOB", 24, 25),
    day("PANN", 25, 30),
  ];
  assert.match(
    linesOf(importText(fromPagerDuty, NOW, files(right)).report, "schedule Primary"),
    /^exact Its shifts of the next 28 days/,
  );
});

test("an override that began long ago is taken from now on, in pieces of 90 days", () => {
  const { project } = importText(fromPagerDuty, NOW, {
    "users.json": users,
    "PS1.json": schedule({ schedule_layers: [layer("base", ["PANN"])] }),
    "overrides.json": {
      overrides: [
        { start: "1970-01-01T00:00:00Z", end: "2027-01-01T00:00:00Z", user: ref("PBOB") },
      ],
    },
  });
  const overrides = project.schedules?.[0]?.overrides ?? [];
  assert.deepEqual([overrides.length, overrides[0]?.starts_at], [2, "2026-09-03 20:00"]);
});

test("what can't be taken is named: unknown zones, lists without layers, newer schedules, pages that are missing", () => {
  const { project, report } = importText(fromPagerDuty, NOW, {
    "users.json": { ...users, limit: 3, more: true },
    "a.json": schedule({ id: "A", name: "A", time_zone: "Middle Earth", schedule_layers: [] }),
    "b.json": { schedules: [{ id: "B", name: "B", time_zone: "UTC" }] },
    "c.json": {
      schedule: { id: "C", type: "schedule_v3", name: "C", time_zone: "UTC", rotations: [{}] },
    },
    "d.json": { hello: 1 },
    "policies.json": policy,
  });
  assert.deepEqual(project.schedules, []);
  for (const [what, how] of [
    ["users.json", /next page/],
    ["schedule A", /Middle Earth/],
    ["schedule B", /also fetch \/schedules\/B/],
    ["schedule C", /shift-based/],
    ["d.json", /nothing that the import knows/],
    ["escalation policy Default", /names the schedule PS1/],
  ] as const)
    assert.match(linesOf(report, what), how, what);
  assert.throws(
    () => fromPagerDuty.read([{ name: "x.json", text: "{" }], { now: NOW, project: null }),
    /^ImportFault: x\.json: |x\.json: /,
  );
});
