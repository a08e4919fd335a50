import type { Tx } from "../../ground/store/store.ts";

const RUN = `INSERT INTO executions (action_id, project_id, event_row, alert_id, event, status, next_attempt_ms, created_at)
  SELECT ?, project_id, id, alert_id, event, 'pending', ?, ? FROM events
  WHERE alert_id = ? AND event IN ('alert.opened', 'alert.escalated') ORDER BY id DESC LIMIT 1`;

/**
 * Queues a run that somebody asks for: on the alert's latest event that actions run on, with its id and its bytes, and from
 * there on as any other. Returns the execution's id; null where nothing was told of the alert yet.
 */
export function queueRun(
  tx: Tx,
  { actionId, alertId }: { actionId: string; alertId: number },
): string | null {
  const { changes, lastInsertRowid } = tx
    .sql<[string, number, number, number]>(RUN)
    .run(actionId, tx.clock.now(), tx.at, alertId);
  if (changes === 0) return null;
  tx.note({ topic: "action", id: actionId });
  return String(lastInsertRowid);
}
