import {
  allowedPause,
  LATEST_OPENING,
  LEAST_ALLOWED,
  RHYTHM_DAYS,
} from "../../core/projects/missing.ts";
import { unixDay } from "../../core/projects/unusual.ts";
import type { Reader } from "../../ground/store/store.ts";
import type { Downtimes } from "./first-seen.ts";
import { type CountedBy, cutDays, KEPT_DAYS, readDays, sumDays } from "./hour-rows.ts";

/** Which keys of a series are silent for longer than is usual for them, by what is stored. Times are Unix seconds. */

/** A key that came as often as hourly for two weeks, and is silent. */
export interface Silent {
  key: string;
  /** When it came last. */
  last: number;
  /** The longest pause of its two weeks. */
  longest: number;
  /** When it is missing. */
  due: number;
}

export type SilentKeys = ReturnType<typeof createSilentKeys>;

/** Less than the shortest pause that is looked at: what is silent for less is looked at by a later search. */
const SHORT = 2400;
const SEARCH_EVERY = 600;
const LOOKED_AT_ONCE = 200;
/** Keys that are watched; the first of them. */
const MOST = 20_000;

/** Keys that are read at once. */
const READ_AT_ONCE = 1000;

const KEYS = `SELECT key, last FROM hour_counts WHERE series_id = ? AND day = ? AND key > ? AND last <= ?
  ORDER BY key LIMIT ${READ_AT_ONCE}`;

const FIRST = "SELECT min(last) FROM hour_counts WHERE series_id = ? AND day >= ? AND last > ?";

export function createSilentKeys(series: number, downs: Downtimes) {
  const silent = new Map<string, Silent>();
  let until = Number.NEGATIVE_INFINITY;
  let searching: Generator<void, void, void> | null = null;
  const soonest = (search: number) =>
    silent.values().reduce((least, { due }) => Math.min(least, due), search);

  return {
    /** Looks for keys that fell silent, a few at a time. Whether there is more to look at now. */
    search(reader: Reader, at: number): boolean {
      if (searching === null) {
        if (at - until < SHORT + SEARCH_EVERY) return false;
        const span = { after: until, until: at - SHORT, at };
        until = span.until;
        searching = searchSilent(reader, series, span, (found) => {
          const { key, last, rhythm } = found;
          const allowed = allowedPause(rhythm);
          if (allowed === null || silent.size >= MOST) return;
          if (downs.pause(last, at) > allowed + LATEST_OPENING) return;
          const due = downs.pausedFor(last, allowed, at);
          silent.set(key, { key, last, longest: rhythm.longest, due });
        });
      }
      if (searching.next().done === true) searching = null;
      return searching !== null;
    },
    due: (at: number) => [...silent.values()].filter(({ due }) => due <= at),
    /** It is missing or not: that is decided. */
    drop: (key: string) => void silent.delete(key),
    /** When a key is due that is silent now, or the next search is; the earliest. */
    next: () => soonest(until + SHORT + SEARCH_EVERY),
    /** The same if nothing comes until then: when the first that isn't searched yet can be missing. */
    nextAlone(reader: Reader): number {
      const of = reader.sql<[series: number, day: number, until: number], number | null>(FIRST);
      const first = of.pluck().get(series, unixDay(until), until) ?? Number.POSITIVE_INFINITY;
      return soonest(first + LEAST_ALLOWED);
    },
  };
}

export interface Rhythm {
  events: number;
  longest: number;
}

/** Calls `found` for each key that came last after one time and until another, and has a rhythm. */
export function* searchSilent(
  reader: Reader,
  series: number,
  { after, until, at }: Record<"after" | "until" | "at", number>,
  found: (one: { key: string; last: number; rhythm: Rhythm }) => void,
): Generator<void, void, void> {
  const seen = new Set<string>();
  const today = unixDay(at);
  const isCut = cutDays(reader, series, today);
  const first = Math.max(today - KEPT_DAYS, unixDay(after));
  for (let day = today; day >= first; day--) {
    for (let from: string | undefined = ""; from !== undefined; ) {
      const rows = reader.sql<[number, number, string, number], { key: string; last: number }>(
        KEYS,
      );
      const some = rows.all(series, day, from, at);
      let looked = 0;
      for (const { key, last } of some) {
        if (seen.has(key)) continue;
        seen.add(key);
        if (last <= after || last > until) continue;
        if (++looked % LOOKED_AT_ONCE === 0) yield;
        const rhythm = rhythmAt(reader, { series, key }, { day, days: RHYTHM_DAYS, isCut });
        if (rhythm !== null) found({ key, last, rhythm });
      }
      if (some.length > 0) yield;
      from = some.length < READ_AT_ONCE ? undefined : some.at(-1)?.key;
    }
  }
}

/** What so many days up to one say; null where they don't say all. */
export function rhythmAt(
  reader: Reader,
  of: CountedBy,
  { day, days, isCut }: { day: number; days: number; isCut(day: number): boolean },
): Rhythm | null {
  const { events, longest, days: there } = sumDays(reader, of, { day, days });
  if (there < days) {
    const had = new Set(readDays(reader, of, { day, days }).map((row) => row.day));
    for (let one = day - days + 1; one <= day; one++) if (!had.has(one) && isCut(one)) return null;
  }
  return { events, longest };
}
