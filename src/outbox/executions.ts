import { writeTimeline } from "../alerts/timeline.ts";
import type { Store, Tx } from "../store/store.ts";
import type { Attempted, Queue, QueuedRow } from "./queue.ts";
import { afterActionAttempt, type ExecutionNext, type Verdict } from "./retry.ts";

/** An action as its sender needs it. */
export interface ActionRow {
  id: string;
  project_id: number;
  name: string;
  method: string;
  url: string;
  sealed_headers: string | null;
  sealed_body: string | null;
  enabled: number;
  timeout_seconds: number;
}

/** One run of an action: the verdict and what the execution log keeps of it. */
export interface ActionRun {
  verdict: Verdict;
  statusCode: number | null;
  durationMs: number;
  responsePrefix: string;
  error: string;
}

export interface ExecutionQueueOptions {
  store: Store;
  /** Runs the action with `eventBody` as its body where it has none stored. Never throws. */
  run(action: ActionRow, eventBody: string): Promise<ActionRun>;
}

const ACTION =
  "SELECT id, project_id, name, method, url, sealed_headers, sealed_body, enabled, timeout_seconds FROM actions WHERE id = ?";

const DUE = `SELECT x.id, x.alert_id AS alertId, x.attempts FROM executions x
  WHERE x.action_id = ? AND x.status = 'pending' AND x.next_attempt_ms <= ?
    AND NOT EXISTS (SELECT 1 FROM executions y WHERE y.action_id = x.action_id AND y.alert_id = x.alert_id
      AND y.status = 'pending' AND y.id < x.id)
  ORDER BY x.id LIMIT ?`;

const GONE: ActionRun = {
  verdict: { kind: "never", error: "the action was deleted" },
  statusCode: null,
  durationMs: 0,
  responsePrefix: "",
  error: "the action was deleted",
};

/** Runs of runbook actions as the dispatcher's queue (decisions §6, Runbook actions). */
export function executionQueue({ store, run }: ExecutionQueueOptions): Queue<ActionRun> {
  return {
    name: "executions",
    probes: false,
    endpoints: (reader) =>
      reader
        .sql("SELECT DISTINCT action_id FROM executions WHERE status = 'pending'")
        .pluck()
        .all() as string[],
    due: (reader, action, { nowMs, limit }) =>
      reader.sql(DUE).all(action, nowMs, limit) as QueuedRow[],
    nextDue: (reader, action, nowMs) =>
      reader
        .sql(
          "SELECT min(next_attempt_ms) FROM executions WHERE action_id = ? AND status = 'pending' AND next_attempt_ms > ?",
        )
        .pluck()
        .get(action, nowMs) as number | null,
    // A disabled action still runs what was queued before; a deleted one fails what is queued.
    endpoint: () => ({ enabled: true, failures: 0 }),
    async send(action, queued) {
      const row = store.sql(ACTION).get(action) as ActionRow | undefined;
      const body = store
        .sql("SELECT e.body FROM executions x JOIN events e ON e.id = x.event_row WHERE x.id = ?")
        .pluck()
        .get(queued.id) as string | undefined;
      return row === undefined || body === undefined ? GONE : run(row, body);
    },
    record(tx, _action, attempted) {
      const next = afterActionAttempt({
        verdict: attempted.outcome.verdict,
        attempts: attempted.row.attempts + 1,
        now: tx.clock.now(),
      });
      writeExecution(tx, attempted, next);
      return { well: next.status === "succeeded", disabled: false };
    },
    release: () => 0,
  };
}

function writeExecution(tx: Tx, { row, outcome }: Attempted<ActionRun>, next: ExecutionNext): void {
  tx.sql(
    `UPDATE executions SET status = ?, attempts = attempts + 1, next_attempt_ms = ?, status_code = ?, duration_ms = ?,
       response_prefix = ?, error = ?, executed_at = ? WHERE id = ? AND status = 'pending'`,
  ).run(
    next.status,
    next.status === "pending" ? Math.round(next.nextAttemptAt) : null,
    outcome.statusCode,
    Math.round(outcome.durationMs),
    outcome.responsePrefix,
    outcome.error,
    tx.at,
    row.id,
  );
  if (row.alertId === null || next.status === "pending") return;
  const action = tx
    .sql("SELECT a.name FROM executions x JOIN actions a ON a.id = x.action_id WHERE x.id = ?")
    .pluck()
    .get(row.id) as string | undefined;
  writeTimeline(tx, row.alertId, {
    kind: next.status === "succeeded" ? "action_succeeded" : "action_failed",
    detail: {
      action: action ?? "",
      attempts: row.attempts + 1,
      ...(outcome.error === "" ? {} : { error: outcome.error }),
    },
  });
}
