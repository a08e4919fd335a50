import { Cron } from "croner";
import { zoneOrUtc } from "../../ground/kit/wall-time.ts";

/** When a job runs: at an interval, or at cron times in a zone. */
export interface Times {
  /** Seconds; null with `cron`. */
  period: number | null;
  /** Five fields. */
  cron: string | null;
  timezone: string;
}

/**
 * The next time after `from` (Unix seconds); null for none. A time that a clock change skips is the end of the gap; one
 * that comes twice counts once.
 */
export function nextTime({ period, cron, timezone }: Times, from: number): number | null {
  if (period !== null) return from + period;
  if (cron === null) return null;
  const next = scheduleOf(cron, timezone).nextRun(new Date(from * 1000));
  return next === null ? null : Math.floor(next.getTime() / 1000);
}

/** Why `cron` can't be used, or null. */
export function cronFault(cron: string, timezone: string, from: number): string | null {
  try {
    const next = nextTime({ period: null, cron, timezone }, from);
    return next === null ? "never comes" : null;
  } catch {
    return "must be five cron fields, like 0 3 * * 1-5";
  }
}

function scheduleOf(cron: string, zone: string): Cron {
  return new Cron(cron, { timezone: zoneOrUtc(zone), mode: "5-part", paused: true });
}
