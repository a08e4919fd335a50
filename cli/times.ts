import { systemClock, unixSeconds } from "../src/kit/clock.ts";
import { CommandError, exitCodes } from "./exit.ts";
import { terminal } from "./terminal.ts";

/** What a flag that takes a time says of itself. */
export const timeHelp = '"2026-11-21 18:00 Europe/Berlin", 18:00, +2h, or with an offset';

const UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 };

/** The seconds of `90m`, `1d12h`; null for anything else. */
function secondsOfSpan(text: string): number | null {
  if (!/^(\d{1,6}[smhdw])+$/.test(text)) return null;
  return [...text.matchAll(/(\d+)([smhdw])/g)].reduce(
    (sum, [, n, unit = ""]) => sum + Number(n) * (UNITS[unit] ?? 0),
    0,
  );
}

/**
 * Unix seconds of a time as a person types it. `now` is in Unix seconds; `zone` holds where the text names
 * none. null for what is no time, also for one that its zone skips when clocks go forward; of one that comes
 * twice, when they go back, the first is meant.
 */
export function secondsFrom(text: string, now: number, zone: string): number | null {
  const typed = text.trim();
  if (typed === "now") return now;
  if (typed.startsWith("+")) {
    const span = secondsOfSpan(typed.slice(1));
    return span === null ? null : now + span;
  }
  if (/^\d{9,11}$/.test(typed)) return Number(typed);
  const parts = /^(?:(\d{4}-\d{2}-\d{2})(?:[T ]|$))?(\d{1,2}:\d{2}(?::\d{2})?)?(.*)$/.exec(typed);
  const [, date, time, rest = ""] = parts ?? [];
  if (date === undefined && time === undefined) return null;
  try {
    return onClock({ date, time: (time ?? "00:00").padStart(5, "0") }, rest.trim() || zone, now);
  } catch {
    // Temporal throws for dates that no calendar has and zones that don't exist.
    return null;
  }
}

function onClock(
  { date, time }: { date: string | undefined; time: string },
  zone: string,
  now: number,
): number | null {
  if (/^(Z|[+-]\d{2}:\d{2})$/.test(zone) && date !== undefined)
    return Math.floor(Temporal.Instant.from(`${date}T${time}${zone}`).epochMilliseconds / 1000);
  const named = zone === "Z" ? "UTC" : zone;
  const here = Temporal.Instant.fromEpochMilliseconds(now * 1000).toZonedDateTimeISO(named);
  const day = date === undefined ? here.toPlainDate() : Temporal.PlainDate.from(date);
  const wall = day.toPlainDateTime(Temporal.PlainTime.from(time));
  const at = wall.toZonedDateTime(named, { disambiguation: "earlier" });
  if (!at.toPlainDateTime().equals(wall)) return null;
  const seconds = Math.floor(at.epochMilliseconds / 1000);
  // A time of day alone is the next one.
  if (date !== undefined || seconds > now) return seconds;
  const next = wall.add({ days: 1 }).toZonedDateTime(named, { disambiguation: "compatible" });
  return Math.floor(next.epochMilliseconds / 1000);
}

/** The terminal's own zone. */
export function localZone(): string {
  return terminal().env["TZ"] || Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** Unix seconds of what was typed for `what` (`--until`). Throws CommandError, wrong usage. */
export function parseTime(what: string, text: string, zone = localZone()): number {
  const seconds = secondsFrom(text, unixSeconds(systemClock), zone);
  if (seconds !== null) return seconds;
  throw new CommandError(`${what} must be a time like ${timeHelp}, not "${text}"`, exitCodes.usage);
}

/** Seconds of a length like `8h` or `1d12h`. Throws CommandError, wrong usage. */
export function parseSpan(what: string, text: string): number {
  const seconds = secondsOfSpan(text);
  if (seconds !== null && seconds > 0) return seconds;
  throw new CommandError(
    `${what} must be a length like 8h, 90m or 1d12h, not "${text}"`,
    exitCodes.usage,
  );
}
