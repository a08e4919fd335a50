import { z } from "zod";
import { text, time } from "../../ground/kit/fields.ts";
import { dated, wallTime } from "../../ground/kit/wall-time.ts";

/** A time in a file: on the clocks of a zone that stands beside it, or Unix seconds. */
export const writtenTime = z.union([time, text(64, 1)], {
  error: "must be a time like 2026-01-05 09:00, or Unix seconds",
});

/** Unix seconds of what is written; where the zone has no such time the fault is told at `path`. */
export function readTime(
  written: string | number,
  zone: string,
  { context, path }: { context: z.RefinementCtx; path: (string | number)[] },
): number {
  const seconds = typeof written === "number" ? written : dated(written, zone);
  if (seconds !== null) return seconds;
  const message = `must be a time that ${zone} has, like 2026-01-05 09:00`;
  context.addIssue({ code: "custom", path, message });
  return z.NEVER;
}

/** As the zone's clocks show it, where that says it all: to the minute, and not one that comes twice. */
export function writeTime(seconds: number, zone: string): string | number {
  const shown = wallTime(seconds, zone);
  return dated(shown, zone) === seconds ? shown : seconds;
}
