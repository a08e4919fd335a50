import * as z from "zod";
import { text, time } from "../../ground/kit/fields.ts";
import { dated, wallTime } from "../../ground/kit/wall-time.ts";

/** A time in a file: in the zone given beside it, or Unix seconds. */
export const writtenTime = z.union([time, text(64, 1)], {
  error: "must be a time like 2026-01-05 09:00, or Unix seconds",
});

/** Unix seconds of a written time. A time that the zone doesn't have is a fault at `path`. */
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

/** The time in the zone where that is exact; else Unix seconds (with seconds, or in an hour that comes twice). */
export function writeTime(seconds: number, zone: string): string | number {
  const shown = wallTime(seconds, zone);
  return dated(shown, zone) === seconds ? shown : seconds;
}
