import { systemClock, unixSeconds } from "../src/ground/kit/clock.ts";
import { secondsFrom, secondsOfSpan } from "../src/ground/kit/wall-time.ts";
import { CommandError, exitCodes } from "./exit.ts";
import { terminal } from "./terminal.ts";

/** What a flag that takes a time says of itself. */
export const timeHelp = '"2026-11-21 18:00 Europe/Berlin", 18:00, +2h, or with an offset';

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
