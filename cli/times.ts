import { systemClock, unixSeconds } from "../src/ground/kit/clock.ts";
import { secondsFrom, secondsOfSpan, wallTime } from "../src/ground/kit/wall-time.ts";
import { CommandError, exitCodes } from "./exit.ts";
import { localZone } from "./terminal.ts";

/** The help of flags that take a time. */
export const timeHelp = '"2026-11-21 18:00 Europe/Berlin", 18:00, +2h, or with an offset';

/** Unix seconds of a typed time; `what` is its flag (`--until`). Throws CommandError, wrong usage. */
export function parseTime(what: string, text: string, zone = localZone()): number {
  const seconds = secondsFrom(text, unixSeconds(systemClock), zone);
  if (seconds !== null) return seconds;
  throw new CommandError(`${what} must be a time like ${timeHelp}, not "${text}"`, exitCodes.usage);
}

/** Seconds of a duration like `8h` or `1d12h`. Throws CommandError, wrong usage. */
export function parseSpan(what: string, text: string): number {
  const seconds = secondsOfSpan(text);
  if (seconds !== null && seconds > 0) return seconds;
  throw new CommandError(
    `${what} must be a length like 8h, 90m or 1d12h, not "${text}"`,
    exitCodes.usage,
  );
}

/** When something ends, by `--until` or `--for`. Throws CommandError where both or neither is given. */
export function spanEnd(options: { until?: number; for?: number }, from: number): number {
  const { until, for: length } = options;
  if (until !== undefined && length === undefined) return until;
  if (until === undefined && length !== undefined) return from + length;
  throw new CommandError("give either --until or --for", exitCodes.usage);
}

/** Hours, oldest first, by day in the terminal's zone. `before`: a space for each hour missing at a day's start. */
export function hoursByDay<T extends { at: number }>(
  all: readonly T[],
): { day: string; before: string; hours: T[] }[] {
  const zone = localZone();
  const days = Map.groupBy(all, ({ at }) => wallTime(at, zone).slice(0, 10));
  return [...days].map(([day, hours]) => ({
    day,
    hours,
    before: " ".repeat(Number(wallTime(hours[0]?.at ?? 0, zone).slice(11, 13))),
  }));
}
