import type { Tx } from "../../ground/store/store.ts";

/** Deletes old deliveries, runs of actions and events, a few at a time. */

const EXECUTIONS_OF = `DELETE FROM executions WHERE id IN
  (SELECT x.id FROM executions x JOIN events e ON e.id = x.event_row WHERE e.alert_id = ?)`;

/** Deletes all that was sent for an alert, with the alert itself. */
export function forgetSent(tx: Tx, alertId: number): void {
  for (const text of [
    "DELETE FROM deliveries WHERE alert_id = ?",
    EXECUTIONS_OF,
    "DELETE FROM events WHERE alert_id = ?",
  ])
    tx.sql<[alertId: number]>(text).run(alertId);
}

interface Slice {
  before: number;
  /** Rows, at most. */
  most: number;
}

const DELIVERIES = `DELETE FROM deliveries WHERE id IN
  (SELECT id FROM deliveries WHERE finished_at IS NOT NULL AND finished_at < @before LIMIT @most)`;
const EXECUTIONS = `DELETE FROM executions WHERE id IN
  (SELECT id FROM executions WHERE created_at < @before AND status <> 'pending' LIMIT @most)`;

/** Deletes deliveries that ended before `before`. Returns whether there may be more. */
export function sweepDeliveries(tx: Tx, slice: Slice): boolean {
  return tx.sql<Slice>(DELIVERIES).run(slice).changes === slice.most;
}

/** Deletes runs of actions that began before `before` and aren't waiting any more. Returns whether there may be more. */
export function sweepExecutions(tx: Tx, slice: Slice): boolean {
  return tx.sql<Slice>(EXECUTIONS).run(slice).changes === slice.most;
}

const LAST = "SELECT max(id) FROM (SELECT id FROM events WHERE id > ? ORDER BY id LIMIT ?)";
const EVENTS = `DELETE FROM events WHERE id > ? AND id <= ? AND CASE WHEN alert_id IS NULL THEN timestamp < ?
  ELSE timestamp < ? AND NOT EXISTS (SELECT 1 FROM alerts WHERE alerts.id = events.alert_id) END`;

/**
 * Looks at `most` events after `from`. Deletes those that never had an alert (as of a test) if they are older than `before`, and
 * those whose alert was deleted if they are older than `loose`. Returns the last id it looked at, or null at the end.
 */
export function sweepEvents(
  tx: Tx,
  from: number,
  { most, before, loose }: Slice & { loose: number },
): number | null {
  const last = tx.sql<[from: number, most: number], number | null>(LAST).pluck().get(from, most);
  if (last === null || last === undefined) return null;
  tx.sql<[from: number, last: number, before: number, loose: number]>(EVENTS).run(
    from,
    last,
    before,
    loose,
  );
  return last;
}
