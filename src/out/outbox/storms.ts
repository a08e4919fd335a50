import type { SqlValue } from "../../ground/store/database.ts";
import type { Store, Tx } from "../../ground/store/store.ts";
import { findIntegration, type IntegrationRow, type OutboxEntry } from "./destination.ts";
import { STORM_MS } from "./storm.ts";
import { enqueueSummary } from "./summary.ts";

/** Tells rooms, each minute, of what their storms hold, and records it as told once the message has gone. */

interface Storm {
  id: string;
  tellMs: number;
  /** The message that is under way, or was. */
  summary: number | null;
  /** Alerts that it tells of. */
  told: number | null;
}

type Tell = (tx: Tx, alertId: number, entry: OutboxEntry) => void;

/** Held deliveries that are recorded in one transaction, each with a line of its alert's history. */
const SLICE = 250;
/** A message that waits is looked at again so often, beside being told of its end. */
const LOOK_MS = 60_000;

const STORMS =
  "SELECT integration_id AS id, tell_ms AS tellMs, summary_id AS summary, told FROM storms ORDER BY integration_id";
const END = "DELETE FROM storms WHERE integration_id = ?";
const TOLD =
  "UPDATE storms SET summary_id = ?, told = ?, is_on = ?, tell_ms = ? WHERE integration_id = ?";
const RECORDED = "UPDATE storms SET summary_id = NULL, told = NULL WHERE integration_id = ?";

/** Does what is due of every storm; when to look again (Unix ms), null where there is none. */
export function tellStorms(store: Store, tell: Tell): number | null {
  const next = store
    .sql<[], Storm>(STORMS)
    .all()
    .map((storm) => store.write((tx) => look(tx, storm, tell)))
    .filter((at) => at !== null);
  return next.length === 0 ? null : Math.min(...next);
}

/** One transaction: a kill leaves it undone, and the next look does it. */
function look(tx: Tx, storm: Storm, tell: Tell): number | null {
  const now = tx.clock.now();
  const integration = findIntegration(tx, storm.id);
  if (integration === null) {
    tx.sql<[id: string]>(END).run(storm.id);
    return null;
  }
  if (storm.summary !== null) {
    const summary = outcomeOf(tx, storm.summary);
    if (summary.status === "pending") return now + LOOK_MS;
    if (record(tx, { storm, integration, summary, tell })) return now;
    tx.sql<[id: string]>(RECORDED).run(storm.id);
    tx.note({ topic: "endpoint", id: storm.id });
  }
  if (storm.tellMs > now) return storm.tellMs;
  const made = enqueueSummary(tx, { id: storm.id, projectId: integration.project_id });
  if (made === null) {
    tx.sql<[id: string]>(END).run(storm.id);
    return null;
  }
  // A minute as calm as any ends it: what opens next is told by itself.
  const isOn = made.told > (integration.storm_threshold ?? 0) ? 1 : 0;
  tx.sql<SqlValue[]>(TOLD).run(made.id, made.told, isOn, now + STORM_MS, storm.id);
  return now + LOOK_MS;
}

interface Outcome {
  status: "pending" | "delivered" | "failed" | "dropped";
  error: string | null;
}

function outcomeOf(tx: Tx, id: number): Outcome {
  const row = tx
    .sql<[id: number], Outcome>("SELECT status, last_error AS error FROM deliveries WHERE id = ?")
    .get(id);
  return row ?? { status: "dropped", error: "its message is no longer kept" };
}

const RECORD = `UPDATE deliveries SET status = ?, finished_at = ?, last_error = ?, told_by = ? WHERE id IN
  (SELECT id FROM deliveries INDEXED BY deliveries_held
   WHERE integration_id = ? AND status = 'pending' AND next_attempt_ms IS NULL AND id < ? LIMIT ${SLICE})
  RETURNING alert_id AS alertId, event`;
const KINDS = {
  delivered: "delivered",
  failed: "delivery_failed",
  dropped: "delivery_dropped",
} as const;

/** A slice of what the message told of becomes what the message became. Whether there may be more. */
function record(
  tx: Tx,
  how: { storm: Storm; integration: IntegrationRow; summary: Outcome; tell: Tell },
): boolean {
  const { storm, integration, summary, tell } = how;
  const { status, error } = summary;
  if (status === "pending") return false;
  const rows = tx
    .sql<SqlValue[], { alertId: number; event: string }>(RECORD)
    .all(status, tx.at, error, storm.summary, storm.id, storm.summary);
  for (const { alertId, event } of rows)
    tell(tx, alertId, {
      kind: KINDS[status],
      detail: {
        integration: integration.name === "" ? integration.id : integration.name,
        type: integration.type,
        event,
        attempts: 1,
        told_with: (storm.told ?? 1) - 1,
        ...(status === "delivered" ? {} : { error: error ?? "" }),
      },
    });
  return rows.length === SLICE;
}
