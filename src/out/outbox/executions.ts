import type { Store, Tx } from "../../ground/store/store.ts";
import type { OutboxEntry } from "./destination.ts";
import type { Attempted, Queue, QueuedRow } from "./queue.ts";
import { afterActionAttempt, type ExecutionNext, isTooOld } from "./retry.ts";
import { type ActionRow, findAction } from "./runs.ts";
import type { ActionOutcome } from "./senders/action.ts";

interface ExecutionQueueOptions {
  store: Store;
  /** Runs the action with `eventBody` as its body where it has none stored. Never throws. */
  run(action: ActionRow, eventBody: string): Promise<ActionOutcome>;
  /** Writes a line of an alert's history. */
  tell(tx: Tx, alertId: number, entry: OutboxEntry): void;
}

interface ExecutionRow extends QueuedRow {
  /** null where the event is no longer kept. */
  body: string | null;
}

const DUE = `SELECT x.id, x.alert_id AS alertId, x.attempts, x.event, x.created_at AS createdAt, v.body
  FROM executions x LEFT JOIN events v ON v.id = x.event_row
  WHERE x.action_id = ? AND x.status = 'pending' AND x.next_attempt_ms <= ?
    AND x.id NOT IN (SELECT value FROM json_each(?))
    AND NOT EXISTS (SELECT 1 FROM executions y WHERE y.action_id = x.action_id AND y.alert_id = x.alert_id
      AND y.status = 'pending' AND y.id < x.id)
  ORDER BY x.id LIMIT ?`;

/** Runs of runbook actions as the dispatcher's queue (contract §6, Runbook actions). */
export function executionQueue(
  options: ExecutionQueueOptions,
): Queue<ActionOutcome, ActionRow | null, ExecutionRow> {
  return {
    name: "executions",
    probes: false,
    endpoints: (reader) =>
      reader
        .sql<[], string>(
          "SELECT DISTINCT action_id FROM executions INDEXED BY executions_pending WHERE status = 'pending'",
        )
        .pluck()
        .all(),
    due: (reader, action, { nowMs, limit, inFlight }) =>
      reader
        .sql<[string, number, string, number], ExecutionRow>(DUE)
        .all(action, nowMs, JSON.stringify([...inFlight]), limit),
    nextDue: (reader, action, nowMs) =>
      reader
        .sql<[action: string, nowMs: number], number | null>(
          "SELECT min(next_attempt_ms) FROM executions WHERE action_id = ? AND status = 'pending' AND next_attempt_ms > ?",
        )
        .pluck()
        .get(action, nowMs) ?? null,
    // A disabled action still runs what was queued before; a deleted one fails what is queued.
    endpoint: (reader, id) => ({ enabled: true, failures: 0, target: findAction(reader, id) }),
    send: (action, queued) => send(options, action, queued),
    broken: () => unsent("could not be run: see the log"),
    isWell: ({ verdict }) => verdict.kind === "delivered",
    record(tx, _action, attempted) {
      const next = afterActionAttempt({
        verdict: attempted.outcome.verdict,
        attempts: attempted.row.attempts + 1,
        now: tx.clock.now(),
      });
      if (attempted.outcome.verdict.kind === "waiting" && next.status === "pending") {
        putOff(tx, attempted.row, next.nextAttemptAt);
        return { well: null };
      }
      if (writeExecution(tx, attempted, next)) tellTimeline(tx, options, { attempted, next });
      return { well: next.status === "succeeded" };
    },
    release: () => 0,
    backlog: () => 0,
    isDrained: () => true,
  };
}

async function send(
  { store, run }: ExecutionQueueOptions,
  action: ActionRow | null,
  { body, createdAt }: ExecutionRow,
): Promise<ActionOutcome> {
  if (action === null) return unsent("the action was deleted");
  if (body === null) return unsent("its event is no longer kept");
  if (isTooOld(createdAt * 1000, store.clock.now())) return unsent("not run within 24 h");
  return run(action, body);
}

/** A run that can't be made, now or later. */
function unsent(error: string): ActionOutcome {
  return {
    verdict: { kind: "never", error },
    statusCode: null,
    durationMs: 0,
    responsePrefix: "",
    error,
  };
}

/** A run that waited in a queue of this side was none. */
function putOff(tx: Tx, { id }: QueuedRow, nextAttemptAt: number): void {
  tx.sql<[number, number]>(
    "UPDATE executions SET next_attempt_ms = ? WHERE id = ? AND status = 'pending'",
  ).run(Math.round(nextAttemptAt), id);
}

/** By compare-and-set; false where the row is over already or gone with its project. */
function writeExecution(
  tx: Tx,
  { row, outcome }: Attempted<ActionOutcome>,
  next: ExecutionNext,
): boolean {
  const { changes } = tx
    .sql<[string, number | null, number | null, number, string, string, number, number]>(
      `UPDATE executions SET status = ?, attempts = attempts + 1, next_attempt_ms = ?, status_code = ?, duration_ms = ?,
         response_prefix = ?, error = ?, executed_at = ? WHERE id = ? AND status = 'pending'`,
    )
    .run(
      next.status,
      next.status === "pending" ? Math.round(next.nextAttemptAt) : null,
      outcome.statusCode,
      Math.round(outcome.durationMs),
      outcome.responsePrefix,
      outcome.error,
      tx.at,
      row.id,
    );
  return changes > 0;
}

function tellTimeline(
  tx: Tx,
  { tell }: ExecutionQueueOptions,
  ended: { attempted: Attempted<ActionOutcome>; next: ExecutionNext },
): void {
  const { row, outcome } = ended.attempted;
  if (row.alertId === null || ended.next.status === "pending") return;
  const action = tx
    .sql<[id: number], string>(
      "SELECT a.name FROM executions x JOIN actions a ON a.id = x.action_id WHERE x.id = ?",
    )
    .pluck()
    .get(row.id);
  tell(tx, row.alertId, {
    kind: ended.next.status === "succeeded" ? "action_succeeded" : "action_failed",
    detail: {
      action: action ?? "",
      attempts: row.attempts + 1,
      ...(outcome.error === "" ? {} : { error: outcome.error }),
    },
  });
}
