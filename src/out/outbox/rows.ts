import * as z from "zod";
import { notFound, ServiceError } from "../../ground/kit/errors.ts";
import { queryInteger, queryLimit } from "../../ground/kit/query-fields.ts";
import type { Reader, Tx } from "../../ground/store/store.ts";
import { releaseDeliveries, TOO_OLD } from "./deliveries.ts";
import { eventKinds } from "./event.ts";
import { MAX_AGE_MS } from "./retry.ts";

/** A delivery as it is read (contract §13, Delivery). */
export const deliveryAnswer = z
  .object({
    id: z.string(),
    alert_id: z.string().meta({ description: "Empty where no alert caused the event." }),
    event: z.string(),
    status: z.enum(["pending", "delivered", "failed", "dropped"]),
    attempts: z.int(),
    /** Unix seconds; null once it is over. */
    next_attempt_at: z.int().nullable(),
    last_error: z.string().nullable(),
    created_at: z.int(),
  })
  .meta({ id: "Delivery" });
export type Delivery = z.output<typeof deliveryAnswer>;

const DELIVERY = `SELECT CAST(id AS TEXT) AS id, COALESCE(CAST(alert_id AS TEXT), '') AS alert_id, event, status, attempts,
    (coalesce(next_attempt_ms, iif(status = 'pending', (SELECT tell_ms FROM storms s WHERE s.integration_id = deliveries.integration_id), NULL)) + 999) / 1000
      AS next_attempt_at, last_error, created_at
  FROM deliveries WHERE integration_id = ?`;

export const deliveriesQuery = z.strictObject({
  limit: queryLimit(200, 50),
  status: deliveryAnswer.shape.status.optional(),
  event: z.enum(eventKinds, { error: `must be one of ${eventKinds.join(", ")}` }).optional(),
  alert: queryInteger(1).optional().meta({ description: "Only of the alert with this id." }),
});
type DeliveriesQuery = z.output<typeof deliveriesQuery>;

/** Newest first. */
export function listDeliveries(
  reader: Reader,
  integrationId: string,
  { status, event, alert, limit }: DeliveriesQuery,
): Delivery[] {
  const given = Object.entries({ status, event, alert_id: alert }).flatMap(([column, value]) =>
    value === undefined ? [] : [{ column, value }],
  );
  const where = given.map(({ column }) => ` AND deliveries.${column} = ?`).join("");
  return reader
    .sql<(string | number)[], Delivery>(`${DELIVERY}${where} ORDER BY deliveries.id DESC LIMIT ?`)
    .all(integrationId, ...given.map(({ value }) => value), limit);
}

/** Of the newest so many is counted: a flood isn't read whole for a number. */
const COUNTED = 10_000;
const ENDED = `SELECT coalesce(sum(status = 'delivered'), 0) AS delivered, count(*) AS ended FROM
  (SELECT status, finished_at FROM deliveries WHERE integration_id = ? ORDER BY id DESC LIMIT ${COUNTED})
  WHERE status IN ('delivered', 'failed') AND finished_at >= ?`;

/** How many deliveries ended since then (Unix seconds), and how many of those were delivered; what was dropped isn't counted. */
export function deliveredOf(
  reader: Reader,
  { integration, since }: { integration: string; since: number },
): { delivered: number; ended: number } {
  const row = reader
    .sql<[integration: string, since: number], { delivered: number; ended: number }>(ENDED)
    .get(integration, since);
  return row ?? { delivered: 0, ended: 0 };
}

/** null where the channel has none of this id. */
export function findDelivery(reader: Reader, integrationId: string, id: string): Delivery | null {
  const row = reader
    .sql<[integrationId: string, id: string], Delivery>(`${DELIVERY} AND deliveries.id = ?`)
    .get(integrationId, id);
  return row ?? null;
}

/**
 * An endpoint was enabled: what waited goes out in order, except what is too old for it
 * (contract §6, Breaker).
 */
export function resumeDeliveries(tx: Tx, integrationId: string): void {
  const oldest = Math.floor((tx.clock.now() - MAX_AGE_MS) / 1000);
  tx.sql<[number, string, string, number]>(
    `UPDATE deliveries SET status = 'failed', next_attempt_ms = NULL, finished_at = ?, last_error = ?
     WHERE integration_id = ? AND status = 'pending' AND created_at < ?`,
  ).run(tx.at, TOO_OLD, integrationId, oldest);
  releaseDeliveries(tx, integrationId);
  tx.note({ topic: "endpoint", id: integrationId, well: true });
}

/** What waited for an endpoint and now goes nowhere; `alertId` is null where no alert caused it. */
interface DroppedDelivery {
  alertId: number | null;
  event: string;
  attempts: number;
}

/** An endpoint was deleted: what waited goes nowhere. */
export function dropDeliveries(tx: Tx, integrationId: string): DroppedDelivery[] {
  return tx
    .sql<[at: number, integrationId: string], DroppedDelivery>(
      `UPDATE deliveries SET status = 'dropped', next_attempt_ms = NULL, finished_at = ?
       WHERE integration_id = ? AND status = 'pending' RETURNING alert_id AS alertId, event, attempts`,
    )
    .all(tx.at, integrationId);
}

/**
 * Sends an event once more: a new delivery of the same event, with its id and its bytes. Returns the new
 * delivery's id. Throws 404, and 409 for one that is still under way, that was dropped,
 * or whose event is no longer kept.
 */
export function resendDelivery(tx: Tx, integrationId: string, deliveryId: string): string {
  const why = whyNotAgain(tx, integrationId, deliveryId);
  if (why !== null) throw new ServiceError("delivery_not_resendable", why);
  const { lastInsertRowid } = tx
    .sql<[number, number, string]>(
      `INSERT INTO deliveries (integration_id, event_row, alert_id, rule_id, rank, event, status, next_attempt_ms, created_at)
       SELECT integration_id, event_row, alert_id, rule_id, rank, event, 'pending', ?, ? FROM deliveries WHERE id = ?`,
    )
    .run(tx.clock.now(), tx.at, deliveryId);
  tx.note({ topic: "endpoint", id: integrationId });
  return String(lastInsertRowid);
}

const RESENT = `SELECT d.status, d.last_error AS error, e.id AS kept FROM deliveries d
  LEFT JOIN events e ON e.id = d.event_row WHERE d.integration_id = ? AND d.id = ?`;

/** Why a delivery can't be sent again; null where it can. Throws 404. */
export function whyNotAgain(
  reader: Reader,
  integrationId: string,
  deliveryId: string,
): string | null {
  const row = reader
    .sql<[integrationId: string, deliveryId: string], ResendRow>(RESENT)
    .get(integrationId, deliveryId);
  if (row === undefined) throw notFound("delivery");
  return notResendable(row);
}

function notResendable({ status, error, kept }: ResendRow): string | null {
  if (kept === null) return "The delivery's event is no longer kept.";
  if (status === "pending") return "The delivery is still pending: it will be tried by itself.";
  if (status !== "dropped") return null;
  const why = error === null ? "" : ` (${error})`;
  return `The delivery was dropped on purpose${why}: what it told was over, or not for this channel.`;
}

interface ResendRow {
  status: Delivery["status"];
  error: string | null;
  kept: number | null;
}

/** Rows failed in one go: so many fit in a moment. */
const MOST_EXPIRED = 500;

/**
 * Fails deliveries that were not made within 24 hours, those of disabled endpoints too, so that no
 * row waits for ever; at most a slice of them. Whether there may be more.
 */
export function expireDeliveries(
  tx: Tx,
  tell: (tx: Tx, alertId: number, entry: { kind: string; detail: Record<string, unknown> }) => void,
): boolean {
  const oldest = Math.floor((tx.clock.now() - MAX_AGE_MS) / 1000);
  const rows = tx
    .sql<
      [number, string, number],
      {
        alertId: number | null;
        event: string;
        attempts: number;
        error: string;
      }
    >(
      `UPDATE deliveries SET status = 'failed', next_attempt_ms = NULL, finished_at = ?, last_error = COALESCE(last_error, ?)
       WHERE id IN (SELECT id FROM deliveries WHERE status = 'pending' AND created_at < ? LIMIT ${MOST_EXPIRED})
       RETURNING alert_id AS alertId, event, attempts, last_error AS error`,
    )
    .all(tx.at, TOO_OLD, oldest);
  for (const { alertId, ...detail } of rows)
    if (alertId !== null) tell(tx, alertId, { kind: "delivery_failed", detail });
  return rows.length === MOST_EXPIRED;
}

/** A run of an action as it is read (contract §13, Action execution). */
export const executionAnswer = z
  .object({
    id: z.string(),
    action_id: z.string(),
    /** "test" for a test-fire, as in the event it sends. */
    alert_id: z.string(),
    event: z.string(),
    status: z.enum(["pending", "succeeded", "failed", "timed_out"]),
    attempts: z.int(),
    status_code: z.int().nullable(),
    duration_ms: z.int().nullable(),
    response_prefix: z.string(),
    error: z.string(),
    executed_at: z.int().nullable(),
    created_at: z.int(),
  })
  .meta({ id: "Execution" });
export type Execution = z.output<typeof executionAnswer>;

const SELECT_EXECUTION = `SELECT CAST(id AS TEXT) AS id, action_id,
    CASE event WHEN 'alert.test' THEN 'test' ELSE COALESCE(CAST(alert_id AS TEXT), '') END AS alert_id,
    event, status, attempts, status_code, duration_ms, response_prefix, error, executed_at, created_at FROM executions`;
const EXECUTIONS = `${SELECT_EXECUTION} WHERE action_id = ? AND project_id = ? ORDER BY executions.id DESC LIMIT ?`;

/** Newest first; also of an action that was deleted. */
export function listExecutions(
  reader: Reader,
  of: { projectId: number; actionId: string },
  limit: number,
): Execution[] {
  return reader
    .sql<[actionId: string, projectId: number, limit: number], Execution>(EXECUTIONS)
    .all(of.actionId, of.projectId, limit);
}

const OF_ALERT = `${SELECT_EXECUTION} WHERE executions.alert_id = ? ORDER BY executions.id DESC LIMIT ?`;

/** What ran for an alert, newest first. */
export function alertExecutions(reader: Reader, alertId: number, limit: number): Execution[] {
  return reader.sql<[alertId: number, limit: number], Execution>(OF_ALERT).all(alertId, limit);
}

/** Whether an action, also one that was deleted, has run. */
export function hasExecutions(reader: Reader, of: { projectId: number; id: string }): boolean {
  const found = reader
    .sql<[id: string, projectId: number]>(
      "SELECT 1 FROM executions WHERE action_id = ? AND project_id = ? LIMIT 1",
    )
    .get(of.id, of.projectId);
  return found !== undefined;
}

/** How many deliveries wait, and since when the oldest does (Unix seconds). */
export function oldestWaiting(reader: Reader): { n: number; oldest: number | null } {
  const waiting = reader
    .sql<[], { n: number; oldest: number | null }>(
      "SELECT count(*) AS n, min(created_at) AS oldest FROM deliveries WHERE status = 'pending'",
    )
    .get();
  return waiting ?? { n: 0, oldest: null };
}
