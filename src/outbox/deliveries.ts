import { writeTimeline } from "../alerts/timeline.ts";
import type { IntegrationType } from "../store/schema.ts";
import type { Reader, Store, Tx } from "../store/store.ts";
import type { Attempted, Queue, QueuedRow, Recorded } from "./queue.ts";
import {
  afterAttempt,
  type BreakerLimits,
  breakerOpens,
  type DeliveryNext,
  signedTimestamp,
  type Verdict,
} from "./retry.ts";

/** An integration as a sender needs it. */
export interface IntegrationRow {
  id: string;
  project_id: number;
  name: string;
  type: IntegrationType;
  url: string;
  sealed: string | null;
  enabled: number;
  relay: number;
  consecutive_failures: number;
  failing_since: number | null;
}

/** What goes to a channel: the event's fixed body and the second to sign it with. */
export interface Message {
  eventId: string;
  event: string;
  body: string;
  signedAt: number;
}

/** How an attempt ended, and what the channel learned on the way. */
export interface Sent {
  verdict: Verdict;
  /** The group became another chat: stored in place of the old one. */
  chatId?: string;
}

export interface DeliveryQueueOptions {
  store: Store;
  breaker: BreakerLimits;
  /** Sends through the integration's channel. Never throws. */
  send(integration: IntegrationRow, message: Message): Promise<Sent>;
  /** Stores a chat id that a channel learned. */
  moveChat(tx: Tx, integrationId: string, chatId: string): void;
  /** Tells the project's other channels and the log that an endpoint was disabled. */
  disabled(tx: Tx, integration: IntegrationRow, why: string): void;
}

interface Outcome extends Sent {
  signedAt: number;
}

interface DeliveryRow {
  id: number;
  event_id: string;
  event: string;
  body: string;
  created_at: number;
  signed_at: number | null;
}

const INTEGRATION = `SELECT id, project_id, name, type, url, sealed, enabled, relay, consecutive_failures, failing_since
  FROM integrations WHERE id = ?`;

/** The first pending row of each alert that is due. */
const DUE = `SELECT d.id, d.alert_id AS alertId, d.attempts FROM deliveries d
  WHERE d.integration_id = ? AND d.status = 'pending' AND d.next_attempt_ms <= ?
    AND NOT EXISTS (SELECT 1 FROM deliveries e WHERE e.alert_id = d.alert_id AND e.integration_id = d.integration_id
      AND e.status = 'pending' AND e.id < d.id)`;

const ENDPOINTS = `WITH RECURSIVE e (id) AS (
    SELECT min(integration_id) FROM deliveries WHERE status = 'pending'
    UNION ALL SELECT (SELECT min(integration_id) FROM deliveries WHERE status = 'pending' AND integration_id > e.id) FROM e WHERE e.id IS NOT NULL
  ) SELECT id FROM e WHERE id IS NOT NULL`;

/** Deliveries to integrations as the dispatcher's queue (decisions §6). */
export function deliveryQueue(options: DeliveryQueueOptions): Queue<Outcome> {
  const { store } = options;
  return {
    name: "deliveries",
    probes: true,
    endpoints: (reader) => reader.sql(ENDPOINTS).pluck().all() as string[],
    due(reader, endpoint, { nowMs, limit, probe }) {
      const order = probe ? "d.attempts, d.id" : "d.id";
      return reader
        .sql(`${DUE} ORDER BY ${order} LIMIT ?`)
        .all(endpoint, nowMs, limit) as QueuedRow[];
    },
    nextDue: (reader, endpoint, nowMs) =>
      reader
        .sql(
          "SELECT min(next_attempt_ms) FROM deliveries WHERE integration_id = ? AND status = 'pending' AND next_attempt_ms > ?",
        )
        .pluck()
        .get(endpoint, nowMs) as number | null,
    endpoint(reader, id) {
      const row = findIntegration(reader, id);
      return row === null
        ? null
        : { enabled: row.enabled !== 0, failures: row.consecutive_failures };
    },
    async send(endpoint, queued) {
      const now = Math.floor(store.clock.now() / 1000);
      const integration = findIntegration(store, endpoint);
      const row = findDelivery(store, queued.id);
      if (integration === null || row === null)
        return { verdict: { kind: "never", error: "withdrawn" }, signedAt: now };
      const signedAt = signedTimestamp(row.signed_at, now);
      const sent = await options.send(integration, {
        eventId: row.event_id,
        event: row.event,
        body: row.body,
        signedAt,
      });
      return { ...sent, signedAt };
    },
    record: (tx, endpoint, attempted) => record(tx, endpoint, { attempted, options }),
    release(tx, endpoint) {
      tx.sql(
        "UPDATE deliveries SET next_attempt_ms = ? WHERE integration_id = ? AND status = 'pending' AND next_attempt_ms > ?",
      ).run(tx.clock.now(), endpoint, tx.clock.now());
      return (
        (tx
          .sql("SELECT max(id) FROM deliveries WHERE integration_id = ? AND status = 'pending'")
          .pluck()
          .get(endpoint) as number | null) ?? 0
      );
    },
  };
}

export function findIntegration(reader: Reader, id: string): IntegrationRow | null {
  return (reader.sql(INTEGRATION).get(id) as IntegrationRow | undefined) ?? null;
}

function findDelivery(reader: Reader, id: number): DeliveryRow | null {
  const row = reader
    .sql(
      `SELECT d.id, e.event_id, d.event, e.body, d.created_at, d.signed_at
       FROM deliveries d JOIN events e ON e.id = d.event_row WHERE d.id = ? AND d.status = 'pending'`,
    )
    .get(id);
  return (row as DeliveryRow | undefined) ?? null;
}

function record(
  tx: Tx,
  endpoint: string,
  { attempted, options }: { attempted: Attempted<Outcome>; options: DeliveryQueueOptions },
): Recorded {
  const { row, outcome } = attempted;
  const integration = findIntegration(tx, endpoint);
  const created = tx.sql("SELECT created_at FROM deliveries WHERE id = ?").pluck().get(row.id) as
    | number
    | undefined;
  const well = outcome.verdict.kind === "delivered";
  if (created === undefined || integration === null) return { well, disabled: false };
  const next = afterAttempt({
    verdict: outcome.verdict,
    attempts: row.attempts + 1,
    createdAt: created * 1000,
    now: tx.clock.now(),
    fraction: tx.random.fraction(),
  });
  writeDelivery(tx, { row, next, signedAt: outcome.signedAt });
  if (outcome.chatId !== undefined) options.moveChat(tx, endpoint, outcome.chatId);
  tellTimeline(tx, integration, { row, next });
  if (well) {
    clearStreak(tx, endpoint);
    return { well, disabled: false };
  }
  return {
    well,
    disabled: countFailure(tx, integration, {
      next,
      breaker: options.breaker,
      disabled: options.disabled,
    }),
  };
}

/** By compare-and-set: a row that was withdrawn meanwhile stays so, unless it really went out. */
function writeDelivery(
  tx: Tx,
  { row, next, signedAt }: { row: QueuedRow; next: DeliveryNext; signedAt: number },
): void {
  const pending = next.status === "pending";
  tx.sql(
    `UPDATE deliveries SET status = ?, attempts = attempts + 1, next_attempt_ms = ?, signed_at = ?, last_error = ?, finished_at = ?
     WHERE id = ? AND (status = 'pending' OR (status = 'dropped' AND ? = 'delivered'))`,
  ).run(
    next.status,
    pending ? Math.round(next.nextAttemptAt) : null,
    signedAt,
    next.status === "delivered" ? null : next.error,
    pending ? null : tx.at,
    row.id,
    next.status,
  );
}

function tellTimeline(
  tx: Tx,
  integration: IntegrationRow,
  { row, next }: { row: QueuedRow; next: DeliveryNext },
): void {
  if (row.alertId === null || (next.status === "pending" && row.attempts > 0)) return;
  const exists = tx.sql("SELECT event FROM deliveries WHERE id = ?").pluck().get(row.id) as string;
  const kind =
    next.status === "delivered"
      ? "delivered"
      : next.status === "failed"
        ? "delivery_failed"
        : "delivery_delayed";
  writeTimeline(tx, row.alertId, {
    kind,
    detail: {
      integration: integration.name === "" ? integration.id : integration.name,
      type: integration.type,
      event: exists,
      attempts: row.attempts + 1,
      ...(next.status === "delivered" ? {} : { error: next.error }),
    },
  });
}

function clearStreak(tx: Tx, id: string): void {
  tx.sql(
    `UPDATE integrations SET consecutive_failures = 0, failing_since = NULL, last_error = NULL
     WHERE id = ? AND enabled = 1 AND (consecutive_failures > 0 OR last_error IS NOT NULL)`,
  ).run(id);
}

/** Adds to the streak; whether that opened the breaker, or the endpoint asked for no more (410). */
function countFailure(
  tx: Tx,
  integration: IntegrationRow,
  {
    next,
    breaker,
    disabled,
  }: { next: DeliveryNext; breaker: BreakerLimits; disabled: DeliveryQueueOptions["disabled"] },
): boolean {
  const error = next.status === "delivered" ? "" : next.error;
  const failingSince = integration.failing_since ?? tx.at;
  const failures = integration.consecutive_failures + 1;
  tx.sql(
    "UPDATE integrations SET consecutive_failures = ?, failing_since = ?, last_error = ? WHERE id = ?",
  ).run(failures, failingSince, error, integration.id);
  const gone = next.status === "failed" && next.disable;
  const opens = breakerOpens(
    { failures, failingSince: failingSince * 1000, now: tx.clock.now() },
    breaker,
  );
  if (integration.enabled === 0 || !(gone || opens)) return false;
  const why = gone ? error : `disabled after ${failures} failed attempts: ${error}`;
  tx.sql("UPDATE integrations SET enabled = 0, last_error = ? WHERE id = ?").run(
    why,
    integration.id,
  );
  disabled(tx, integration, why);
  return true;
}
