import type { AwaySpan } from "../../ground/store/columns.ts";
import { MOST_AWAY } from "./away.ts";
import { DAY, Zone } from "./zone.ts";

/** The busy all-day events of an iCalendar text (RFC 5545). Pure. */

/** A property of an event: `DTSTART;VALUE=DATE:20261224`. */
interface Property {
  name: string;
  params: string;
  value: string;
}

/** Occurrences that are looked at: of one event, and of all events of a calendar. */
const MOST_TIMES = { event: 20_000, all: 100_000 };

/** How many may still be looked at. */
interface Left {
  times: number;
}

/**
 * Times away that end after `now` (Unix seconds), by their beginning, at most a hundred: of each event that lasts whole days,
 * isn't cancelled and makes its person busy. Days are those of the calendar's own time zone, else UTC. Events that come
 * again each day, week, month or year by a plain count come again here; of others the first is taken. null: it is no calendar.
 */
export function busyDays(text: string, now: number): AwaySpan[] | null {
  const calendar = readCalendar(text);
  if (calendar === null) return null;
  const left = { times: MOST_TIMES.all };
  return calendar.events
    .flatMap((event) => timesOf(event, { zone: calendar.zone, now, left }))
    .toSorted((a, b) => a.from - b.from || a.until - b.until)
    .slice(0, MOST_AWAY);
}

/** The days that events which last whole days have in [from, until), busy or not. null: it is no calendar. */
export function calendarDays(
  text: string,
  { from, until }: { from: number; until: number },
): { day: number; name: string }[] | null {
  const calendar = readCalendar(text);
  if (calendar === null) return null;
  const left = { times: MOST_TIMES.all };
  const names = new Map<number, string>();
  let days = MOST_TIMES.all;
  for (const event of calendar.events) {
    const { begins, length, note } = occurrences(event, left);
    for (const day of begins)
      for (let at = day; at < day + length && days > 0; at += 1) {
        days -= 1;
        if (at * DAY >= from && at * DAY < until) names.set(at, note);
      }
  }
  return [...names].map(([day, name]) => ({ day, name })).toSorted((a, b) => a.day - b.day);
}

function readCalendar(text: string): { zone: Zone; events: Property[][] } | null {
  const lines = text.replace(/\r?\n[ \t]/g, "").split(/\r?\n/);
  if (lines[0]?.trim().replace(/^\uFEFF/, "") !== "BEGIN:VCALENDAR") return null;
  const named = /^X-WR-TIMEZONE:(.+)$/m.exec(lines.join("\n"))?.[1]?.trim() ?? "UTC";
  const zone = new Zone(named);
  const events: Property[][] = [];
  let event: Property[] | null = null;
  let nested = 0;
  for (const line of lines) {
    if (line === "BEGIN:VEVENT") event = [];
    else if (line === "END:VEVENT") {
      if (event !== null) events.push(event);
      event = null;
    } else if (line.startsWith("BEGIN:")) nested += event === null ? 0 : 1;
    else if (line.startsWith("END:")) nested -= event === null ? 0 : 1;
    else if (event !== null && nested === 0) {
      const [, name = "", params = "", value = ""] =
        /^([A-Za-z-]+)((?:;[^:;"]*(?:"[^"]*"[^:;"]*)*)*):(.*)$/.exec(line) ?? [];
      if (name !== "") event.push({ name: name.toUpperCase(), params, value: value.trim() });
    }
  }
  return { zone, events };
}

function timesOf(
  event: readonly Property[],
  { zone, now, left }: { zone: Zone; now: number; left: Left },
): AwaySpan[] {
  const isFree = event.find(({ name }) => name === "TRANSP")?.value.toUpperCase() === "TRANSPARENT";
  if (isFree) return [];
  const { begins, length, note } = occurrences(event, left);
  return begins
    .filter((day) => (day + length + 1) * DAY > now)
    .slice(0, MOST_AWAY)
    .map((day) => ({
      from: zone.first(day * DAY),
      until: zone.first((day + length) * DAY),
      note,
    }))
    .filter(({ until }) => until > now);
}

/** When it lasts whole days and isn't cancelled: the days on which it begins, and how many it lasts. */
function occurrences(event: readonly Property[], left: Left) {
  const get = (name: string) => event.find((one) => one.name === name);
  const isOff = get("STATUS")?.value.toUpperCase() === "CANCELLED";
  const first = dayOf(get("DTSTART"));
  if (isOff || first === null) return { begins: [], length: 0, note: "" };
  const end = dayOf(get("DTEND")) ?? first + daysOf(get("DURATION")?.value);
  const length = Math.max(1, end - first);
  const except = new Set(
    event
      .filter(({ name }) => name === "EXDATE")
      .flatMap(({ params, value }) =>
        value.split(",").map((day) => dayOf({ name: "", params, value: day })),
      ),
  );
  const note = words(get("SUMMARY")?.value ?? "");
  const all = repeated(first, get("RRULE")?.value, left);
  return { begins: except.size === 0 ? all : all.filter((day) => !except.has(day)), length, note };
}

/** The number of the day of a property that holds a date and no time; null for any other. */
function dayOf(property: Property | undefined): number | null {
  const found = /^(\d{4})(\d\d)(\d\d)$/.exec(property?.value ?? "");
  if (found === null) return null;
  const at = Date.UTC(Number(found[1]), Number(found[2]) - 1, Number(found[3])) / 1000 / DAY;
  const back = new Date(at * DAY * 1000).toISOString().slice(0, 10).replaceAll("-", "");
  return back === property?.value ? at : null;
}

function daysOf(duration: string | undefined): number {
  const [, weeks, days] = /^P(?:(\d{1,4})W|(\d{1,5})D)$/.exec(duration ?? "") ?? [];
  return weeks === undefined ? Number(days ?? 1) : Number(weeks) * 7;
}

const WEEKDAYS = ["SU", "MO", "TU", "WE", "TH", "FR", "SA"];
const KNOWN = new Set(["FREQ", "INTERVAL", "COUNT", "UNTIL", "BYDAY", "WKST"]);

/** The days on which an event begins, the first among them. */
function repeated(first: number, rule: string | undefined, left: Left): number[] {
  const parts = new Map(
    (rule ?? "").split(";").map((part) => part.toUpperCase().split("=") as [string, string]),
  );
  const step = Math.max(1, Math.floor(Number(parts.get("INTERVAL") ?? 1)) || 1);
  const freq = parts.get("FREQ");
  const weekdays = parts.get("BYDAY")?.split(",") ?? [];
  const isPlain = [...parts.keys()].every((name) => KNOWN.has(name));
  const isDays = weekdays.every((day) => WEEKDAYS.includes(day));
  if (freq === undefined || !isPlain || !isDays) return [first];
  if (weekdays.length > 0 && freq !== "WEEKLY") return [first];
  const last = dayOf({ name: "", params: "", value: (parts.get("UNTIL") ?? "").slice(0, 8) });
  const most = Number(parts.get("COUNT") ?? MOST_TIMES.event) || 1;
  const days: number[] = [];
  for (let turn = 0; turn < MOST_TIMES.event && days.length < most; turn += 1) {
    left.times -= 1;
    if (left.times < 0) break;
    for (const day of daysOfTurn({ first, freq, step: turn * step, weekdays })) {
      if (day < first || days.length >= most) continue;
      if (last !== null && day > last) return days;
      days.push(day);
    }
  }
  return days.length === 0 ? [first] : days;
}

/** The days of one turn, `step` days, weeks, months or years after the first. */
function daysOfTurn(of: {
  first: number;
  freq: string;
  step: number;
  weekdays: readonly string[];
}): number[] {
  const { first, freq, step, weekdays } = of;
  if (freq === "DAILY") return [first + step];
  if (freq === "WEEKLY" && weekdays.length === 0) return [first + step * 7];
  if (freq === "WEEKLY") {
    // A week begins on Monday; 1 January 1970 was a Thursday.
    const monday = first - ((((first + 3) % 7) + 7) % 7) + step * 7;
    return weekdays.map((day) => monday + ((WEEKDAYS.indexOf(day) + 6) % 7)).sort((a, b) => a - b);
  }
  const months = freq === "MONTHLY" ? step : freq === "YEARLY" ? step * 12 : null;
  if (months === null) return step === 0 ? [first] : [];
  const date = new Date(first * DAY * 1000);
  const wanted = date.getUTCDate();
  const there = Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + months, wanted);
  // The 31st of a month that has none isn't there.
  return new Date(there).getUTCDate() === wanted ? [there / 1000 / DAY] : [];
}

/** A TEXT value (RFC 5545 §3.3.11) on one line. */
function words(value: string): string {
  const plain = value.replace(/\\([\\;,nN])/g, (_, c: string) => (/n/i.test(c) ? " " : c));
  return [...plain.replace(/\p{Cc}/gu, " ")].slice(0, 256).join("");
}
