import assert from "node:assert/strict";
import { test } from "node:test";
import { preview } from "../../../src/core/oncall/rotation.ts";
import type { Schedule } from "../../../src/core/oncall/schedule.ts";
import { checkTime, shiftBegins, shiftChecksAt } from "../../../src/core/oncall/shift-check.ts";
import { Zone } from "../../../src/core/oncall/zone.ts";
import fc from "../../support/property.ts";

const HOUR = 3600;
const DAY = 24 * HOUR;
const berlin = (text: string) =>
  Temporal.PlainDateTime.from(text).toZonedDateTime("Europe/Berlin").epochMilliseconds / 1000;

test("a shift is checked as it begins, and in the evening before where it begins in the night", () => {
  const zone = new Zone("Europe/Berlin");
  const times: [begins: string, checked: string][] = [
    ["2026-11-23T09:00", "2026-11-23T09:00"],
    ["2026-11-23T21:59:59", "2026-11-23T21:59:59"],
    ["2026-11-23T22:00", "2026-11-23T21:30"],
    ["2026-11-24T00:00", "2026-11-23T21:30"],
    ["2026-11-24T06:59:59", "2026-11-23T21:30"],
    ["2026-11-24T07:00", "2026-11-24T07:00"],
    // Clocks go back, and forward, in these nights.
    ["2026-10-25T03:30", "2026-10-24T21:30"],
    ["2026-03-29T04:00", "2026-03-28T21:30"],
  ];
  for (const [begins, checked] of times)
    assert.equal(checkTime(berlin(begins), zone), berlin(checked), begins);
});

const from = Date.UTC(2026, 9, 20) / 1000;
const people = fc.constantFrom("ann", "bob", "cy");
const schedules: fc.Arbitrary<Schedule> = fc.record({
  timezone: fc.constantFrom("Europe/Berlin", "America/Chicago", "Australia/Lord_Howe", "UTC"),
  holidays: fc.constant(new Map()),
  layers: fc.array(
    fc.record({
      name: fc.constant("l"),
      participants: fc.array(people, { minLength: 1, maxLength: 3 }),
      rotation_start: fc.integer({ min: -3 * DAY, max: 3 * DAY }).map((by) => from + by),
      shift_minutes: fc.constantFrom(10, 90, 480, 720, 1440, 2880),
      restriction: fc.option(
        fc.record({
          days: fc.constant([]),
          start_minute: fc.integer({ min: 0, max: 1439 }),
          end_minute: fc.integer({ min: 0, max: 1439 }),
        }),
        { nil: null },
      ),
    }),
    { minLength: 1, maxLength: 3 },
  ),
  overrides: fc.array(
    fc.record({
      id: fc.constant("o"),
      account_id: people,
      starts_at: fc.integer({ min: 0, max: 6 * DAY }).map((by) => from + by),
      ends_at: fc.integer({ min: 7 * DAY, max: 8 * DAY }).map((by) => from + by),
    }),
    { maxLength: 2 },
  ),
});

/** By the calendar's own shifts: whoever has one and had none the moment before, for a quarter of an hour at least. */
function begun(schedule: Schedule, until: number): { who: string; at: number }[] {
  const { shifts } = preview(schedule, from, until + DAY);
  const joined: { account_id: string; starts_at: number; ends_at: number }[] = [];
  for (const { account_id, starts_at, ends_at } of shifts) {
    const last = joined.at(-1);
    if (last?.account_id === account_id && last.ends_at === starts_at) last.ends_at = ends_at;
    else joined.push({ account_id, starts_at, ends_at });
  }
  return joined
    .filter(
      ({ starts_at, ends_at }) =>
        starts_at > from && starts_at <= until && ends_at - starts_at >= 900,
    )
    .map(({ account_id, starts_at }) => ({ who: account_id, at: starts_at }));
}

test("each shift of any rotation is checked once, at its time and never in the night, over restarts and a clock set back", () => {
  let compared = 0;
  fc.assert(
    fc.property(
      schedules,
      fc.array(
        fc.record({
          after: fc.integer({ min: 1, max: 60 }),
          back: fc.integer({ min: 0, max: 3 * HOUR }),
        }),
        {
          maxLength: 4,
        },
      ),
      (schedule, jumps) => {
        const until = from + 4 * DAY;
        const zone = new Zone(schedule.timezone);
        const made = new Map<string, number>();
        const left = [...jumps];
        let now = from;
        for (let looks = 0; now < until && looks < 5_000; looks += 1) {
          const { due, next } = shiftChecksAt(schedule, now);
          for (const { account_id, starts_at } of due) {
            const key = `${account_id} ${starts_at}`;
            // What was checked is written down, and left out.
            if (!made.has(key)) made.set(key, now);
          }
          assert.ok(next > now && next <= now + DAY);
          const jump = left[0];
          const isBack = jump !== undefined && looks === jump.after;
          if (isBack) left.shift();
          now = isBack ? Math.max(from, now - jump.back) : next;
        }
        for (const { who, at } of begun(schedule, until)) {
          const expected = checkTime(at, zone);
          if (expected <= from || expected >= until) continue;
          compared += 1;
          assert.equal(
            made.get(`${who} ${at}`),
            expected,
            `${who} ${new Date(at * 1000).toISOString()}`,
          );
          const local = (((expected + zone.offsetAt(expected)) % DAY) + DAY) % DAY;
          assert.ok(local >= 7 * HOUR && local < 22 * HOUR);
        }
      },
    ),
    { numRuns: 60 },
  );
  assert.ok(compared > 100, `only ${compared}`);
});

test("who had it before is named; what is late by an hour, or late into the night, is left", () => {
  const schedule: Schedule = {
    timezone: "Europe/Berlin",
    holidays: new Map(),
    layers: [
      {
        name: "weekly",
        participants: ["ann", "bob"],
        shift_minutes: 1440,
        restriction: null,
        rotation_start: berlin("2026-11-20T21:45"),
      },
    ],
    overrides: [],
  };
  const at = berlin("2026-11-21T21:45");
  const [begin] = shiftBegins(schedule, { from: at - 60, until: at });
  assert.deepEqual(begin, {
    account_id: "bob",
    before: "ann",
    starts_at: at,
    ends_at: at + DAY,
  });
  const due = (now: number) => shiftChecksAt(schedule, now).due.map(({ account_id }) => account_id);
  assert.deepEqual([due(at - 1), due(at), due(at + 14 * 60)], [[], ["bob"], ["bob"]]);
  assert.deepEqual(due(at + 15 * 60), [], "it is ten at night");
  const noon = {
    ...schedule,
    layers: schedule.layers.map((one) => ({ ...one, rotation_start: berlin("2026-11-20T12:00") })),
  };
  const late = (by: number) => shiftChecksAt(noon, berlin("2026-11-21T12:00") + by).due.length;
  assert.deepEqual([late(HOUR - 1), late(HOUR)], [1, 0]);
});
