import { DAY, Zone } from "../../../core/oncall/zone.ts";
import { invalid } from "../../../ground/kit/errors.ts";
import { dated, wallTime } from "../../../ground/kit/wall-time.ts";

/** Dates and times as a schedule's own clock shows them. */

export interface CalendarDay {
  /** `2026-11-16`. */
  date: string;
  /** Unix seconds of its midnights: 23 to 25 hours apart. */
  since: number;
  until: number;
}

/** Whole days of a schedule's zone. */
export interface CalendarRange {
  days: readonly CalendarDay[];
  from: number;
  until: number;
}

const LENGTHS = { usual: 14, most: 62 };

const dateOf = (day: number): string => new Date(day * DAY * 1000).toISOString().slice(0, 10);

/** Days since 1 January 1970; null for what is no date between then and 2200. */
function dayNumber(date: string): number | null {
  if (!/^\d{4}-\d\d-\d\d$/.test(date)) return null;
  const day = Date.parse(`${date}T00:00Z`) / 1000 / DAY;
  return Number.isInteger(day) && day >= 1 && day < 84_000 && dateOf(day) === date ? day : null;
}

/** The day that the zone's clock shows, as a number. */
const today = (zone: Zone, at: number): number => Math.floor((at + zone.offsetAt(at)) / DAY);

function daysFrom(zone: Zone, first: number, count: number): CalendarRange {
  const days = Array.from({ length: count }, (_, index) => ({
    date: dateOf(first + index),
    since: zone.first((first + index) * DAY),
    until: zone.first((first + index + 1) * DAY),
  }));
  const from = zone.first(first * DAY);
  return { days, from, until: days.at(-1)?.until ?? from };
}

/** What an address asks for: `from` (else the Monday of this week) and `days` (else a fortnight). */
export function askedRange(timezone: string, query: URLSearchParams, now: number): CalendarRange {
  const zone = new Zone(timezone);
  const here = today(zone, now);
  const first = dayNumber(query.get("from") ?? "") ?? here - ((here + 3) % 7);
  const days = Math.floor(Number(query.get("days") ?? LENGTHS.usual));
  const isTaken = days >= 1 && days <= LENGTHS.most;
  return daysFrom(zone, first, isTaken ? days : LENGTHS.usual);
}

/** The days that a stretch touches, a month at most. */
export function rangeAround(timezone: string, at: { from: number; until: number }): CalendarRange {
  const zone = new Zone(timezone);
  const first = today(zone, at.from);
  const count = today(zone, at.until - 1) - first + 1;
  return daysFrom(zone, first, Math.max(1, Math.min(31, count)));
}

/** The date so many days after (or before) the first of a range. */
export function dateAfter({ days }: CalendarRange, count: number): string {
  return dateOf((dayNumber(days[0]?.date ?? "") ?? 0) + count);
}

const DATE = new Intl.DateTimeFormat("en-GB", {
  day: "numeric",
  month: "short",
  year: "numeric",
  timeZone: "UTC",
});

/** "16 – 29 Nov 2026". */
export function rangeWords({ days }: CalendarRange): string {
  const at = (day: CalendarDay | undefined) => new Date(`${day?.date}T00:00Z`);
  return DATE.formatRange(at(days[0]), at(days.at(-1)));
}

/** The date that the zone's clock shows. */
export const dateAt = (timezone: string, at: number): string =>
  dateOf(today(new Zone(timezone), at));

/** "2026-11-16T09:00", as a field for a date and a time wants it. */
export function localText(timezone: string, at: number): string {
  const shown = at + new Zone(timezone).offsetAt(at);
  return new Date(shown * 1000).toISOString().slice(0, 16);
}

/** When the zone's clock first shows that; null for what is no date and time. */
export function localInstant(timezone: string, text: string): number | null {
  const found = /^(\d{4}-\d\d-\d\d)T(\d\d):(\d\d)(?::00)?$/.exec(text);
  const day = dayNumber(found?.[1] ?? "");
  if (day === null) return null;
  const [hours, minutes] = [Number(found?.[2]), Number(found?.[3])];
  if (hours > 23 || minutes > 59) return null;
  return new Zone(timezone).first(day * DAY + hours * 3600 + minutes * 60);
}

/** Monday 09:00 of this week, by the zone's clock; of the one before where that is still to come. */
export function lastMondayNine(timezone: string, now: number): number {
  const zone = new Zone(timezone);
  const here = today(zone, now);
  const monday = here - ((here + 3) % 7);
  const at = (day: number) => zone.first(day * DAY + 9 * 3600);
  return at(monday) <= now ? at(monday) : at(monday - 7);
}

/** The instant so many civil seconds into the day that the zone's clock shows at `at`. */
export function onThatDay(timezone: string, at: number, seconds: number): number {
  const zone = new Zone(timezone);
  return zone.first(today(zone, at) * DAY + seconds);
}

/** What stands beside a field: the instant that it was drawn with, which its text alone may not tell (02:30 comes twice). */
export const knownField = (name: string): string => `${name}-known`;

/** What a form's field means, exactly as drawn where nobody changed it. Throws 400 naming it. */
export function instantField(timezone: string, form: URLSearchParams, name: string): number {
  const text = form.get(name) ?? "";
  const known = Number(form.get(knownField(name)) ?? Number.NaN);
  const isKnown = Number.isInteger(known) && known >= 0 && known < 100_000_000_000;
  if (isKnown && localText(timezone, known) === text) return known;
  const at = localInstant(timezone, text);
  if (at === null) throw invalid([{ field: `/${name}`, reason: "must be a date and a time" }]);
  return at;
}

/** The next time that clocks there show this hour: tonight's 03:00; of a weekday where one is given, 6 being Saturday. */
export function nextHour(now: number, zone: string, hour: number, weekday?: number): number {
  for (let days = 0; days < 9; days++) {
    const day = wallTime(now + days * DAY, zone).slice(0, 10);
    const at = dated(`${day}T${String(hour).padStart(2, "0")}:00`, zone);
    const isDay = weekday === undefined || new Date(`${day}T00:00:00Z`).getUTCDay() === weekday;
    if (at !== null && at > now && isDay) return at;
  }
  return now;
}
