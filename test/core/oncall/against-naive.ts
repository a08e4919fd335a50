import assert from "node:assert/strict";
import {
  type Duty,
  followDuties,
  preview,
  whoIsOnCall,
} from "../../../src/core/oncall/rotation.ts";
import type { Layer, Schedule } from "../../../src/core/oncall/schedule.ts";
import { finish } from "../../../src/ground/kit/slices.ts";
import fc from "../../support/property.ts";
import { NOBODY, naiveRoster, peopleAt, watchClock } from "./naive.ts";

/**
 * The evaluator against the naive one in naive.ts. `preview` is compared at every minute of every
 * schedule; `whoIsOnCall` and `followDuties` around changes and at random minutes, or at every minute.
 */

export const PEOPLE = ["ada", "ben", "cy", "dee"];
const DAY = 86_400;
const WINDOW_MINUTES = 90 * 1440;
/** Watched before a window, so that rotations may have started before it. */
const LEAD_DAYS = 40;

/** Windows of 90 days, one around each of a year's two clock changes. */
export const WINDOWS: Record<string, string[]> = {
  "Europe/London": ["2026-02-10", "2026-09-15"],
  "America/Chicago": ["2027-02-01", "2027-10-01"],
  "Australia/Lord_Howe": ["2026-02-20", "2026-08-25"],
  "Asia/Kolkata": ["2026-02-10", "2026-09-15"],
};

export const day = (date: string) => Date.parse(`${date}T00:00Z`) / 1000;

const clocks = Object.entries(WINDOWS).flatMap(([zone, dates]) =>
  dates.map((date) => {
    const minutes = LEAD_DAYS * 1440 + WINDOW_MINUTES;
    return watchClock(zone, day(date) - LEAD_DAYS * DAY, minutes);
  }),
);

/** Minutes of the day, mostly where clocks change. */
const minuteOfDay = fc.oneof(
  fc.integer({ min: 0, max: 1439 }),
  fc.integer({ min: 50, max: 190 }),
  fc.constantFrom(0, 60, 90, 120, 540, 1380, 1439),
);
const seconds = fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, fc.integer({ max: 59, min: 1 }));

const layers = fc.array(
  fc.record({
    // Of four people and nobody, so that turns of nobody come often.
    participants: fc.array(fc.constantFrom(...PEOPLE, null), { minLength: 1, maxLength: 5 }),
    startDay: fc.oneof(
      fc.integer({ min: 0, max: LEAD_DAYS }),
      fc.integer({ min: 0, max: LEAD_DAYS + 95 }),
    ),
    startMinute: minuteOfDay,
    startSecond: seconds,
    take: fc.constantFrom(1, 1, 2, 3, 5),
    shift_minutes: fc.oneof(
      fc.constantFrom(1440, 1440, 2880, 10_080, 20_160, 480, 720, 60, 1380, 1500, 7, 1),
      fc.integer({ min: 1, max: 20_000 }),
      fc.integer({ min: 1, max: 20 }).map((days) => days * 1440),
    ),
    restriction: fc.option(
      fc.record({
        days: fc.uniqueArray(fc.integer({ min: 0, max: 6 }), { maxLength: 7 }),
        start_minute: minuteOfDay,
        end_minute: fc.oneof(minuteOfDay, fc.constant(1440)),
        holidays: fc.option(
          fc.record({ calendar: fc.constantFrom("A", "B"), mode: fc.constantFrom("out", "only") }),
        ),
      }),
    ),
  }),
  { maxLength: 4 },
);

const overrides = fc.array(
  fc.record({
    account_id: fc.constantFrom(...PEOPLE),
    start: fc.integer({ min: -5 * 1440, max: 95 * 1440 }),
    startSecond: seconds,
    minutes: fc.oneof(fc.integer({ min: 1, max: 180 }), fc.integer({ min: 1, max: 20 * 1440 })),
  }),
  { maxLength: 5 },
);

/** A few days of the year, many together, or none. */
const calendar = fc.oneof(
  fc.uniqueArray(fc.nat(LEAD_DAYS + 100), { maxLength: 12 }),
  fc
    .tuple(fc.nat(LEAD_DAYS + 60), fc.integer({ min: 8, max: 40 }))
    .map(([from, length]) => Array.from({ length }, (_, i) => from + i)),
);

const model = fc.record({
  calendars: fc.tuple(calendar, calendar),
  clock: fc.constantFrom(...clocks),
  layers,
  overrides,
  sampled: fc.array(fc.nat(WINDOW_MINUTES - 1), { minLength: 40, maxLength: 40 }),
});
type Model = typeof model extends fc.Arbitrary<infer M> ? M : never;

/** The model's schedule with its days counted from the start of its clock. */
function scheduleOf({ clock, calendars, layers, overrides }: Model): Schedule {
  const windowStart = clock.from + LEAD_DAYS * DAY;
  return {
    timezone: clock.zone,
    holidays: new Map(
      calendars.map((days, i) => [
        "AB".charAt(i),
        new Set(days.map((one) => Math.floor(clock.base / 1440) + one)),
      ]),
    ),
    layers: layers.map(({ startDay, startMinute, startSecond, ...drawn }, i): Layer => {
      const { restriction: given, ...rest } = drawn;
      const { holidays, ...hours } = given ?? {};
      const restriction =
        given === null
          ? null
          : ({ ...hours, ...(holidays && { holidays }) } as Layer["restriction"]);
      const layer = { ...rest, restriction };
      // The minute at which the wall shows about this time; the exact one is no matter here.
      const shown = (startDay + Math.ceil(clock.base / 1440)) * 1440 + startMinute;
      const m = clock.first[Math.min(shown - clock.base, clock.first.length - 1)] ?? 0;
      const rotation_start = clock.from + Math.max(0, m) * 60 + startSecond;
      return { name: `layer ${i}`, ...layer, rotation_start };
    }),
    overrides: overrides.map(({ account_id, start, startSecond, minutes }, i) => {
      const starts_at = windowStart + start * 60 + startSecond;
      return { id: `override ${i}`, account_id, starts_at, ends_at: starts_at + minutes * 60 };
    }),
  };
}

/** A random schedule and a fortnight of it, Unix seconds. */
export const anySchedule = model.map((drawn) => {
  const from = drawn.clock.from + (LEAD_DAYS + ((drawn.sampled[0] ?? 0) % 70)) * DAY;
  return { schedule: scheduleOf(drawn), from, until: from + 14 * DAY };
});

const UNCLAIMED = -1;
/** Of a gap, beside a bit for each person. */
const GAP = 1 << PEOPLE.length;

/** Who is on call at each minute, in whatever order: a bit each, and one where nobody is. */
export function asSets(roster: Int32Array): Int32Array {
  return roster.map((code) =>
    code === NOBODY ? GAP : peopleAt(code).reduce((bits, who) => bits | (1 << who), 0),
  );
}

/** The preview at each minute, as sets; asked for again from where it stopped. Shifts and gaps must cover it. */
export function paintPreview(schedule: Schedule, from: number, minutes: number): Int32Array {
  const roster = new Int32Array(minutes).fill(UNCLAIMED);
  const until = from + minutes * 60;
  for (let at = from; at < until; ) {
    const part = preview(schedule, at, until);
    const people = part.shifts.map((shift) => ({
      ...shift,
      bit: 1 << PEOPLE.indexOf(shift.account_id),
    }));
    const gaps = part.gaps.map((gap) => ({ ...gap, bit: GAP }));
    for (const { starts_at, ends_at, bit } of [...people, ...gaps]) {
      const end = Math.ceil((ends_at - from) / 60);
      for (let m = Math.ceil((starts_at - from) / 60); m < end; m += 1) {
        const before = Math.max(0, roster[m] ?? 0);
        if (before & bit) assert.fail(`minute ${m} is claimed twice`);
        roster[m] = before | bit;
      }
    }
    assert.ok(part.until > at, "the preview gets on");
    at = part.until;
  }
  return roster;
}

export function assertSameRoster(actual: Int32Array, expected: Int32Array, from: number): void {
  for (let m = 0; m < expected.length; m += 1) {
    if (actual[m] === expected[m]) continue;
    const when = new Date((from + m * 60) * 1000).toISOString();
    assert.fail(`${when}: ${setName(actual[m])}, but naively ${setName(expected[m])}`);
  }
}

function setName(bits = UNCLAIMED): string {
  return [...PEOPLE, "nobody"].filter((_, i) => bits & (1 << i)).join(" and ") || "unclaimed";
}

const namesOf = (code: number | undefined): string[] =>
  peopleAt(code ?? NOBODY).map((who) => PEOPLE[who] ?? "");

/** The minutes at which to ask one by one: around each change (at most 40 of them), and the given. */
function minutesToAsk(roster: Int32Array, sampled: number[]): number[] {
  const changes: number[] = [];
  for (let m = 1; m < roster.length; m += 1) if (roster[m] !== roster[m - 1]) changes.push(m);
  const stride = Math.max(1, Math.floor(changes.length / 40));
  const chosen = changes.filter((_, i) => i % stride === 0);
  return [...sampled, ...chosen.flatMap((m) => [m - 1, m])];
}

/** For each minute the first and the first-no-more of the run around it in which this person is on call or isn't. */
function runsOf(roster: Int32Array, who: number): { begins: Int32Array; ends: Int32Array } {
  // Few codes in many minutes.
  const known = new Map([...new Set(roster)].map((code) => [code, peopleAt(code).includes(who)]));
  const has = Uint8Array.from(roster, (code) => Number(known.get(code)));
  const begins = new Int32Array(has.length);
  const ends = new Int32Array(has.length).fill(has.length);
  for (let m = 1; m < has.length; m += 1)
    begins[m] = has[m] === has[m - 1] ? (begins[m - 1] ?? 0) : m;
  for (let m = has.length - 2; m >= 0; m -= 1)
    ends[m] = has[m] === has[m + 1] ? (ends[m + 1] ?? 0) : m + 1;
  return { begins, ends };
}

interface Expected {
  roster: Int32Array;
  /** By person. */
  runs: ReturnType<typeof runsOf>[];
  from: number;
  /** Whether everything happens on whole minutes, so that the minutes tell all. */
  exact: boolean;
}

/** Everybody's stretch where that begins or ends within the roster, in the order of the row. */
function assertDuties(duties: Duty[], m: number, { roster, runs, from, exact }: Expected) {
  const whose = duties.map(({ account_id }) => account_id);
  assert.deepEqual(whose, namesOf(roster[m]), `minute ${m}`);
  for (const { account_id, starts_at, ends_at } of duties) {
    const begins = Math.max(0, Math.ceil((starts_at - from) / 60));
    const ends = Math.min(roster.length, Math.ceil(((ends_at ?? Infinity) - from) / 60));
    assert.ok(begins <= m && m < ends, "the stretch holds the instant");
    const run = runs[PEOPLE.indexOf(account_id)];
    const [first = 0, last = 0] = [run?.begins[m], run?.ends[m]];
    if (exact) assert.deepEqual([begins, ends], [first, last], `stretch at minute ${m}`);
    // It may be interrupted between two whole minutes, which the roster doesn't show.
    else assert.ok(begins >= first && ends <= last, `minute ${m}`);
  }
}

/** `count` random schedules over 90 days with a clock change; says how much was compared. */
export function compareWithNaive(count: number, how: { everyMinute: boolean }): string {
  let minutes = 0;
  let asked = 0;
  fc.assert(
    fc.property(model, (drawn) => {
      asked += compare(drawn, how.everyMinute);
      minutes += WINDOW_MINUTES;
    }),
    { numRuns: count },
  );
  return `${minutes} minutes compared, ${asked} instants asked one by one`;
}

/** Compares one; how many instants were asked for one by one. */
function compare(drawn: Model, everyMinute: boolean): number {
  const { clock } = drawn;
  const schedule = scheduleOf(drawn);
  const from = clock.from + LEAD_DAYS * DAY;
  const roster = naiveRoster(schedule, clock, PEOPLE).slice(LEAD_DAYS * 1440);
  assertSameRoster(paintPreview(schedule, from, WINDOW_MINUTES), asSets(roster), from);
  const exact = [...drawn.layers, ...drawn.overrides].every(({ startSecond }) => startSecond === 0);
  const runs = PEOPLE.map((_, who) => runsOf(roster, who));
  const expected = { roster, runs, from, exact };
  const chosen = everyMinute ? Array.from(roster.keys()) : minutesToAsk(roster, drawn.sampled);
  for (const m of chosen) {
    const at = from + m * 60;
    assert.deepEqual(whoIsOnCall(schedule, at), namesOf(roster[m]));
    assertDuties(finish(followDuties(schedule, at)), m, expected);
  }
  return chosen.length;
}
