/** Times as people write them, in a time zone (IANA's name). `now` and results are in Unix seconds. Pure functions. */

const UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 };

/** The seconds of a duration: `90m`, `1d12h`. null for other text. */
export function secondsOfSpan(text: string): number | null {
  if (!/^(\d{1,6}[smhdw])+$/.test(text)) return null;
  return [...text.matchAll(/(\d+)([smhdw])/g)].reduce(
    (sum, [, n, unit = ""]) => sum + Number(n) * (UNITS[unit] ?? 0),
    0,
  );
}

/**
 * Parses a time: `2026-11-21 18:00 Europe/Berlin`, with an offset, only the day, `18:00` (the next one), `+2h`, `now`,
 * or Unix seconds. `zone` applies where the text names none. null for other text, and for a time that the zone skips
 * when clocks go forward. Of a time that comes twice, when they go back, the first is meant.
 */
export function secondsFrom(text: string, now: number, zone: string): number | null {
  const typed = text.trim();
  if (typed === "now") return now;
  if (typed.startsWith("+")) {
    const span = secondsOfSpan(typed.slice(1));
    return span === null ? null : now + span;
  }
  return /^\d{9,11}$/.test(typed) ? Number(typed) : (dated(typed, zone) ?? next(typed, now, zone));
}

/** As `secondsFrom`, for a text with a date: its meaning doesn't depend on the present time. */
export function dated(text: string, zone: string): number | null {
  const parts = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{1,2}:\d{2}(?::\d{2})?))?(.*)$/.exec(text.trim());
  if (parts === null) return null;
  const [, day = "", time = "00:00", rest = ""] = parts;
  const wall = `${day}T${time.padStart(5, "0")}`;
  const given = rest.trim();
  if (/^(Z|[+-]\d{2}:\d{2})$/.test(given))
    return orNull(() => secondsOf(Temporal.Instant.from(wall + given)));
  return orNull(() => onClock(Temporal.PlainDateTime.from(wall), given || zone));
}

/** A time without a date: today's, or tomorrow's where today's has passed. */
function next(text: string, now: number, zone: string): number | null {
  const parts = /^(\d{1,2}:\d{2}(?::\d{2})?)(?: (.*))?$/.exec(text);
  if (parts === null) return null;
  const [, time = "", given = zone] = parts;
  return orNull(() => {
    const today = inZone(now, given).toPlainDate();
    const wall = today.toPlainDateTime(Temporal.PlainTime.from(time.padStart(5, "0")));
    const seconds = onClock(wall, given);
    return seconds !== null && seconds > now ? seconds : onClock(wall.add({ days: 1 }), given);
  });
}

const FRIDAY = 5;

/** When the last Friday before this day began, in the zone: on a Friday that of a week ago. */
export function lastFriday(now: number, zone: string): number {
  const today = clockOf(now, zone).startOfDay();
  const back = (today.dayOfWeek - FRIDAY + 7) % 7 || 7;
  return Math.floor(today.subtract({ days: back }).startOfDay().epochMilliseconds / 1000);
}

/** `2026-11-23 09:00`, in the zone. */
export function wallTime(seconds: number, zone: string): string {
  const shown = clockOf(seconds, zone).toPlainDateTime().toString({ smallestUnit: "minute" });
  return shown.replace("T", " ");
}

/** `2026-11-23 09:00+01:00`, in the zone; with seconds where they aren't 0, with `Z` where the offset is 0. */
export function offsetTime(seconds: number, zone: string): string {
  const shown = clockOf(seconds, zone);
  const time = shown.toPlainDateTime().toString({ smallestUnit: "second" }).replace(/:00$/, "");
  return `${time.replace("T", " ")}${shown.offset === "+00:00" ? "Z" : shown.offset}`;
}

const WEEKDAYS = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];

/** `02:06` for today, `Sat 02:06`, or `Sat 2026-11-28 02:06` from nearly a week on. `now` in Unix seconds. */
export function shortTime(at: number, zone: string, now: number): string {
  const [day = "", time = ""] = wallTime(at, zone).split(" ");
  if (wallTime(now, zone).startsWith(day)) return time;
  const weekday = WEEKDAYS[new Date(`${day}T00:00:00Z`).getUTCDay()] ?? "";
  return `${weekday} ${Math.abs(at - now) > 6 * 86_400 ? `${day} ` : ""}${time}`;
}

/** The clock by which somebody is told times. `label` stands behind each: ` UTC`, or "" where it is the reader's own. */
export interface ReaderClock {
  zone: string;
  label: string;
}

/** A zone's clock, by its name; UTC's where the system doesn't know it (any more). */
export function namedClock(zone: string): ReaderClock {
  const known = zoneOrUtc(zone);
  return { zone: known, label: ` ${known}` };
}

/** `Sat 02:06 Europe/Berlin`: as `shortTime`, with the clock's label. */
export const timeFor = ({ zone, label }: ReaderClock, at: number, now: number): string =>
  `${shortTime(at, zone, now)}${label}`;

/** An IANA name that clocks can be read by; null for any other text. */
export function knownZone(name: string): string | null {
  try {
    inZone(0, name);
    return name;
  } catch {
    return null;
  }
}

/** What a stored zone is read as: UTC where this program doesn't know it, though another did. */
export const zoneOrUtc = (name: string): string => knownZone(name) ?? "UTC";

/** As `zoneOrUtc` says. */
function clockOf(seconds: number, zone: string): Temporal.ZonedDateTime {
  try {
    return inZone(seconds, zone);
  } catch {
    return inZone(seconds, "UTC");
  }
}

function inZone(seconds: number, zone: string): Temporal.ZonedDateTime {
  return Temporal.Instant.fromEpochMilliseconds(seconds * 1000).toZonedDateTimeISO(zone);
}

function onClock(wall: Temporal.PlainDateTime, zone: string): number | null {
  const at = wall.toZonedDateTime(zone, { disambiguation: "earlier" });
  return at.toPlainDateTime().equals(wall) ? secondsOf(at.toInstant()) : null;
}

function secondsOf(instant: Temporal.Instant): number {
  return Math.floor(instant.epochMilliseconds / 1000);
}

/** Temporal throws for dates that no calendar has and for unknown zones. */
function orNull(read: () => number | null): number | null {
  try {
    return read();
  } catch {
    return null;
  }
}
