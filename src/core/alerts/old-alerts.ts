import type { Tx } from "../../ground/store/store.ts";
import { forgetSent } from "../../out/outbox/old-rows.ts";
import { forgetPages } from "../../out/paging/pages.ts";

const OLD = `SELECT id FROM alerts a WHERE resolved_at IS NOT NULL AND resolved_at < ?
    AND NOT EXISTS (SELECT 1 FROM timeline t WHERE t.alert_id = a.id AND t.id > ?)
  ORDER BY resolved_at LIMIT ?`;

/**
 * Deletes at most `most` alerts that were resolved before `before` (Unix seconds), with all that was sent for them. Those stay
 * whose history has a line after `counted`: it isn't in the numbers yet.
 */
export function sweepAlerts(
  tx: Tx,
  { before, counted, most }: { before: number; counted: number; most: number },
): boolean {
  const ids = tx
    .sql<[before: number, counted: number, most: number], number>(OLD)
    .pluck()
    .all(before, counted, most);
  for (const id of ids) {
    forgetSent(tx, id);
    forgetPages(tx, id);
    tx.sql<[id: number]>("DELETE FROM alerts WHERE id = ? AND state = 'resolved'").run(id);
  }
  return ids.length === most;
}
