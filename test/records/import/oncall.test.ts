import assert from "node:assert/strict";
import { test } from "node:test";
import { fromOnCall } from "../../../src/records/import/oncall/oncall.ts";
import { importText, linesOf } from "./read.ts";

const NOW = Date.UTC(2026, 10, 2, 12) / 1000;
const [ann, bob, eve] = ["ann@example.org", "bob@example.org", "eve@example.org"];
const page = (results: object[]) => ({
  count: results.length,
  next: null,
  previous: null,
  results,
});
const users = page([
  { id: "UA", username: "ann", email: ann, role: "admin", teams: ["T"], slack: [{ user_id: "x" }] },
  { id: "UB", username: "bob", email: bob, role: "user", teams: ["T"] },
  { id: "UE", username: "eve", email: eve, role: "viewer", teams: [] },
]);
const shift = (id: string, more: object) => ({
  id,
  name: id,
  type: "rolling_users",
  time_zone: null,
  level: 0,
  start: "2026-01-05T09:00:00",
  duration: 604_800,
  frequency: "weekly",
  interval: 1,
  week_start: "MO",
  by_day: null,
  until: null,
  ...more,
});
const schedule = (more: object) => ({
  id: "S1",
  name: "Primary",
  type: "calendar",
  time_zone: "Europe/Berlin",
  ...more,
});

function read(shifts: object[], more: Record<string, unknown> = {}, of: object = {}) {
  const ids = shifts.map((one) => (one as { id: string }).id);
  const made = importText(fromOnCall, NOW, {
    "users.json": users,
    "schedules.json": page([schedule({ shifts: ids, ...of })]),
    "on_call_shifts.json": page(shifts),
    ...more,
  });
  const layers = made.project.schedules?.map(({ layers: all }) =>
    (all ?? []).map((one) => [
      one.name,
      one.participants.join(),
      one.rotation_start,
      one.shift_minutes,
      one.restriction ?? null,
    ]),
  );
  return { ...made, layers, said: linesOf(made.report, "schedule Primary") };
}

test("a start is local, people at once and of one level are together, a higher level hides those below", () => {
  const { layers } = read([
    shift("base", { rolling_users: [["UA"], ["UB"]] }),
    shift("pair", {
      level: 1,
      rolling_users: [["UA", "UE"]],
      by_day: ["SA", "SU"],
      start: "2026-01-10T00:00:00",
      duration: 86_400,
    }),
  ]);
  assert.deepEqual(layers, [
    [
      ["base", [ann, bob].join(), "2026-01-05 09:00", 10_080, null],
      [
        "pair",
        eve,
        "2026-01-05 00:00",
        10_080,
        { days: [0, 6], start_minute: 0, end_minute: 1440 },
      ],
      [
        "pair · 2",
        ann,
        "2026-01-05 00:00",
        10_080,
        { days: [0, 6], start_minute: 0, end_minute: 1440 },
      ],
    ],
    [
      [
        "pair",
        ann,
        "2026-01-05 00:00",
        10_080,
        { days: [0, 6], start_minute: 0, end_minute: 1440 },
      ],
      [
        "pair · 2",
        eve,
        "2026-01-05 00:00",
        10_080,
        { days: [0, 6], start_minute: 0, end_minute: 1440 },
      ],
    ],
  ]);
});

test("where a rotation begins, nights past midnight, days of a week whose turns change with it", () => {
  const { layers, said } = read([
    shift("nights", {
      rolling_users: [["UA"], ["UB"], [], ["UE"]],
      start_rotation_from_user_index: 1,
      by_day: ["MO", "TU", "WE", "TH", "FR"],
      start: "2026-01-07T18:00:00",
      duration: 50_400,
    }),
    shift("days", {
      type: "recurrent_event",
      users: ["UE"],
      frequency: "daily",
      start: "2026-01-05T08:00:00",
      duration: 36_000,
    }),
    shift("past", { rolling_users: [["UA"]], until: "2026-05-01T00:00:00" }),
  ]);
  assert.deepEqual(layers, [
    [
      [
        "nights",
        [bob, null, eve, ann].join(),
        "2026-01-05 18:00",
        10_080,
        { days: [1, 2, 3, 4, 5], start_minute: 1080, end_minute: 480 },
      ],
      ["days", eve, "2026-01-05 08:00", 1440, { days: [], start_minute: 480, end_minute: 1080 }],
    ],
  ]);
  assert.match(
    said,
    /^exact Its shift past ended at 2026-05-01T00:00:00 .*\napproximate Its shifts weren't compared/,
  );
});

test("overrides; several at once; a shift in another zone; shifts with holes are told", () => {
  const made = read([
    shift("base", { rolling_users: [["UA"]] }),
    shift("o", {
      type: "override",
      level: 99,
      time_zone: "UTC",
      start: "2026-12-24T08:00:00",
      duration: 259_200,
      users: ["UB"],
    }),
    shift("gone", { type: "override", start: "2026-01-24T08:00:00", users: ["UB"] }),
    shift("fortnight", { rolling_users: [["UE"], ["UB"]], interval: 2, time_zone: "Asia/Tokyo" }),
  ]);
  assert.deepEqual(
    made.project.schedules?.map((one) => [
      one.timezone,
      one.overrides?.map(({ person, starts_at, ends_at }) => [person, starts_at, ends_at]),
    ]),
    [
      ["Europe/Berlin", [[bob, "2026-12-24 09:00", "2026-12-27 09:00"]]],
      ["Asia/Tokyo", [[bob, "2026-12-24 17:00", "2026-12-27 17:00"]]],
    ],
  );
  assert.match(made.said, /fortnight covers 10080 of the 20160 minutes/);
});

test("what turns by months, or comes from a calendar, is taken as it was rendered", () => {
  const final = (user: string, from: string, to: string) => ({
    user_pk: user,
    user_email: "",
    user_username: user,
    shift_start: from,
    shift_end: to,
  });
  const finals = page([
    final("UA", "2026-11-02T00:00:00Z", "2026-11-10T00:00:00Z"),
    final("UB", "2026-11-05T00:00:00Z", "2026-11-06T00:00:00Z"),
    final("UE", "2026-11-10T00:00:00Z", "2026-11-12T00:00:00Z"),
  ]);
  const monthly = shift("monthly", { rolling_users: [["UA"]], frequency: "monthly" });
  for (const made of [
    read([monthly], { "final-S1.json": finals }),
    read(
      [],
      { "final-S1.json": finals },
      { type: "ical", ical_url_primary: "https://example.org/c.ics" },
    ),
  ]) {
    assert.deepEqual(
      made.project.schedules?.map(({ overrides }) => overrides?.map(({ person }) => person)),
      [[ann, eve], [bob]],
    );
    assert.match(made.said, /until 2026-11-12, are overrides/);
    assert.match(made.said, /exact Its shifts of the next 10 days are Grafana OnCall's own\./);
  }
  assert.match(read([monthly]).said, /impossible It has shifts that turn by months/);
});

test("a chain's waits move its clock; routes, webhooks and times of day are told; an address's key is let in", () => {
  const policy = (position: number, type: string, more: object = {}) => ({
    id: `E${position}`,
    escalation_chain_id: "C",
    position,
    type,
    ...more,
  });
  const { project, report, imported, pagesOf } = read(
    [shift("base", { rolling_users: [["UA"]] })],
    {
      "webhooks.json": page([{ id: "W", name: "restart", url: "https://example.org/" }]),
      "chains.json": page([{ id: "C", name: "default", team_id: null }]),
      "escalation_policies.json": page([
        policy(1, "wait", { duration: 330 }),
        policy(0, "notify_on_call_from_schedule", {
          notify_on_call_from_schedule: "S1",
          important: true,
        }),
        policy(2, "notify_persons", { persons_to_notify: ["UB"] }),
        policy(3, "notify_if_time_from_to", {
          notify_if_time_from: "09:00:00Z",
          notify_if_time_to: "18:00:00Z",
        }),
        policy(4, "notify_team_members", { notify_to_team_members: "T" }),
        policy(5, "trigger_webhook", { action_to_trigger: "W" }),
        policy(6, "wait", { duration: 600 }),
        policy(7, "repeat_escalation"),
      ]),
      "integrations.json": page([
        {
          id: "I",
          name: "Alertmanager",
          type: "alertmanager",
          link: "https://oncall.example.org/integrations/v1/alertmanager/AbCdEf012345678901234567/",
          default_route: { id: "RD", escalation_chain_id: "C", slack: { enabled: true } },
        },
      ]),
      "routes.json": page([
        {
          id: "R1",
          integration_id: "I",
          escalation_chain_id: "C",
          routing_type: "regex",
          routing_regex: "us-east",
          position: 0,
          is_the_last_route: false,
        },
      ]),
    },
  );
  assert.equal(project.rules?.[0]?.ladder, "default");
  const steps = pagesOf("Alertmanager");
  assert.deepEqual(steps.slice(0, 4), [
    [0, ["Primary"]],
    [6, [bob, ann]],
    [16, ["Primary"]],
    [22, [bob, ann]],
  ]);
  assert.deepEqual([steps.length, steps.at(-1)], [12, [86, [bob, ann]]]);
  assert.deepEqual(imported.commands, [
    'printf %s "$ONCALL_ALERTMANAGER_KEY" | box source add-key oncall Alertmanager -',
  ]);
  for (const [what, how] of [
    ["escalation chain default", /important alerts.*from 09:00:00Z.*webhook W/s],
    [
      "integration Alertmanager",
      /notifies slack.*route us-east \(regex\) isn't imported: a pattern/s,
    ],
    ["webhooks.json", /imported: restart\./],
    ["user eve", /As viewer/],
    ["users", /slack/],
  ] as const)
    assert.match(linesOf(report, what), how, what);
});
