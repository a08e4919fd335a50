import { allowedPause, RHYTHM_DAYS } from "../../../core/projects/missing.ts";
import {
  AN_HOUR,
  comparedAt,
  countsAt,
  isUnusual,
  unixDay,
} from "../../../core/projects/unusual.ts";
import type { Downtimes } from "../first-seen.ts";
import type { CompiledRule } from "../match.ts";
import type { CountedDay, CountedDays } from "./weeks-read.ts";

/** Where a rule would have fired, by counts of whole hours. Pure; times are Unix seconds. */

export interface FiredAt {
  at: number;
  /** Of what is unusual: how many came, and usually come. */
  came: number | null;
  usually: number | null;
}

export interface FiredIn {
  from: number;
  now: number;
  /** Since when counts are known. */
  since: number;
  downs: Downtimes;
}

/** Hours of one key in which something came, the oldest first. */
function* hoursOf(days: CountedDays): Generator<{ hour: number; n: number; day: CountedDay }> {
  for (const [, day] of [...days].toSorted(([a], [b]) => a - b))
    for (const [hour, n] of day.hours.entries())
      if (n > 0) yield { hour: day.day * 24 + hour, n, day };
}

/**
 * When more than usual begins to come: of each hour its last second is looked at, of the present one what came of it so far. What
 * goes on, or comes again before quiet would have ended the alert, is the same.
 */
export function firedAsUnusual(
  { unusual, rule }: CompiledRule,
  days: CountedDays,
  { from, now, since, downs }: FiredIn,
): FiredAt[] {
  if (unusual === null) return [];
  const atLeast = Math.max(unusual.atLeast, rule.fire_after.count);
  const goesOn = Math.max(1, Math.ceil(rule.auto_resolve_quiet_minutes / 60));
  const fired: FiredAt[] = [];
  let last = Number.NEGATIVE_INFINITY;
  for (const { hour, n } of hoursOf(days)) {
    if (hour * AN_HOUR < from) continue;
    const at = Math.min((hour + 1) * AN_HOUR - 1, now);
    const compared = comparedAt(at, unusual, {
      since,
      off: downs.within,
      hoursOf: (day) => days.get(day)?.hours ?? null,
    });
    const found = countsAt(at, compared, n);
    if (found.usual === null || !isUnusual({ ...unusual, atLeast }, found)) continue;
    if (hour - last > goesOn)
      fired.push({
        at: hour * AN_HOUR,
        came: Math.round(found.count),
        usually: Math.round(found.usual),
      });
    last = hour;
  }
  return fired;
}

/** When it had been silent for too long. `isCut`: rows of the day may lack. */
export function firedAsMissing(
  days: CountedDays,
  { from, now, since, downs, isCut }: FiredIn & { isCut(day: number): boolean },
): FiredAt[] {
  const all = [...hoursOf(days)];
  return all.flatMap(({ hour, day }, i) => {
    const next = all[i + 1];
    const until = next === undefined ? now : next.hour * AN_HOUR;
    const isLast = next?.day !== day;
    const last = isLast ? day.last : (hour + 1) * AN_HOUR;
    if (until <= from || downs.pause(last, until) < AN_HOUR) return [];
    if (day.day - RHYTHM_DAYS < unixDay(since)) return [];
    const rhythm = rhythmOf(days, isLast ? day : asOf(days, day, hour), isCut);
    const allowed = rhythm === null ? null : allowedPause(rhythm);
    if (allowed === null) return [];
    const at = downs.pausedFor(last, allowed, until);
    return at < until && at >= from ? [{ at, came: null, usually: null }] : [];
  });
}

/** The day until an hour of it: its pauses as hours tell them. */
function asOf(
  days: CountedDays,
  day: CountedDay,
  until: number,
): Pick<CountedDay, "day" | "n" | "gap"> {
  let [n, gap] = [0, 0];
  let last = days.get(day.day - 1)?.last ?? null;
  for (const [hour, came] of day.hours.entries()) {
    const begins = (day.day * 24 + hour) * AN_HOUR;
    if (came === 0 || begins > until * AN_HOUR) continue;
    if (last !== null) gap = Math.max(gap, begins - last);
    n += came;
    last = begins + AN_HOUR;
  }
  return { day: day.day, n, gap: Math.min(gap, day.gap) };
}

/** What the two weeks say that end with the day; null where they don't say all. */
function rhythmOf(
  days: CountedDays,
  last: Pick<CountedDay, "day" | "n" | "gap">,
  isCut: (day: number) => boolean,
): { events: number; longest: number } | null {
  let [events, longest] = [last.n, last.gap];
  for (let day = last.day - RHYTHM_DAYS + 1; day < last.day; day++) {
    const row = days.get(day);
    if (row === undefined && isCut(day)) return null;
    events += row?.n ?? 0;
    longest = Math.max(longest, row?.gap ?? 0);
  }
  return { events, longest };
}
