import type { Tx } from "../../ground/store/store.ts";

const PAGES = "('alert.opened', 'alert.escalated', 'alert.renotified')";

const QUEUED = `alert_id = ? AND status = 'pending' AND event IN ${PAGES}
    AND integration_id IN (SELECT id FROM integrations WHERE relay = 1 OR type = 'apns')`;
const WITHDRAW = `UPDATE deliveries SET status = 'dropped', next_attempt_ms = NULL, finished_at = ? WHERE ${QUEUED}`;
const HAND_OVER = `UPDATE deliveries SET alert_id = ? WHERE ${QUEUED}`;

/**
 * Withdraws the pages of an alert that weren't sent yet, because somebody acknowledged or resolved it. Other channels
 * still get every event, in order (contract §5). Returns how many were withdrawn.
 */
export function withdrawPages(tx: Tx, alertId: number): number {
  return tx.sql<[at: number, alertId: number]>(WITHDRAW).run(tx.at, alertId).changes;
}

/** Moves the pages of an alert that weren't sent yet to another alert: they are sent, and withdrawn with that one. */
export function handOverPages(tx: Tx, { from, to }: { from: number; to: number }): void {
  tx.sql<[to: number, from: number]>(HAND_OVER).run(to, from);
}
