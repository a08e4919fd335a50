import type { Tx } from "../store/store.ts";

/** What was sent and run, and goes when it is old, a slice at a time. */

const EXECUTIONS_OF = `DELETE FROM executions WHERE id IN
  (SELECT x.id FROM executions x JOIN events e ON e.id = x.event_row WHERE e.alert_id = ?)`;

/** All that went out for an alert that is deleted. */
export function forgetSent(tx: Tx, alertId: number): void {
  for (const text of [
    "DELETE FROM deliveries WHERE alert_id = ?",
    EXECUTIONS_OF,
    "DELETE FROM events WHERE alert_id = ?",
  ])
    tx.sql<[alertId: number]>(text).run(alertId);
}

interface Slice {
  /** Unix seconds. */
  before: number;
  /** Rows, at most. */
  most: number;
}

const DELIVERIES = `DELETE FROM deliveries WHERE id IN
  (SELECT id FROM deliveries WHERE finished_at IS NOT NULL AND finished_at < @before LIMIT @most)`;
const EXECUTIONS = `DELETE FROM executions WHERE id IN
  (SELECT id FROM executions WHERE created_at < @before AND status <> 'pending' LIMIT @most)`;

/** Deliveries that were over before. Whether there may be more. */
export function sweepDeliveries(tx: Tx, slice: Slice): boolean {
  return tx.sql<Slice>(DELIVERIES).run(slice).changes === slice.most;
}

/** Runs of actions that were begun before, unless they still wait. Whether there may be more. */
export function sweepExecutions(tx: Tx, slice: Slice): boolean {
  return tx.sql<Slice>(EXECUTIONS).run(slice).changes === slice.most;
}

const LAST = "SELECT max(id) FROM (SELECT id FROM events WHERE id > ? ORDER BY id LIMIT ?)";
const EVENTS = `DELETE FROM events WHERE id > ? AND id <= ? AND CASE WHEN alert_id IS NULL THEN timestamp < ?
  ELSE timestamp < ? AND NOT EXISTS (SELECT 1 FROM alerts WHERE alerts.id = events.alert_id) END`;

/**
 * Looks at `most` events after `from`: those that no alert caused go when they are from before `before`, those whose
 * alert is gone when they are from before `loose`. Returns the last one looked at, null at the end.
 */
export function sweepEvents(
  tx: Tx,
  from: number,
  { most, before, loose }: Slice & { loose: number },
): number | null {
  const last = tx.sql<[from: number, most: number], number | null>(LAST).pluck().get(from, most);
  if (last === null || last === undefined) return null;
  tx.sql<[from: number, last: number, before: number, loose: number]>(EVENTS).run(
    ...[from, last, before, loose],
  );
  return last;
}
