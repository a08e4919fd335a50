import { unixDay } from "../../../core/projects/unusual.ts";
import type { Reader } from "../../../ground/store/store.ts";
import { type DayRow, KEPT_DAYS } from "../hour-rows.ts";

/** The counts by the hour of a series, as they are kept: of five weeks. */

/** A day of one key; a day of Unix time has 24 hours. */
export interface CountedDay extends DayRow {
  hours: readonly number[];
}

/** One key, by the day. */
export type CountedDays = ReadonlyMap<number, CountedDay>;

export interface CountedWeeks {
  byKey: Map<string, Map<number, CountedDay>>;
  /** Of all keys together, by the day. */
  totals: Map<number, number[]>;
  /** From this day on all is there. */
  firstDay: number;
  isWhole: boolean;
}

/** More rows aren't read: the earlier days are left out. */
const MOST_ROWS = 100_000;
const ROWS =
  "SELECT key, day, n, hours, last, gap FROM hour_counts WHERE series_id = ? AND day = ?";

type Stored = Omit<CountedDay, "hours"> & { key: string; hours: string };

/** The latest day first, until there are too many rows or `isOver`. */
export function readWeeksOf(
  reader: Reader,
  series: number,
  { now, takes, isOver }: { now: number; takes(key: string): boolean; isOver(): boolean },
): CountedWeeks {
  const byKey: CountedWeeks["byKey"] = new Map();
  const totals: CountedWeeks["totals"] = new Map();
  const today = unixDay(now);
  let rows = 0;
  for (let day = today; day >= today - KEPT_DAYS; day--) {
    if (rows > MOST_ROWS || isOver()) return { byKey, totals, firstDay: day + 1, isWhole: false };
    const total = new Array<number>(24).fill(0);
    for (const { key, hours: text, ...row } of reader
      .sql<[number, number], Stored>(ROWS)
      .all(series, day)) {
      rows++;
      if (!takes(key)) continue;
      const hours = JSON.parse(text) as number[];
      for (const [hour, n] of hours.entries()) total[hour] = (total[hour] ?? 0) + n;
      const days = byKey.get(key) ?? new Map<number, CountedDay>();
      byKey.set(key, days.set(day, { ...row, hours }));
    }
    totals.set(day, total);
  }
  return { byKey, totals, firstDay: today - KEPT_DAYS, isWhole: true };
}
