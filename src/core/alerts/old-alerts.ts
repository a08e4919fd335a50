import type { Tx } from "../../ground/store/store.ts";
import { forgetSent } from "../../out/outbox/old-rows.ts";
import { forgetPages } from "../../out/paging/pages.ts";

const OLD = `SELECT id FROM alerts WHERE resolved_at IS NOT NULL AND resolved_at < ?
  ORDER BY resolved_at LIMIT ?`;

/** Deletes at most `most` alerts that were resolved before `before` (Unix seconds), with all that was sent for them. */
export function sweepAlerts(tx: Tx, { before, most }: { before: number; most: number }): boolean {
  const ids = tx.sql<[before: number, most: number], number>(OLD).pluck().all(before, most);
  for (const id of ids) {
    forgetSent(tx, id);
    forgetPages(tx, id);
    tx.sql<[id: number]>("DELETE FROM alerts WHERE id = ? AND state = 'resolved'").run(id);
  }
  return ids.length === most;
}
