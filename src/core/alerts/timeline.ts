import * as z from "zod";
import type { Reader, Tx } from "../../ground/store/store.ts";

export const timelineEntry = z
  .object({
    at: z.int(),
    kind: z.string(),
    account_id: z.string().nullable(),
    detail: z.record(z.string(), z.unknown()),
  })
  .meta({ id: "TimelineEntry" });
export type TimelineEntry = z.output<typeof timelineEntry>;

/** Writes one line of an alert's history, in the transaction of what happened. */
export function writeTimeline(
  tx: Tx,
  alertId: number,
  entry: { kind: string; accountId?: string | null; detail?: Record<string, unknown> },
): void {
  tx.sql<[number, number, string, string | null, string]>(
    "INSERT INTO timeline (alert_id, at, kind, account_id, detail) VALUES (?, ?, ?, ?, ?)",
  ).run(alertId, tx.at, entry.kind, entry.accountId ?? null, JSON.stringify(entry.detail ?? {}));
}

/** As `writeTimeline`, for what may outlive its alert: history goes with the alert. */
export function writeLateTimeline(
  tx: Tx,
  alertId: number,
  entry: { kind: string; detail: Record<string, unknown> },
): void {
  tx.sql<[number, string, string, number]>(
    "INSERT INTO timeline (alert_id, at, kind, detail) SELECT id, ?, ?, ? FROM alerts WHERE id = ?",
  ).run(tx.at, entry.kind, JSON.stringify(entry.detail), alertId);
}

type Row = Omit<TimelineEntry, "detail"> & { detail: string };

/** `rung` tells the numbers which contacts were told at one step: it is the row of an event, and nobody else's. */
const read = <T extends { detail: string }>(row: T) => {
  const { rung: _, ...detail } = JSON.parse(row.detail) as Record<string, unknown>;
  return { ...row, detail };
};

/** Who, what, when: oldest first (contract §5). */
export function readTimeline(reader: Reader, alertId: number): TimelineEntry[] {
  const rows = reader.sql<[alertId: number], Row>(
    "SELECT at, kind, account_id, detail FROM timeline WHERE alert_id = ? ORDER BY id",
  );
  return rows.all(alertId).map(read);
}

/** One that a link can lead to. */
export interface NumberedEntry extends TimelineEntry {
  id: number;
}

/** The latest entries of an alert's history, at most `most`, oldest first. */
export function latestTimeline(reader: Reader, alertId: number, most: number): NumberedEntry[] {
  const rows = reader.sql<[alertId: number, most: number], Row & { id: number }>(
    "SELECT id, at, kind, account_id, detail FROM timeline WHERE alert_id = ? ORDER BY id DESC LIMIT ?",
  );
  return rows.all(alertId, most).reverse().map(read);
}

/** The latest entry of these kinds of each of these alerts, by the alert's id; an alert that has none isn't there. */
export function latestEntries(
  reader: Reader,
  alertIds: readonly number[],
  kinds: readonly string[],
): Map<number, TimelineEntry> {
  if (alertIds.length === 0) return new Map();
  // Two statements for a page of alerts: one for each of them is a fifth of what the page costs.
  const ids = reader
    .sql<[of: { alerts: string; kinds: string }], number | null>(LATEST_IDS)
    .pluck()
    .all({ alerts: JSON.stringify(alertIds), kinds: JSON.stringify(kinds) });
  const rows = reader
    .sql<[ids: string], Row & { alert_id: number }>(THESE_ENTRIES)
    .all(JSON.stringify(ids));
  return new Map(rows.map(({ alert_id, ...row }) => [alert_id, read(row)]));
}

const LATEST_IDS = `SELECT (SELECT max(id) FROM timeline WHERE alert_id = a.value
    AND kind IN (SELECT value FROM json_each(:kinds)))
  FROM json_each(:alerts) a`;
const THESE_ENTRIES = `SELECT alert_id, at, kind, account_id, detail FROM timeline
  WHERE id IN (SELECT value FROM json_each(?))`;
