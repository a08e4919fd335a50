import {
  dropUnusedSeries,
  keepCountsFrom,
  selectionOf,
  TEMPLATES,
} from "../../core/projects/count-series.ts";
import { RHYTHM_DAYS } from "../../core/projects/missing.ts";
import { listRules } from "../../core/projects/rules.ts";
import { AN_HOUR, unixDay } from "../../core/projects/unusual.ts";
import type { Reader, Tx } from "../../ground/store/store.ts";
import type { MergedTemplates } from "./merged-keys.ts";

/** The rows of what is counted by the hour: a day of a key each. Times are Unix seconds. */

export const KEPT_DAYS = 36;
/** Keys of a series that are kept of a day that is over: those that came most. */
const MOST_KEPT = 2000;
/** Keys of a series that are counted on one day. */
export const MOST_A_DAY = 10_000;

/** Which series, and the key in it: a template's id (a root), with the rule's identifiers behind it. */
export interface CountedBy {
  series: number;
  key: string;
}

const DAY = 24 * AN_HOUR;

/** A day of one key. */
export interface HourRow {
  hours: number[];
  last: number;
  /** The longest pause that ended on the day. */
  gap: number;
}

const READ = "SELECT hours, last, gap FROM hour_counts WHERE series_id = ? AND day = ? AND key = ?";
/** Of a series that is gone nothing is written: no other project's events may fail with it. */
const WRITE = `INSERT INTO hour_counts (series_id, day, key, n, hours, last, gap) SELECT id, ?, ?, ?, ?, ?, ? FROM count_series WHERE id = ?
  ON CONFLICT (series_id, day, key) DO UPDATE SET n = excluded.n, hours = excluded.hours, last = excluded.last, gap = excluded.gap`;

type Stored = Omit<HourRow, "hours"> & { hours: string };

export function readHours(reader: Reader, { series, key }: CountedBy, day: number): HourRow | null {
  const row = reader.sql<[number, number, string], Stored>(READ).get(series, day, key);
  return row === undefined ? null : { ...row, hours: JSON.parse(row.hours) as number[] };
}

export function writeHours(
  tx: Tx,
  { series, key }: CountedBy,
  { day, hours, last, gap }: HourRow & { day: number },
): void {
  const n = hours.reduce((sum, one) => sum + one, 0);
  tx.sql<[number, string, number, string, number, number, number]>(WRITE).run(
    ...([day, key, n, JSON.stringify(hours), last, gap, series] as const),
  );
}

const RHYTHM = `SELECT day, n, last, gap FROM hour_counts
  WHERE series_id = ? AND key = ? AND day IN (SELECT value FROM json_each(?)) ORDER BY day DESC`;

/** A day of one key without its hours. */
export interface DayRow {
  day: number;
  n: number;
  last: number;
  gap: number;
}

/** The rows of so many days up to `day`, the latest first. */
export function readDays(
  reader: Reader,
  { series, key }: CountedBy,
  { day, days }: { day: number; days: number },
): DayRow[] {
  const asked = JSON.stringify(daysUpTo(day, days));
  return reader.sql<[number, string, string], DayRow>(RHYTHM).all(series, key, asked);
}

const SUMS = `SELECT count(*) AS days, coalesce(sum(n), 0) AS events, coalesce(max(gap), 0) AS longest FROM hour_counts
  WHERE series_id = ? AND key = ? AND day IN (SELECT value FROM json_each(?))`;

/** What so many days up to `day` say together: of how many there is a row, and what came. */
export function sumDays(
  reader: Reader,
  { series, key }: CountedBy,
  { day, days }: { day: number; days: number },
): { days: number; events: number; longest: number } {
  type Sums = ReturnType<typeof sumDays>;
  const asked = JSON.stringify(daysUpTo(day, days));
  return reader.sql<[number, string, string], Sums>(SUMS).get(series, key, asked) as Sums;
}

const daysUpTo = (day: number, days: number) => Array.from({ length: days }, (_, i) => day - i);

const KEYS = "SELECT count(*) FROM hour_counts WHERE series_id = ? AND day = ?";

/** How many keys of a day are stored. */
export function countKeys(reader: Reader, series: number, day: number): number {
  return reader.sql<[series: number, day: number], number>(KEYS).pluck().get(series, day) ?? 0;
}

/** Whether rows of a day may lack, because it had too many keys. */
export function cutDays(reader: Reader, series: number, today: number): (day: number) => boolean {
  const known = new Map<number, boolean>();
  return (day) => {
    const most = day === today ? MOST_A_DAY : MOST_KEPT;
    const isCut = known.get(day) ?? countKeys(reader, series, day) >= most;
    known.set(day, isCut);
    return isCut;
  };
}

const SERIES = "SELECT id, selection, since FROM count_series WHERE project_id = ?";
const UNDER = `SELECT key, hours, last, gap FROM hour_counts WHERE series_id = ? AND day = ?
  AND (key = ? OR (key > ? AND key < ?))`;
const DROP = "DELETE FROM hour_counts WHERE series_id = ? AND day = ? AND key = ?";

/** A project's series; `hasIdentifiers`: more than a template may stand in their keys. */
export function seriesOfProject(
  reader: Reader,
  projectId: number,
): { id: number; since: number; hasIdentifiers: boolean }[] {
  return reader
    .sql<[project: number], { id: number; since: number; selection: string }>(SERIES)
    .all(projectId)
    .map(({ id, since, selection }) => ({ id, since, hasIdentifiers: selection !== TEMPLATES }));
}

/** Adds the younger template's counts of a series to the older's. */
export function mergeHours(
  tx: Tx,
  { id: series, since }: { id: number; since: number },
  { younger, older }: MergedTemplates,
): void {
  const under = tx.sql<[number, number, string, string, string], Stored & { key: string }>(UNDER);
  const drop = tx.sql<[series: number, day: number, key: string]>(DROP);
  const today = unixDay(tx.at);
  for (let day = Math.max(today - KEPT_DAYS, unixDay(since)); day <= today; day++) {
    // "younger" alone, or with identifiers behind a colon; a semicolon is the next character.
    for (const one of under.all(series, day, younger, `${younger}:`, `${younger};`)) {
      const key = older + one.key.slice(younger.length);
      const old = readHours(tx, { series, key }, day);
      const young = JSON.parse(one.hours) as number[];
      const hours = young.map((n, i) => n + (old?.hours[i] ?? 0));
      const last = Math.max(one.last, old?.last ?? 0);
      const [before = null] = readDays(tx, { series, key }, { day: day - 1, days: RHYTHM_DAYS });
      drop.run(series, day, one.key);
      const longest = longestOf(hours, { day, begun: before?.last ?? null });
      const gap = Math.min(Math.max(one.gap, old?.gap ?? 0), longest);
      writeHours(tx, { series, key }, { day, hours, last, gap });
    }
  }
}

/** What came by the hour was silent for no longer than this; `begun`: when it came last before. */
function longestOf(
  hours: readonly number[],
  { day, begun }: { day: number; begun: number | null },
): number {
  let [last, longest] = [begun ?? Number.NEGATIVE_INFINITY, 0];
  hours.forEach((n, hour) => {
    if (n === 0) return;
    const begins = day * DAY + hour * AN_HOUR;
    longest = Math.max(longest, begins + AN_HOUR - last);
    last = begins;
  });
  return longest;
}

const OLD = `DELETE FROM hour_counts WHERE series_id = ? AND (day, key) IN
  (SELECT day, key FROM hour_counts WHERE series_id = ? AND day < ? LIMIT ?)`;
const RARE = `DELETE FROM hour_counts WHERE series_id = ? AND day = ? AND key IN
  (SELECT key FROM hour_counts WHERE series_id = ? AND day = ? ORDER BY n DESC, key LIMIT ? OFFSET ${MOST_KEPT})`;
const EVERY = "SELECT id FROM count_series ORDER BY id";

/** Deletes what is older than five weeks, and of yesterday what came least. Returns whether there may be more. */
export function sweepHours(tx: Tx, most: number): boolean {
  const day = unixDay(tx.at);
  const old = tx.sql<[number, number, number, number]>(OLD);
  const rare = tx.sql<[number, number, number, number, number]>(RARE);
  keepCountsFrom(tx, day - KEPT_DAYS);
  for (const id of tx.sql<[], number>(EVERY).pluck().all()) {
    if (old.run(id, id, day - KEPT_DAYS, most).changes === most) return true;
    if (rare.run(id, day - 1, id, day - 1, most).changes === most) return true;
  }
  dropUnusedSeries(tx, ({ projectId, selection }) =>
    listRules(tx, projectId).some((rule) => selectionOf(rule) === selection),
  );
  return false;
}
