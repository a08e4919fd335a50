import type { SqlValue } from "../../ground/store/database.ts";
import type { Reader, Tx } from "../../ground/store/store.ts";
import type { DeliveryOutcome, DeliveryQueueOptions } from "./delivery.ts";
import { deliveryRecorder } from "./delivery-record.ts";
import { addressOf, findIntegration, type IntegrationRow } from "./destination.ts";
import type { Look, Queue, QueuedRow } from "./queue.ts";
import { isTooOld, signedTimestamp } from "./retry.ts";
import { type Flow, takeTurns } from "./turns.ts";

/** With all that goes out, so that one look reads everything it starts. */
interface DeliveryRow extends QueuedRow {
  signedAt: number | null;
  eventId: string | null;
  /** null where the event is no longer kept. */
  body: string | null;
  said: string | null;
}

/** What `last_error` says of a delivery that was never made in time. */
export const TOO_OLD = "not delivered within 24 h";

/** Rows that have waited longer than this piled up while the endpoint could not be called. */
const BACKLOG_SECONDS = 10;
const BACKLOG = `SELECT max(id) FROM deliveries INDEXED BY deliveries_pending
  WHERE integration_id = ? AND status = 'pending' AND next_attempt_ms IS NOT NULL AND (attempts > 0 OR created_at < ?)`;

/** The first pending row of each alert that is due. */
const IS_DUE = `d.integration_id = ? AND d.status = 'pending' AND d.next_attempt_ms <= ?
    AND NOT EXISTS (SELECT 1 FROM deliveries e WHERE e.alert_id = d.alert_id AND e.integration_id = d.integration_id
      AND e.status = 'pending' AND e.id < d.id)`;
const DUE = `SELECT d.id, d.alert_id AS alertId, d.attempts, d.event, d.created_at AS createdAt, d.signed_at AS signedAt,
    v.event_id AS eventId, v.body, v.said FROM deliveries d LEFT JOIN events v ON v.id = d.event_row
  WHERE ${IS_DUE} AND d.rank = ? AND d.rule_id = ? AND d.id NOT IN (SELECT value FROM json_each(?))`;
const STILL_DUE = `SELECT 1 FROM deliveries d INDEXED BY deliveries_pending WHERE ${IS_DUE} AND d.id <= ? LIMIT 1`;

/** One step through the index, however many rows wait in between. */
const NEXT_FLOW = `SELECT rank, rule_id AS ruleId FROM deliveries
  WHERE integration_id = ? AND status = 'pending' AND (rank, rule_id) > (?, ?) ORDER BY rank, rule_id LIMIT 1`;

const ENDPOINTS = `WITH RECURSIVE e (id) AS (
    SELECT min(integration_id) FROM deliveries WHERE status = 'pending'
    UNION ALL SELECT (SELECT min(integration_id) FROM deliveries WHERE status = 'pending' AND integration_id > e.id) FROM e WHERE e.id IS NOT NULL
  ) SELECT id FROM e WHERE id IS NOT NULL`;

/** Deliveries to integrations as the dispatcher's queue (contract §6). */
export function deliveryQueue(
  options: DeliveryQueueOptions,
): Queue<DeliveryOutcome, IntegrationRow, DeliveryRow> {
  const { store } = options;
  const record = deliveryRecorder(options);
  return {
    name: "deliveries",
    probes: true,
    endpoints: (reader) => reader.sql<[], string>(ENDPOINTS).pluck().all(),
    due,
    nextDue: (reader, endpoint, nowMs) =>
      reader
        .sql<[endpoint: string, nowMs: number], number | null>(
          "SELECT min(next_attempt_ms) FROM deliveries WHERE integration_id = ? AND status = 'pending' AND next_attempt_ms > ?",
        )
        .pluck()
        .get(endpoint, nowMs) ?? null,
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
      return (
        reader
          .sql<[endpoint: string, before: number], number | null>(BACKLOG)
          .pluck()
          .get(endpoint, before) ?? 0
      );
    },
    isDrained: (reader, endpoint, { rowId, nowMs }) =>
      reader
        .sql<[endpoint: string, nowMs: number, rowId: number]>(STILL_DUE)
        .get(endpoint, nowMs, rowId) === undefined,
  };
}

function due(reader: Reader, endpoint: string, look: Look): DeliveryRow[] {
  const { nowMs, limit, probe, inFlight, turns } = look;
  const statement = reader.sql<SqlValue[], DeliveryRow>(
    `${DUE} ORDER BY ${probe ? "d.attempts, d.id" : "d.id"} LIMIT ?`,
  );
  const given = new Set(inFlight);
  const read = ({ rank, ruleId }: Flow, most: number) => {
    const but = JSON.stringify([...given]);
    const rows = statement.all(endpoint, nowMs, rank, ruleId, but, most);
    for (const { id } of rows) given.add(id);
    return rows;
  };
  const seen = turns.flows ?? [];
  const known = takeTurns(turns, seen, { limit, read });
  if (known.length === limit) return known;
  // Nothing may stay behind because it came since.
  turns.flows = flowsOf(reader, endpoint);
  if (JSON.stringify(turns.flows) === JSON.stringify(seen)) return known;
  const rest = takeTurns(turns, turns.flows, { limit: limit - known.length, read });
  return [...known, ...rest];
}

/** The rules and levels that have rows waiting, lowest first. */
function flowsOf(reader: Reader, endpoint: string): Flow[] {
  const next = reader.sql<[endpoint: string, rank: number, rule: number], Flow>(NEXT_FLOW);
  const flows: Flow[] = [];
  for (let last: Flow | undefined = { rank: -1, ruleId: -1 }; last !== undefined; ) {
    last = next.get(endpoint, last.rank, last.ruleId);
    if (last !== undefined) flows.push(last);
  }
  return flows;
}

/** Makes everything that waits for the endpoint due, oldest first; the id of the last row, 0 for none. */
export function releaseDeliveries(tx: Tx, integrationId: string): number {
  tx.sql<[number, string, number]>(
    "UPDATE deliveries SET next_attempt_ms = ? WHERE integration_id = ? AND status = 'pending' AND next_attempt_ms > ?",
  ).run(tx.clock.now(), integrationId, tx.clock.now());
  const last = tx
    .sql<[integrationId: string], number | null>(
      "SELECT max(id) FROM deliveries INDEXED BY deliveries_pending WHERE integration_id = ? AND status = 'pending'",
    )
    .pluck()
    .get(integrationId);
  return last ?? 0;
}

async function send(
  { store, send: sendThrough }: DeliveryQueueOptions,
  integration: IntegrationRow,
  { eventId, event, body, said, createdAt, signedAt: signedBefore }: DeliveryRow,
): Promise<DeliveryOutcome> {
  const nowMs = store.clock.now();
  const now = Math.floor(nowMs / 1000);
  if (eventId === null || body === null)
    return { verdict: { kind: "never", error: "withdrawn" }, ours: true, signedAt: now };
  if (isTooOld(createdAt * 1000, nowMs))
    return { verdict: { kind: "never", error: TOO_OLD }, ours: true, signedAt: now };
  const signedAt = signedTimestamp(signedBefore, now);
  const message = { eventId, event, body, said, signedAt };
  const sent = await sendThrough(integration, message);
  return { ...sent, signedAt, eventId, sentTo: addressOf(integration) };
}
