/** Small exports of each on-call tool, and whom it has on call when; times lie ahead of `now`, Unix seconds. */

export interface TeamExport {
  system: string;
  files: Readonly<Record<string, unknown>>;
  onCall: { schedules: string[]; at: number; people: string[] }[];
}

const DAY = 86_400;
const [ann, bob, eve] = ["ann@example.org", "bob@example.org", "eve@example.org"];

/** The Monday before `now`, and one ahead; nine o'clock UTC. */
function mondays(now: number) {
  const day = Math.floor(now / DAY);
  const monday = (day - ((day + 3) % 7)) * DAY + 9 * 3600;
  return { past: monday - 70 * DAY, ahead: monday + 14 * DAY };
}

const iso = (seconds: number) => new Date(seconds * 1000).toISOString();

export function teams(now: number): TeamExport[] {
  return [pagerduty(now), opsgenie(now), goalert(now), oncall(now)];
}

function pagerduty(now: number): TeamExport {
  const { past, ahead } = mondays(now);
  const ref = (id: string, type = "user_reference") => ({ id, type });
  const person = (id: string, email: string, role = "limited_user") => ({
    id,
    email,
    name: id,
    role,
  });
  const layer = (name: string, people: string[], more: object = {}) => ({
    id: name,
    name,
    start: iso(past),
    end: null,
    rotation_virtual_start: iso(past),
    rotation_turn_length_seconds: 604_800,
    users: people.map((id) => ({ user: ref(id) })),
    ...more,
  });
  const weekend = {
    type: "weekly_restriction",
    start_day_of_week: 6,
    start_time_of_day: "00:00:00",
    duration_seconds: 2 * DAY,
  };
  const schedules = ["Primary"];
  return {
    system: "pagerduty",
    files: {
      "users.json": {
        users: [person("PANN", ann, "admin"), person("PBOB", bob), person("PEVE", eve)],
      },
      "PS1.json": {
        schedule: {
          id: "PS1",
          name: "Primary",
          time_zone: "Etc/UTC",
          schedule_layers: [
            layer("weekend", ["PEVE"], { restrictions: [weekend] }),
            layer("week", ["PANN", "PBOB"]),
          ],
        },
      },
      "overrides-PS1.json": {
        overrides: [{ start: iso(ahead + DAY), end: iso(ahead + 2 * DAY), user: ref("PEVE") }],
      },
      "policies.json": {
        escalation_policies: [
          {
            id: "PE1",
            type: "escalation_policy",
            name: "Default",
            num_loops: 0,
            escalation_rules: [
              { escalation_delay_in_minutes: 30, targets: [ref("PS1", "schedule_reference")] },
            ],
          },
        ],
      },
      "services.json": {
        services: [
          {
            id: "PW",
            name: "Web",
            status: "active",
            escalation_policy: ref("PE1", "policy"),
            integrations: [
              {
                id: "PI1",
                name: "Prometheus",
                integration_key: "0123456789abcdef0123456789abcdef",
              },
            ],
          },
        ],
      },
    },
    onCall: [
      { schedules, at: ahead - 1, people: [bob] },
      { schedules, at: ahead, people: [ann] },
      { schedules, at: ahead + DAY, people: [eve] },
      { schedules, at: ahead + 2 * DAY, people: [ann] },
      { schedules, at: ahead + 5 * DAY, people: [eve] },
      { schedules, at: ahead + 7 * DAY, people: [bob] },
    ],
  };
}

function opsgenie(now: number): TeamExport {
  const { past, ahead } = mondays(now);
  const who = (email: string) => ({ type: "user", id: email, username: email });
  const rotation = (name: string, participants: object[], more: object = {}) => ({
    id: name,
    name,
    startDate: iso(past),
    type: "weekly",
    length: 1,
    participants,
    ...more,
  });
  const nights = {
    type: "time-of-day",
    restriction: { startHour: 20, startMin: 0, endHour: 6, endMin: 0 },
  };
  const schedules = ["Primary", "Primary · 2"];
  return {
    system: "opsgenie",
    files: {
      "users.json": {
        data: [ann, bob, eve].map((email) => ({
          id: email,
          username: email,
          fullName: email,
          role: { name: "User" },
        })),
      },
      "S1.json": {
        schedule: {
          id: "S1",
          name: "Primary",
          timezone: "Etc/UTC",
          enabled: true,
          rotations: [
            rotation("all", [who(ann), who(bob)]),
            rotation("nights", [who(eve), { type: "none" }], { timeRestriction: nights }),
          ],
        },
        scheduleOverrideList: [
          {
            alias: "o",
            user: who(bob),
            rotations: [{ id: "nights" }],
            startDate: iso(ahead + DAY),
            endDate: iso(ahead + 2 * DAY),
          },
        ],
      },
      "escalations.json": {
        data: [
          {
            id: "E1",
            name: "ops",
            rules: [
              {
                condition: "if-not-acked",
                notifyType: "default",
                delay: { timeAmount: 0, timeUnit: "minutes" },
                recipient: { type: "schedule", id: "S1" },
              },
            ],
          },
        ],
      },
    },
    onCall: [
      { schedules, at: ahead, people: [ann] },
      { schedules, at: ahead + 12 * 3600, people: [ann, eve] },
      { schedules, at: ahead + DAY + 12 * 3600, people: [ann, bob] },
      { schedules, at: ahead + 7 * DAY, people: [bob] },
      { schedules, at: ahead + 7 * DAY + 12 * 3600, people: [bob] },
    ],
  };
}

function goalert(now: number): TeamExport {
  const { past, ahead } = mondays(now);
  const always = { start: "00:00", end: "00:00", weekdayFilter: [] };
  const nights = { start: "20:00", end: "06:00", weekdayFilter: [] };
  const target = (id: string, type: string, rule: object) => ({
    target: { id, type, name: id },
    rules: [rule],
  });
  const schedules = ["Primary", "Primary · 2"];
  // Bob is on in the week under way, whatever the start says.
  const isBobs = ((ahead - past) / (7 * DAY)) % 2 === 0;
  return {
    system: "goalert",
    files: {
      "export.json": {
        data: {
          users: { nodes: [ann, bob, eve].map((email) => ({ id: email, name: email, email })) },
          rotations: {
            nodes: [
              {
                id: "R",
                name: "Weekly",
                type: "weekly",
                shiftLength: 1,
                start: iso(past),
                timeZone: "Etc/UTC",
                activeUserIndex: 1,
                userIDs: [ann, bob],
              },
            ],
          },
          schedules: {
            nodes: [
              {
                id: "S",
                name: "Primary",
                timeZone: "Etc/UTC",
                targets: [target("R", "rotation", always), target(eve, "user", nights)],
              },
            ],
          },
        },
      },
    },
    onCall: [
      { schedules, at: ahead, people: [isBobs ? bob : ann] },
      { schedules, at: ahead + 12 * 3600, people: [isBobs ? bob : ann, eve] },
      { schedules, at: ahead + 7 * DAY, people: [isBobs ? ann : bob] },
    ],
  };
}

function oncall(now: number): TeamExport {
  const { past, ahead } = mondays(now);
  const shift = (id: string, more: object) => ({
    id,
    name: id,
    type: "rolling_users",
    level: 0,
    start: iso(past).slice(0, 19),
    duration: 7 * DAY,
    frequency: "weekly",
    interval: 1,
    ...more,
  });
  const schedules = ["Primary", "Primary · 2"];
  return {
    system: "oncall",
    files: {
      "users.json": {
        results: [ann, bob, eve].map((email) => ({ id: email, username: email, email })),
      },
      "schedules.json": {
        results: [
          {
            id: "S1",
            name: "Primary",
            type: "web",
            time_zone: "Etc/UTC",
            shifts: ["base", "second", "weekend"],
          },
        ],
      },
      "shifts.json": {
        results: [
          shift("base", { rolling_users: [[ann], [bob]] }),
          shift("second", { type: "recurrent_event", users: [eve] }),
          shift("weekend", {
            type: "recurrent_event",
            level: 2,
            users: [bob],
            by_day: ["SA", "SU"],
            start: iso(past + 5 * DAY - 9 * 3600).slice(0, 19),
            duration: DAY,
          }),
        ],
      },
    },
    onCall: [
      { schedules, at: ahead, people: [ann, eve] },
      { schedules, at: ahead + 5 * DAY, people: [bob] },
      { schedules, at: ahead + 7 * DAY, people: [bob, eve] },
    ],
  };
}
