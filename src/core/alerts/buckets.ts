import type { Statement } from "../../ground/store/database.ts";
import type { Reader, Tx } from "../../ground/store/store.ts";

/**
 * How often an alert's events came, by the minute, after some hours by the hour. Their sum is the alert's count. Minutes
 * are in order of time, those of all alerts together; hours are with their alert.
 */

const MINUTE = 60;
export const HOUR = 3600;
/** Minutes are kept for so long, then they are one hour. */
const MINUTES_KEPT = 6 * HOUR;
/** Minutes of one alert that are looked at: more than there are, unless clean-up is late. */
const MOST_MINUTES = 1440;

type Occurred = [alertId: number, slot: number, n: number];

const ADD = `INSERT INTO alert_minutes (alert_id, slot, n) VALUES (?, ?, ?)
  ON CONFLICT (slot, alert_id) DO UPDATE SET n = n + excluded.n`;

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
  const add = occurredStatement(tx);
  for (const { slot, n } of minutesOf(tx, [from], { from: 0, until: Infinity }))
    add.run(into, slot, n);
}

interface Slot {
  slot: number;
  n: number;
}

const ENDS =
  "SELECT (SELECT min(slot) FROM alert_minutes) AS first, (SELECT max(slot) FROM alert_minutes) AS last";
// One seek for each of these minutes and alerts.
const THESE = `SELECT slot, alert_id, n FROM alert_minutes
  WHERE slot IN (SELECT value FROM json_each(?)) AND alert_id IN (SELECT value FROM json_each(?)) ORDER BY slot`;

type MinuteRow = Slot & { alert_id: number };

/** Minutes of these alerts from `from` to before `until`, oldest first: they are looked up, since all alerts' lie together. */
function minutesOf(
  reader: Reader,
  ids: readonly number[],
  { from, until }: { from: number; until: number },
): MinuteRow[] {
  const { first = null, last = null } =
    reader.sql<[], { first: number | null; last: number | null }>(ENDS).get() ?? {};
  if (first === null || last === null) return [];
  const end = Math.min(last, until - 1);
  const begin = Math.max(first, from, end - MOST_MINUTES * MINUTE);
  const slots: number[] = [];
  for (let slot = slotOf(begin + MINUTE - 1); slot <= end; slot += MINUTE) slots.push(slot);
  return reader
    .sql<[slots: string, ids: string], MinuteRow>(THESE)
    .all(JSON.stringify(slots), JSON.stringify(ids));
}

const OLD =
  "SELECT slot, alert_id, n FROM alert_minutes WHERE slot < ? ORDER BY slot, alert_id LIMIT ?";
const HOURS = `INSERT INTO alert_buckets (alert_id, slot, n) SELECT id, :hour, :n FROM alerts WHERE id = :alert
  ON CONFLICT (alert_id, slot) DO UPDATE SET n = n + excluded.n`;
const DROP = "DELETE FROM alert_minutes WHERE (slot, alert_id) <= (?, ?)";

/** From here on minutes are kept (Unix seconds): whole hours only are merged. */
function keptFrom(at: number): number {
  return at - MINUTES_KEPT - ((at - MINUTES_KEPT) % HOUR);
}

/** Merges at most `most` minutes that are old into their hours; whether there may be more. */
export function sweepBuckets(tx: Tx, most: number): boolean {
  const old = tx.sql<[before: number, most: number], MinuteRow>(OLD).all(keptFrom(tx.at), most);
  const last = old.at(-1);
  if (last === undefined) return false;
  const hours = new Map<string, { alert: number; hour: number; n: number }>();
  for (const { slot, alert_id: alert, n } of old) {
    const hour = slot - (slot % HOUR);
    const sum = hours.get(`${alert}:${hour}`)?.n ?? 0;
    hours.set(`${alert}:${hour}`, { alert, hour, n: sum + n });
  }
  const write = tx.sql<[{ alert: number; hour: number; n: number }]>(HOURS);
  for (const hour of hours.values()) write.run(hour);
  tx.sql<[slot: number, alert: number]>(DROP).run(last.slot, last.alert_id);
  return old.length === most;
}

/** Occurrences from `from` (Unix seconds) on, oldest first, in slots of so many seconds each. */
export interface Occurrences {
  seconds: number;
  from: number;
  counts: number[];
}

const SLOTS = "SELECT slot, n FROM alert_buckets WHERE alert_id = ? AND slot >= ? AND slot < ?";

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
  const hours = reader
    .sql<[id: number, from: number, until: number], Slot>(SLOTS)
    .all(alertId, from, last + seconds);
  const minutes = minutesOf(reader, [alertId], { from, until: last + seconds });
  for (const { slot, n } of [...hours, ...minutes]) {
    const i = Math.floor((slot - from) / seconds);
    counts[i] = (counts[i] ?? 0) + n;
  }
  return { seconds, from, counts };
}

/** The latest minutes of these alerts, newest last, by their ids. `at` in Unix seconds. */
export function latestMinutes(
  reader: Reader,
  ids: readonly number[],
  { at, most }: { at: number; most: number },
): Map<number, number[]> {
  const from = slotOf(at) - (most - 1) * MINUTE;
  const counts = new Map(ids.map((id) => [id, new Array<number>(most).fill(0)]));
  for (const { slot, alert_id, n } of minutesOf(reader, ids, {
    from,
    until: slotOf(at) + MINUTE,
  })) {
    const of = counts.get(alert_id);
    if (of !== undefined) of[(slot - from) / MINUTE] = n;
  }
  return counts;
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
