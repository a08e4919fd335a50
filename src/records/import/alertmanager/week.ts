import { dated } from "../../../ground/kit/wall-time.ts";
import type { Part } from "./part.ts";

/** The weekly part of Alertmanager's time intervals, by the minute. */

const DAY = 1_440;
const WEEK = 7 * DAY;

const DAYS = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];

/** Fields of an interval that don't repeat weekly. */
const BEYOND = ["days_of_month", "months", "years"];

/** One entry for each minute of a week from Sunday 00:00: 1 in, 0 out. */
export type Week = Uint8Array;

/** Weeks by zone, and the parts of an interval that don't repeat weekly. */
export interface Weekly {
  weeks: Map<string, Week>;
  beyond: string[];
}

/** The week of an interval, in which any of its parts applies. Throws ImportFault. */
export function weeklyOf(intervals: readonly Part[]): Weekly {
  const all: Weekly = { weeks: new Map(), beyond: [] };
  for (const at of intervals) {
    const odd = BEYOND.filter((field) => !at.field(field).isEmpty);
    const zone = at.field("location").text() || "UTC";
    if (zone === "Local") odd.push("location Local, which is that of its machine");
    else if (dated("2026-01-01", zone) === null)
      throw at.field("location").fault(`there is no time zone "${zone}"`);
    if (odd.length > 0) {
      all.beyond.push(odd.join(", "));
      at.leave();
      continue;
    }
    const week = all.weeks.get(zone) ?? new Uint8Array(WEEK);
    const times = at.field("times").list();
    const spans = times.length === 0 ? [[0, DAY] as const] : times.map(spanOf);
    for (const day of daysOf(at))
      for (const [from, until] of spans) week.fill(1, day * DAY + from, day * DAY + until);
    all.weeks.set(zone, week);
  }
  return all;
}

export const outside = (week: Week): Week => week.map((is) => 1 - is);

function daysOf(at: Part): number[] {
  const given = at.field("weekdays").list();
  if (given.length === 0) return DAYS.map((_, day) => day);
  return given.flatMap((one) => {
    const [first = "", last = first] = one.text().toLowerCase().split(":");
    const [from, until] = [DAYS.indexOf(first.trim()), DAYS.indexOf(last.trim())];
    if (from === -1 || until < from) throw one.fault(`"${one.text()}" are no days of a week`);
    return Array.from({ length: until - from + 1 }, (_, i) => from + i);
  });
}

function spanOf(at: Part): readonly [from: number, until: number] {
  const [from, until] = [minuteOf(at.field("start_time")), minuteOf(at.field("end_time"))];
  if (from >= until) throw at.fault("the end must be after the start");
  return [from, until];
}

function minuteOf(at: Part): number {
  const [, hours, minutes] = /^(\d{1,2}):(\d{2})$/.exec(at.text()) ?? [];
  const minute = Number(hours) * 60 + Number(minutes);
  if (minute >= 0 && minute <= DAY && Number(minutes) < 60) return minute;
  throw at.fault(`"${at.text()}" is no time of day, as 09:00 is`);
}

/** A repeating window in minutes from Sunday 00:00, or, for a daily one, from 00:00. Its end may be on a later day. */
export interface WeekRun {
  repeat: "daily" | "weekly";
  from: number;
  minutes: number;
}

/** The runs of minutes in the week; daily ones where all days are equal. null: every minute is in. */
export function weekRunsOf(week: Week): WeekRun[] | null {
  if (week.every((is) => is === 1)) return null;
  const isDaily = week.every((is, i) => is === week[i % DAY]);
  return isDaily ? circular(week.subarray(0, DAY), "daily") : circular(week, "weekly");
}

function circular(minutes: Uint8Array, repeat: WeekRun["repeat"]): WeekRun[] {
  const n = minutes.length;
  const runs: WeekRun[] = [];
  for (let at = 0; at < n; at += 1) {
    if (minutes[at] !== 1 || minutes[(at + n - 1) % n] === 1) continue;
    let length = 0;
    while (minutes[(at + length) % n] === 1) length += 1;
    runs.push({ repeat, from: at, minutes: length });
  }
  return runs;
}
