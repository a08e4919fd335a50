import type { Statement } from "../store/database.ts";
import type { Reader, Tx } from "../store/store.ts";

/** How often an alert's events came, by the minute, after some hours by the hour. Their sum is the alert's count. */

const MINUTE = 60;
export const HOUR = 3600;
/** Minutes are kept for so long, then they are one hour. */
export const MINUTES_KEPT = 6 * HOUR;

type Occurred = [alertId: number, slot: number, n: number];

const ADD = `INSERT INTO alert_buckets (alert_id, slot, n) VALUES (?, ?, ?)
  ON CONFLICT (alert_id, slot) DO UPDATE SET n = n + excluded.n`;

export function occurredStatement(tx: Tx): Statement<Occurred> {
  return tx.sql<Occurred>(ADD);
}

/** The beginning of the minute that a time (Unix seconds) lies in. */
export function slotOf(at: number): number {
  return at - (at % MINUTE);
}

/** So many more of an alert's events came now. */
export function addOccurrences(tx: Tx, alertId: number, n: number): void {
  occurredStatement(tx).run(alertId, slotOf(tx.at), n);
}

const TAKE = `INSERT INTO alert_buckets (alert_id, slot, n) SELECT ?, slot, n FROM alert_buckets WHERE alert_id = ?
  ON CONFLICT (alert_id, slot) DO UPDATE SET n = n + excluded.n`;

/** What was counted into one alert counts for another, too: they turned out to be the same. */
export function takeOccurrences(tx: Tx, { from, into }: { from: number; into: number }): void {
  tx.sql<[into: number, from: number]>(TAKE).run(into, from);
}

const OLD = `SELECT DISTINCT alert_id, slot - slot % ${HOUR} AS hour FROM
  (SELECT alert_id, slot FROM alert_buckets WHERE slot % ${HOUR} <> 0 AND slot < ? LIMIT ?)`;
const MERGE = `INSERT INTO alert_buckets (alert_id, slot, n)
  SELECT alert_id, :hour, sum(n) FROM alert_buckets WHERE alert_id = :alert AND slot > :hour AND slot < :hour + ${HOUR}
  GROUP BY alert_id ON CONFLICT (alert_id, slot) DO UPDATE SET n = n + excluded.n`;
const DROP =
  "DELETE FROM alert_buckets WHERE alert_id = :alert AND slot > :hour AND slot < :hour + 3600";

/** From here on minutes are kept (Unix seconds): whole hours only are merged. */
function keptFrom(at: number): number {
  return at - MINUTES_KEPT - ((at - MINUTES_KEPT) % HOUR);
}

/** Merges about `most` minutes that are old into their hours; whether there may be more. */
export function sweepBuckets(tx: Tx, most: number): boolean {
  const hours = tx
    .sql<[before: number, most: number], { alert_id: number; hour: number }>(OLD)
    .all(keptFrom(tx.at), most);
  for (const { alert_id: alert, hour } of hours) {
    tx.sql<{ alert: number; hour: number }>(MERGE).run({ alert, hour });
    tx.sql<{ alert: number; hour: number }>(DROP).run({ alert, hour });
  }
  return hours.length > 0;
}

/** Occurrences from `from` (Unix seconds) on, oldest first, in slots of so many seconds each. */
export interface Occurrences {
  seconds: number;
  from: number;
  counts: number[];
}

const SLOTS =
  "SELECT slot, n FROM alert_buckets WHERE alert_id = ? AND slot >= ? AND slot < ? ORDER BY slot";

/**
 * What came from the slot that `from` lies in to the one that `until` lies in, both Unix seconds, at most `most` slots,
 * the latest. By the minute only what is younger than six hours is exact.
 */
export function readOccurrences(
  reader: Reader,
  alertId: number,
  range: { seconds: 60 | 3600; from: number; until: number; most: number },
): Occurrences {
  const { seconds, until, most } = range;
  const last = until - (until % seconds);
  const from = Math.max(range.from - (range.from % seconds), last - (most - 1) * seconds);
  const counts: number[] = new Array(Math.max(0, (last - from) / seconds + 1)).fill(0);
  const rows = reader
    .sql<[id: number, from: number, until: number], { slot: number; n: number }>(SLOTS)
    .all(alertId, from, last + seconds);
  for (const { slot, n } of rows) {
    const i = Math.floor((slot - from) / seconds);
    counts[i] = (counts[i] ?? 0) + n;
  }
  return { seconds, from, counts };
}

/** The latest minutes of an alert, newest last. `at` in Unix seconds. */
export function latestMinutes(reader: Reader, alertId: number, at: number, most: number): number[] {
  const from = at - (most - 1) * MINUTE;
  return readOccurrences(reader, alertId, { seconds: 60, from, until: at, most }).counts;
}

/** Slots of an alert's whole life that are shown. */
const MOST_SLOTS = 90 * 24;

/** An alert's life so far: by the minute where that began within six hours, else by the hour. `at` in Unix seconds. */
export function occurrencesOf(
  reader: Reader,
  alert: { id: number; first_seen: number; last_seen: number },
  at: number,
): Occurrences {
  const from = Math.min(alert.first_seen, at);
  const until = Math.max(alert.last_seen, from);
  const seconds = at - from <= MINUTES_KEPT ? 60 : HOUR;
  return readOccurrences(reader, alert.id, { seconds, from, until, most: MOST_SLOTS });
}
