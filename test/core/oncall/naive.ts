import type { Layer, Schedule } from "../../../src/core/oncall/schedule.ts";

/**
 * The rules for on-call schedules once more, written to be obviously right instead of fast: a wall
 * clock is watched minute by minute, and each rule paints its minutes over the ones before it. It
 * shares nothing with the evaluator: the wall clock comes from Intl, not from Temporal, and there is
 * no arithmetic on offsets. Starts of rotations must lie within the watched minutes.
 */

/** What the wall clock shows at each minute of a stretch. */
export interface WallClock {
  zone: string;
  /** Unix seconds of minute 0. */
  from: number;
  minutes: number;
  /** Civil minute (minutes since 1 January 1970 00:00 on the wall) shown at minute m. */
  civil: Int32Array;
  /** Minute at which the wall first and last shows civil minute `base + i`; -1 if it never does. */
  base: number;
  first: Int32Array;
  last: Int32Array;
}

export const NOBODY = 0;

/** Watches the clock on the wall for `minutes` from `from` (a multiple of 900 seconds). */
export function watchClock(zone: string, from: number, minutes: number): WallClock {
  const wall = new Intl.DateTimeFormat("en-US-u-hc-h23", {
    timeZone: zone,
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
  });
  const civil = new Int32Array(minutes);
  for (let m = 0; m < minutes; m += 15) {
    // Clocks change on quarter hours, so between two of them a minute is a minute.
    const shown = civilMinute(wall, from + m * 60);
    for (let i = m; i < Math.min(m + 15, minutes); i += 1) civil[i] = shown + (i - m);
  }
  const base = civil.reduce((a, b) => Math.min(a, b));
  const length = civil.reduce((a, b) => Math.max(a, b)) - base + 1;
  const first = new Int32Array(length).fill(-1);
  const last = new Int32Array(length).fill(-1);
  civil.forEach((shown, m) => {
    if (first[shown - base] === -1) first[shown - base] = m;
    last[shown - base] = m;
  });
  return { zone, from, minutes, civil, base, first, last };
}

function civilMinute(wall: Intl.DateTimeFormat, at: number): number {
  const parts: Record<string, number> = {};
  for (const { type, value } of wall.formatToParts(at * 1000)) parts[type] = Number(value);
  const { year = 0, month = 0, day = 0, hour = 0, minute = 0 } = parts;
  return Date.UTC(year, month - 1, day, hour, minute) / 60_000;
}

/** The minute at which the wall shows this; one that it jumps over moves forward by the jump. */
function minuteOf(clock: WallClock, shown: number, which: "first" | "last"): number {
  const index = shown - clock.base;
  if (index < 0) return Number.NEGATIVE_INFINITY;
  if (index >= clock.first.length) return Number.POSITIVE_INFINITY;
  if (clock.first[index] !== -1) return clock[which][index] ?? 0;
  let before = index;
  while (clock.first[before] === -1) before -= 1;
  let after = index;
  while (clock.first[after] === -1) after += 1;
  const jump = after - before - 1;
  return clock[which][index + jump] ?? 0;
}

/** Whom a minute has, their first one first: by their indexes in `people`, plus one, in octal digits from the right. */
export function peopleAt(code: number): number[] {
  const found: number[] = [];
  for (let rest = code; rest > 0; rest = Math.floor(rest / 8)) found.push((rest % 8) - 1);
  return found;
}

/** For each minute the code of who is on call, or NOBODY. Of seven people at most. */
export function naiveRoster(schedule: Schedule, clock: WallClock, people: string[]): Int32Array {
  const roster = new Int32Array(clock.minutes).fill(NOBODY);
  for (const layer of schedule.layers) {
    const turns = paintTurns(layer, clock, people);
    const open = paintRestriction(layer, clock, schedule.holidays);
    for (let m = 0; m < clock.minutes; m += 1) {
      const who = turns[m] ?? NOBODY;
      if (open[m] === 1 && who !== NOBODY) roster[m] = who;
    }
  }
  for (const { account_id, starts_at, ends_at } of schedule.overrides) {
    const who = people.indexOf(account_id) + 1;
    for (let m = 0; m < clock.minutes; m += 1) {
      const at = clock.from + m * 60;
      if (starts_at <= at && at < ends_at) roster[m] = who;
    }
  }
  return roster;
}

/** Whom the turn that begins with each place of the row has on call, as codes. */
function codesOf({ participants, take = 1 }: Layer, people: string[]): number[] {
  return participants.map((first, at) => {
    if (first === null) return NOBODY;
    const called: string[] = [];
    for (let step = 0; step < participants.length && called.length < take; step += 1) {
      const next = participants[(at + step) % participants.length];
      if (next && !called.includes(next)) called.push(next);
    }
    return called.reduceRight((code, one) => code * 8 + people.indexOf(one) + 1, 0);
  });
}

/** Whom the turn has at each minute, as if there were no restriction. */
function paintTurns(layer: Layer, clock: WallClock, people: string[]): Int32Array {
  const turns = new Int32Array(clock.minutes).fill(NOBODY);
  const startMinute = Math.floor((layer.rotation_start - clock.from) / 60);
  const seconds = layer.rotation_start - clock.from - startMinute * 60;
  const order = codesOf(layer, people);
  let handovers = 0;
  let who = order[0] ?? NOBODY;
  let next = handoverMinute(layer, clock, { startMinute, seconds, number: 1 });
  for (let m = 0; m < clock.minutes; m += 1) {
    if (clock.from + m * 60 < layer.rotation_start) continue;
    while (m >= next) {
      handovers += 1;
      who = order[handovers % order.length] ?? NOBODY;
      next = handoverMinute(layer, clock, { startMinute, seconds, number: handovers + 1 });
    }
    turns[m] = who;
  }
  return turns;
}

/** The first whole minute at or after the given hand-over. */
function handoverMinute(
  layer: Layer,
  clock: WallClock,
  which: { startMinute: number; seconds: number; number: number },
): number {
  const past = which.number * layer.shift_minutes;
  const late = which.seconds > 0 ? 1 : 0;
  if (layer.shift_minutes % 1440 !== 0) return which.startMinute + past + late;
  const shown = clock.civil[which.startMinute] ?? 0;
  return minuteOf(clock, shown + past, "first") + late;
}

/** 1 for each minute that the layer's restriction lets through. */
function paintRestriction(
  layer: Layer,
  clock: WallClock,
  calendars: Schedule["holidays"],
): Uint8Array {
  const open = new Uint8Array(clock.minutes);
  if (layer.restriction === null) return open.fill(1);
  const { days, start_minute, end_minute, holidays } = layer.restriction;
  const firstDay = Math.floor(clock.base / 1440) - 1;
  const lastDay = Math.ceil((clock.base + clock.first.length) / 1440);
  for (let day = firstDay; day <= lastDay; day += 1) {
    const weekday = new Date(day * 86_400_000).getUTCDay();
    if (days.length > 0 && !days.includes(weekday)) continue;
    if (holidays !== undefined) {
      const isHoliday = calendars.get(holidays.calendar)?.has(day) === true;
      if (isHoliday === (holidays.mode === "out")) continue;
    }
    const endDay = end_minute <= start_minute ? day + 1 : day;
    const opens = Math.max(0, minuteOf(clock, day * 1440 + start_minute, "first"));
    const closes = minuteOf(clock, endDay * 1440 + end_minute, "last");
    for (let m = opens; m < Math.min(closes, clock.minutes); m += 1) open[m] = 1;
  }
  return open;
}
