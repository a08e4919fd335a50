import type { Statement } from "../../ground/store/database.ts";
import type { Tx } from "../../ground/store/store.ts";
import type { AlertLabels } from "./label-book.ts";
import { type LabelColumns, labelColumns, labelsOf } from "./labels.ts";
import { labelsChange } from "./recheck.ts";

/** What ingest writes of alerts that stand, for each batch: statements of its own, since the hot path is measured. */

const FOLD = `UPDATE alerts SET count = ?, last_seen = ?, last_message = ?, template = ?, updated_seq = ?, quiet_at = ?
  WHERE id = ? AND state <> 'resolved'`;

type Folded = [
  count: number,
  lastSeen: number,
  lastMessage: string,
  template: string,
  updatedSeq: number,
  quietAt: number | null,
  id: number,
];

/** What writes a batch's matches into alerts that stand; it changes no row of one that was resolved. */
export function foldStatement(tx: Tx): Statement<Folded> {
  return tx.sql<Folded>(FOLD);
}

const WORD = `UPDATE alerts SET instance = :instance, expires_at = :expires, promised = :expires - last_seen,
    due_at = iif(:expires IS NULL, due_at, min(coalesce(due_at, :expires), :expires))
  WHERE id = :id AND (instance IS NOT :instance OR expires_at IS NOT :expires OR promised IS NOT :expires - last_seen)`;

/**
 * Writes which firing an alert is, and when its sender's word runs out: that may be before all else was due. When it
 * was seen is written before.
 */
export function writeWord(
  tx: Tx,
  alert: { id: number; instance: string | null; expiresAt: number | null },
): void {
  const { id, instance, expiresAt: expires } = alert;
  const { changes } = tx
    .sql<[{ id: number; instance: string | null; expires: number | null }]>(WORD)
    .run({ id, instance, expires });
  if (changes > 0 && expires !== null) tx.note({ topic: "due", at: expires });
}

const SAID = "SELECT labels, varied, varied_more FROM alerts WHERE id = ?";
const SAY =
  "UPDATE alerts SET labels = :labels, varied = :varied, varied_more = :varied_more WHERE id = :id";

/** What the table has of what its events say about themselves. */
export function readLabels(tx: Tx, id: number): AlertLabels {
  const row = tx.sql<[id: number], LabelColumns>(SAID).get(id);
  if (row === undefined) throw new Error(`alert ${id} is gone`);
  return labelsOf(row);
}

export function writeLabels(tx: Tx, id: number, labels: AlertLabels): void {
  const written = labelColumns(labels);
  labelsChange(tx, id, written);
  tx.sql<[LabelColumns & { id: number }]>(SAY).run({ id, ...written });
}

/** Writes what the alert's sender calls it now. */
export function writeTitle(tx: Tx, id: number, title: string): void {
  tx.sql<[title: string, id: number]>("UPDATE alerts SET title = ? WHERE id = ?").run(title, id);
}

/** The latest report of an alert, of which the table has only one before. Unix seconds. */
export interface LaterReport {
  id: number;
  /** When it came, by the clock of that moment. */
  seen: number;
  /** The same by the clock as it is now. */
  at: number;
  expiresAt: number | null;
}

const QUIET =
  "(SELECT json_extract(body, '$.auto_resolve_quiet_minutes') FROM rules WHERE id = rule_id)";
const REPORT = `UPDATE alerts SET last_seen = :seen, expires_at = :expires, promised = :expires - :at,
    quiet_at = coalesce(max(quiet_at, :at + 60 * ${QUIET}), quiet_at),
    due_at = min(coalesce(due_at, :expires), coalesce(:expires, due_at))
  WHERE id = :id AND state <> 'resolved'`;

/** Writes a report that was only in memory: its promise, and from when quiet counts. */
export function writeReport(tx: Tx, { id, seen, at, expiresAt: expires }: LaterReport): void {
  tx.sql<[{ id: number; seen: number; at: number; expires: number | null }]>(REPORT).run({
    id,
    seen,
    at,
    expires,
  });
}
