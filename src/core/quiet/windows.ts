import { DAY, isTimezone, Zone } from "../oncall/zone.ts";

/** When a silence holds: pure. Times are Unix seconds, a window is [from, until). */

export interface Timing {
  /** The first window. */
  startsAt: number;
  endsAt: number;
  /** From then on it never holds again. */
  overAt: number;
  repeats: "none" | "daily" | "weekly";
  timezone: string;
}

export interface Window {
  from: number;
  until: number;
}

export const PERIOD = { daily: DAY, weekly: 7 * DAY } as const;

/** The window that holds at `at`, else the next one; null: it is over. */
export function windowAt(timing: Timing, at: number): Window | null {
  const { startsAt, endsAt, overAt, repeats } = timing;
  if (at >= overAt) return null;
  if (repeats === "none" || at < startsAt) return cut({ from: startsAt, until: endsAt }, overAt);
  const zone = zoneOf(timing.timezone);
  if (zone === null) return null;
  const civil = (second: number) => second + zone.offsetAt(second);
  const period = PERIOD[repeats];
  const [first, last] = [civil(startsAt), civil(endsAt)];
  // A clock change moves a window by hours at most, so one before and one after are enough.
  const near = Math.floor((civil(at) - first) / period);
  for (let n = Math.max(0, near - 1); n <= near + 2; n += 1) {
    const window = {
      from: zone.first(first + n * period),
      // As a schedule's restriction does, it lasts to the last of a time that comes twice.
      until: zone.last(last + n * period),
    };
    if (window.until > at && window.from < window.until) return cut(window, overAt);
  }
  return null;
}

/** Nothing is held past the end of all. */
function cut({ from, until }: Window, overAt: number): Window | null {
  return from >= overAt ? null : { from, until: Math.min(until, overAt) };
}

const zones = new Map<string, Zone | null>();
/** More are not remembered. */
const MOST_ZONES = 100;

/** null for a name that this program doesn't know, though another did: with doubt, it rings. */
function zoneOf(name: string): Zone | null {
  let zone = zones.get(name);
  if (zone === undefined) {
    zone = isTimezone(name) ? new Zone(name) : null;
    if (zones.size >= MOST_ZONES) zones.clear();
    zones.set(name, zone);
  }
  return zone;
}
