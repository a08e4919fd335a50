import type { Store, Tx } from "../store/store.ts";
import { deliveryRecorder } from "./delivery-record.ts";
import {
  findIntegration,
  type IntegrationRow,
  type Message,
  type OutboxEntry,
  type Sent,
} from "./destination.ts";
import type { Queue, QueuedRow } from "./queue.ts";
import { type BreakerLimits, isTooOld, signedTimestamp } from "./retry.ts";

export interface DeliveryQueueOptions {
  store: Store;
  breaker: BreakerLimits;
  /** Sends through the integration's channel. Never throws. */
  send(integration: IntegrationRow, message: Message): Promise<Sent>;
  /** Stores a chat id that a channel learned. */
  moveChat(tx: Tx, integrationId: string, chatId: string): void;
  /** Tells the project's other channels and the log that an endpoint was disabled. */
  disabled(tx: Tx, integration: IntegrationRow, why: string): void;
  /** Writes a line of an alert's history. */
  tell(tx: Tx, alertId: number, entry: OutboxEntry): void;
}

export interface DeliveryOutcome extends Sent {
  signedAt: number;
}

/** With all that goes out, so that one look reads everything it starts. */
interface DeliveryRow extends QueuedRow {
  signedAt: number | null;
  eventId: string | null;
  /** null where the event is no longer kept. */
  body: string | null;
}

/** What `last_error` says of a delivery that was never made in time. */
export const TOO_OLD = "not delivered within 24 h";

/** Rows that have waited longer than this piled up while the endpoint could not be called. */
const BACKLOG_SECONDS = 10;
const BACKLOG = `SELECT max(id) FROM deliveries
  WHERE integration_id = ? AND status = 'pending' AND (attempts > 0 OR created_at < ?)`;

/** The first pending row of each alert that is due. The sums keep SQLite from planning anew for every value. */
const DUE = `SELECT d.id, d.alert_id AS alertId, d.attempts, d.event, d.created_at AS createdAt, d.signed_at AS signedAt,
    v.event_id AS eventId, v.body FROM deliveries d LEFT JOIN events v ON v.id = d.event_row
  WHERE d.integration_id = ? AND d.status = 'pending' AND d.next_attempt_ms <= ? + 0
    AND d.id NOT IN (SELECT value FROM json_each(?))
    AND NOT EXISTS (SELECT 1 FROM deliveries e WHERE e.alert_id = d.alert_id AND e.integration_id = d.integration_id
      AND e.status = 'pending' AND e.id < d.id)`;

const ENDPOINTS = `WITH RECURSIVE e (id) AS (
    SELECT min(integration_id) FROM deliveries WHERE status = 'pending'
    UNION ALL SELECT (SELECT min(integration_id) FROM deliveries WHERE status = 'pending' AND integration_id > e.id) FROM e WHERE e.id IS NOT NULL
  ) SELECT id FROM e WHERE id IS NOT NULL`;

/** Deliveries to integrations as the dispatcher's queue (decisions §6). */
export function deliveryQueue(
  options: DeliveryQueueOptions,
): Queue<DeliveryOutcome, IntegrationRow, DeliveryRow> {
  const { store } = options;
  const record = deliveryRecorder(options);
  return {
    name: "deliveries",
    probes: true,
    endpoints: (reader) => reader.sql(ENDPOINTS).pluck().all() as string[],
    due(reader, endpoint, { nowMs, limit, probe, inFlight }) {
      const order = probe ? "d.attempts, d.id" : "d.id";
      return reader
        .sql(`${DUE} ORDER BY ${order} LIMIT ? + 0`)
        .all(endpoint, nowMs, JSON.stringify([...inFlight]), limit) as DeliveryRow[];
    },
    nextDue: (reader, endpoint, nowMs) =>
      reader
        .sql(
          "SELECT min(next_attempt_ms) FROM deliveries WHERE integration_id = ? AND status = 'pending' AND next_attempt_ms > ?",
        )
        .pluck()
        .get(endpoint, nowMs) as number | null,
    endpoint(reader, id) {
      const target = findIntegration(reader, id);
      if (target === null) return null;
      return { enabled: target.enabled !== 0, failures: target.consecutive_failures, target };
    },
    send: (integration, queued) => send(options, integration, queued),
    broken: () => ({
      verdict: { kind: "later", error: "could not be sent: see the log" },
      ours: true,
      signedAt: Math.floor(store.clock.now() / 1000),
    }),
    isWell: ({ verdict }) => verdict.kind === "delivered",
    record: (tx, endpoint, attempted) => record(tx, { endpoint, ...attempted }),
    release: releaseDeliveries,
    backlog(reader, endpoint, nowMs) {
      const before = Math.floor(nowMs / 1000) - BACKLOG_SECONDS;
      return (reader.sql(BACKLOG).pluck().get(endpoint, before) as number | null) ?? 0;
    },
  };
}

/** Makes everything that waits for the endpoint due, oldest first; the id of the last row, 0 for none. */
export function releaseDeliveries(tx: Tx, integrationId: string): number {
  tx.sql(
    "UPDATE deliveries SET next_attempt_ms = ? WHERE integration_id = ? AND status = 'pending' AND next_attempt_ms > ?",
  ).run(tx.clock.now(), integrationId, tx.clock.now());
  const last = tx
    .sql("SELECT max(id) FROM deliveries WHERE integration_id = ? AND status = 'pending'")
    .pluck()
    .get(integrationId) as number | null;
  return last ?? 0;
}

async function send(
  { store, send: sendThrough }: DeliveryQueueOptions,
  integration: IntegrationRow,
  { eventId, event, body, ...row }: DeliveryRow,
): Promise<DeliveryOutcome> {
  const nowMs = store.clock.now();
  const now = Math.floor(nowMs / 1000);
  if (eventId === null || body === null)
    return { verdict: { kind: "never", error: "withdrawn" }, ours: true, signedAt: now };
  if (isTooOld(row.createdAt * 1000, nowMs))
    return { verdict: { kind: "never", error: TOO_OLD }, ours: true, signedAt: now };
  const signedAt = signedTimestamp(row.signedAt, now);
  const message = { eventId, event, body, signedAt };
  return { ...(await sendThrough(integration, message)), signedAt };
}
