import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cronOfCalendar } from "../../../src/in/heartbeats/on-calendar.ts";
import { nextTime } from "../../../src/in/heartbeats/times.ts";
import { long, test } from "../../support/long.ts";
import fc from "../../support/property.ts";

test("OnCalendar expressions of systemd's timers become cron fields", () => {
  const table = {
    daily: "0 0 * * *",
    hourly: "0 * * * *",
    weekly: "0 0 * * 1",
    quarterly: "0 0 1 1,4,7,10 *",
    "Mon..Fri 03:00": "0 3 * * 1,2,3,4,5",
    "Sat..Sun,Mon 03:00": "0 3 * * 0,1,6",
    "*-*-01 04:30:00": "30 4 1 * *",
    "04-01 12:00": "0 12 1 4 *",
    "*:0/15": "0-59/15 * * * *",
    "8..17/2:00": "0 8-17/2 * * *",
    Sunday: "0 0 * * 0",
  };
  for (const [text, cron] of Object.entries(table))
    assert.deepEqual(cronOfCalendar(text), { cron, timezone: null }, text);
  assert.deepEqual(cronOfCalendar("daily Europe/Vienna"), {
    cron: "0 0 * * *",
    timezone: "Europe/Vienna",
  });
  for (const text of [
    "2026-01-01 00:00",
    "*-*~01",
    "Mon *-*-01",
    "03:00:30",
    "25:00",
    "Foo 03:00",
    "*-13-01",
    "03:00 UTC more",
    "*-*-0",
    "1..:00",
    "*:0/0",
    "",
    "Mon..Tue..Wed",
    "17..8:00",
    "Sat..Mon 03:00",
  ])
    if (text !== "") assert.equal(typeof cronOfCalendar(text), "string", text);
});

const systemd = spawnSync("systemd-analyze", ["--version"]).status === 0;

long(
  "the cron times of an OnCalendar expression are systemd's",
  {
    skip: !systemd && "needs systemd-analyze",
  },
  () => {
    const many = (low: number, high: number) => {
      const one = fc.integer({ min: low, max: high });
      const range = fc.tuple(one, one).map(([a, b]) => `${Math.min(a, b)}..${Math.max(a, b)}`);
      const step = fc.tuple(one, fc.integer({ min: 1, max: 20 })).map(([a, b]) => `${a}/${b}`);
      return fc.oneof(fc.constant("*"), one.map(String), range, step);
    };
    const time = fc.tuple(many(0, 23), many(0, 59)).map(([h, m]) => `${h}:${m}`);
    const day = fc.constantFrom("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun");
    const days = fc.oneof(
      day,
      fc.tuple(day, day).map(([a, b]) => `${a}..${b}`),
    );
    const date = fc.tuple(many(1, 12), many(1, 28)).map(([m, d]) => `*-${m}-${d}`);
    const texts = fc.oneof(
      time,
      fc.tuple(days, time).map((parts) => parts.join(" ")),
      fc.tuple(date, time).map((parts) => parts.join(" ")),
    );
    const cases: string[] = fc.sample(texts, { numRuns: 80, seed: 4711 });
    const from = 1_767_225_600;
    const env = { ...process.env, TZ: "UTC", LANG: "C" };
    const base = ["calendar", "--iterations=3", "--base-time=2026-01-01 00:00:00 UTC"];
    let compared = 0;
    for (const text of cases) {
      const asked = spawnSync("systemd-analyze", [...base, `${text} UTC`], {
        encoding: "utf8",
        env,
      });
      const times = cronOfCalendar(text);
      // systemd refuses a step past the end.
      if (asked.status !== 0) continue;
      compared += 1;
      assert.ok(typeof times !== "string", `${text}: ${times}`);
      const found = asked.stdout.matchAll(/(?:Next elapse|Iter\. #\d+): \w+ (\S+) (\S+) UTC/g);
      const theirs = [...found].map(([, date, clock]) => Date.parse(`${date}T${clock}Z`) / 1000);
      assert.equal(theirs.length, 3, asked.stdout);
      const ours: number[] = [];
      for (let at: number | null = from; ours.length < 3 && at !== null; ) {
        at = nextTime({ period: null, cron: times.cron, timezone: "UTC" }, at);
        if (at !== null) ours.push(at);
      }
      assert.deepEqual(ours, theirs, `${text} as ${times.cron}`);
    }
    assert.ok(compared > 40, `${compared}`);
  },
);

test("any text becomes cron fields or a sentence that says why not", () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 60 }), (text) => {
      const times = cronOfCalendar(text);
      if (typeof times === "string") assert.ok(times.length > 0);
      else assert.equal(times.cron.split(" ").length, 5);
    }),
  );
});
