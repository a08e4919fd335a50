import type { SqlValue } from "../../ground/store/database.ts";
import type { Tx } from "../../ground/store/store.ts";
import { OFF_BY } from "./channel-health.ts";
import type { DeliveryOutcome, DeliveryQueueOptions } from "./delivery.ts";
import { addressOf, findIntegration, type IntegrationRow } from "./destination.ts";
import type { QueuedRow, Recorded } from "./queue.ts";
import { type Paged, recordPaged } from "./relay-silence.ts";
import { afterAttempt, breakerOpens, type DeliveryNext } from "./retry.ts";
import { keptRequest, withTry } from "./tried.ts";

/** What becomes of the row: an attempt's next step, or that it was dropped and why. */
type Next = DeliveryNext | { readonly status: "dropped"; readonly error: string };

interface Ended {
  row: QueuedRow;
  outcome: DeliveryOutcome;
  next: Next;
}

/**
 * Writes how attempts ended: the row, its alert's history, the endpoint's streak and its breaker (contract §6).
 * An endpoint that is well is read once for all of a transaction's rows.
 */
export function deliveryRecorder(
  options: DeliveryQueueOptions,
): (tx: Tx, attempted: { endpoint: string; row: QueuedRow; outcome: DeliveryOutcome }) => Recorded {
  const readIn = new WeakMap<Tx, Map<string, IntegrationRow | null>>();
  return (tx, { endpoint, row: sent, outcome: told }) => {
    const known = readIn.get(tx) ?? new Map<string, IntegrationRow | null>();
    readIn.set(tx, known);
    // Who looks at the channel sees it once for all of them.
    if (!known.has(endpoint)) tx.note({ topic: "attempted", id: endpoint });
    const integration = known.get(endpoint) ?? findIntegration(tx, endpoint);
    if (integration === null) return { well: null };
    const isFormer = told.sentTo !== undefined && told.sentTo !== addressOf(integration);
    const outcome = isFormer ? ofFormer(told) : told;
    const attempt = { row: sent, outcome, next: nextOf(tx, sent, outcome) };
    const written = writeDelivery(tx, attempt);
    // The alert may have become one with another.
    const row = { ...sent, ...written };
    const ended = { ...attempt, row };
    // It may be what tells of a storm.
    if (row.alertId === null && ended.next.status !== "pending") tx.note({ topic: "storms" });
    if (outcome.paged !== undefined) hearPaged(tx, options, row, outcome.paged);
    if (outcome.learned !== undefined) options.learn(tx, endpoint, outcome.learned);
    if (written !== undefined) tellTimeline(tx, options, { ...ended, integration });
    const isUnchanged =
      ended.next.status === "delivered" &&
      outcome.learned === undefined &&
      !isNews(tx, integration);
    known.set(endpoint, isUnchanged ? integration : null);
    if (isFormer) return { well: null };
    return recordEndpoint(tx, options, { integration, ended });
  };
}

/** An event that pages some and reached no phone of theirs is for others now. */
function hearPaged(tx: Tx, { noPhone }: DeliveryQueueOptions, row: QueuedRow, paged: Paged): void {
  recordPaged(tx, paged);
  const { alertId } = row;
  if (paged.devices > 0 || paged.accounts === null || alertId === null) return;
  const since = tx.sql<[id: number], number>(RUNG).pluck().get(row.id);
  if (since !== undefined) noPhone(tx, { alertId, since });
}

/** What an address answered that the integration has no more: all but that it took it is tried at the present one. */
function ofFormer({ learned: _, ...told }: DeliveryOutcome): DeliveryOutcome {
  const { verdict } = told;
  if (verdict.kind === "delivered") return told;
  return { ...told, verdict: { kind: "waiting", error: verdict.error } };
}

function nextOf(tx: Tx, row: QueuedRow, { verdict }: DeliveryOutcome): Next {
  if (verdict.kind === "dropped") return { status: "dropped", error: verdict.error };
  // Nearly all of them: nothing is to be reckoned.
  if (verdict.kind === "delivered") return { status: "delivered" };
  return afterAttempt({
    verdict,
    attempts: row.attempts + 1,
    createdAt: row.createdAt * 1000,
    now: tx.clock.now(),
    fraction: tx.random.fraction(),
  });
}

/**
 * By compare-and-set: a row that was withdrawn or given up meanwhile stays so, unless it really went out. The alert that it is of
 * now; nothing where nothing changed.
 */
function writeDelivery(
  tx: Tx,
  { row, outcome, next }: Ended,
): Pick<QueuedRow, "alertId"> | undefined {
  const pending = next.status === "pending";
  return tx
    .sql<SqlValue[], Pick<QueuedRow, "alertId">>(
      `UPDATE deliveries SET status = ?, attempts = attempts + ?, next_attempt_ms = ?, signed_at = ?, last_error = ?, finished_at = ?,
         tries = coalesce(?, tries), request = coalesce(?, request)
       WHERE id = ? AND (status = 'pending' OR (status IN ('dropped', 'failed') AND ? = 'delivered'))
       RETURNING alert_id AS alertId`,
    )
    .get(
      next.status,
      isAttempt(outcome) ? 1 : 0,
      pending ? Math.round(next.nextAttemptAt) : null,
      outcome.signedAt,
      next.status === "delivered" ? null : next.error,
      pending ? null : tx.at,
      ...triedOf(tx, { row, outcome, next }),
      row.id,
      next.status,
    );
}

const TRIES = "SELECT tries FROM deliveries WHERE id = ?";

/** The row's attempts with this one, and its request; null for what stays as it is. */
function triedOf(
  tx: Tx,
  { row, outcome, next }: Ended,
): [tries: string | null, request: string | null] {
  const { tried } = outcome;
  if (tried === undefined || !isAttempt(outcome)) return [null, null];
  // What went well at once, which is nearly all of it, has none before.
  const kept =
    row.attempts === 0 ? null : tx.sql<[id: number], string | null>(TRIES).pluck().get(row.id);
  const tries = withTry(kept ?? null, tried, next.status === "delivered" ? null : next.error);
  const { eventId, signedAt } = outcome;
  if (tried.request === undefined || eventId === undefined) return [tries, null];
  return [tries, keptRequest(tried.request, { eventId, signedAt }, next.status === "delivered")];
}

/** Whether anything was tried: what was dropped or waited here was not. */
function isAttempt({ verdict }: DeliveryOutcome): boolean {
  return verdict.kind !== "dropped" && verdict.kind !== "waiting";
}

const KINDS = {
  delivered: "delivered",
  failed: "delivery_failed",
  dropped: "delivery_dropped",
  pending: "delivery_delayed",
} as const;

/** Of the failed attempts only the first is told: the others say the same again. */
function tellTimeline(
  tx: Tx,
  { tell }: DeliveryQueueOptions,
  { row, outcome, next, integration }: Ended & { integration: IntegrationRow },
): void {
  if (row.alertId === null) return;
  if (next.status === "pending" && (row.attempts > 0 || !isAttempt(outcome))) return;
  tell(tx, row.alertId, {
    kind: KINDS[next.status],
    detail: {
      integration: integration.name === "" ? integration.id : integration.name,
      type: integration.type,
      event: row.event,
      attempts: row.attempts + (isAttempt(outcome) ? 1 : 0),
      ...rangOf(tx, row, outcome),
      ...(next.status === "delivered" ? {} : { error: next.error }),
    },
  });
}

const RUNG = "SELECT event_row FROM deliveries WHERE id = ?";

/** Whose phones the relay paged, and by which event; nothing where it paged none, or isn't known to have. */
function rangOf(tx: Tx, row: QueuedRow, { paged }: DeliveryOutcome): Record<string, unknown> {
  if (paged === undefined || paged.devices === 0 || paged.accounts === null) return {};
  const rung = tx.sql<[id: number], number>(RUNG).pluck().get(row.id);
  return { phones: paged.devices, accounts: paged.accounts, rung };
}

/** Counts the attempt for or against its endpoint, unless it says nothing about it. */
function recordEndpoint(
  tx: Tx,
  options: DeliveryQueueOptions,
  { integration, ended: { outcome, next } }: { integration: IntegrationRow; ended: Ended },
): Recorded {
  if (next.status === "delivered") {
    noteWorking(tx, integration);
    return { well: true };
  }
  if (outcome.ours || !isAttempt(outcome)) {
    if (next.status === "pending") setLastError(tx, integration.id, next.error);
    return { well: null };
  }
  countFailure(tx, options, { integration, next });
  const { verdict } = outcome;
  const restMs = verdict.kind === "later" ? (verdict.retryAfterMs ?? 0) : 0;
  return { well: false, restMs };
}

const A_MINUTE = 60;

/** Whether an attempt that went well says something new: it failed before, or took nothing for a minute. */
function isNews(tx: Tx, { consecutive_failures, last_error, worked_at }: IntegrationRow): boolean {
  const age = worked_at === null ? A_MINUTE : Math.abs(tx.at - worked_at);
  return consecutive_failures > 0 || last_error !== null || age >= A_MINUTE;
}

function noteWorking(tx: Tx, integration: IntegrationRow): void {
  if (integration.enabled === 0 || !isNews(tx, integration)) return;
  endStreak(tx, integration.id);
}

/** It took something: a delivery, or a test. */
export function endStreak(tx: Tx, id: string): void {
  tx.sql<[at: number, id: string]>(
    "UPDATE integrations SET consecutive_failures = 0, failing_since = NULL, last_error = NULL, worked_at = ? WHERE id = ?",
  ).run(tx.at, id);
}

function setLastError(tx: Tx, id: string, error: string): void {
  tx.sql<[error: string, id: string]>(
    "UPDATE integrations SET last_error = ? WHERE id = ? AND enabled = 1",
  ).run(error, id);
}

/** Adds to the streak; opens the breaker where it is long and old enough, or where the endpoint asked for no more (410). */
function countFailure(
  tx: Tx,
  { breaker, disabled }: DeliveryQueueOptions,
  {
    integration,
    next,
  }: { integration: IntegrationRow; next: Exclude<Next, { status: "delivered" }> },
): void {
  // An attempt that was under way when somebody disabled the endpoint says nothing new.
  if (integration.enabled === 0) return;
  const failingSince = integration.failing_since ?? tx.at;
  const failures = integration.consecutive_failures + 1;
  const gone = next.status === "failed" && next.disable;
  const opens = breakerOpens(
    { failures, failingSince: failingSince * 1000, now: tx.clock.now() },
    breaker,
  );
  const why = gone
    ? `disabled: it asked for no more (${next.error})`
    : `disabled after ${failures} failed attempts: ${next.error}`;
  const shut = gone || opens;
  const { id } = integration;
  tx.sql<[number, number, string, string]>(
    "UPDATE integrations SET consecutive_failures = ?, failing_since = ?, last_error = ? WHERE id = ?",
  ).run(failures, failingSince, shut ? why : next.error, id);
  if (!shut) return;
  tx.sql<[at: number, by: string, id: string]>(
    "UPDATE integrations SET enabled = 0, off_at = ?, off_by = ? WHERE id = ?",
  ).run(tx.at, gone ? OFF_BY.receiver : OFF_BY.breaker, id);
  disabled(tx, integration, why);
}
