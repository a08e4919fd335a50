import type { Sealer } from "../../ground/kit/sealer.ts";
import type { Tx } from "../../ground/store/store.ts";
import { type ContactRow, findContact, learnContact } from "../contacts/contacts.ts";
import { markGateway } from "../contacts/gateways.ts";
import { recordAttempt } from "../contacts/health.ts";
import type { Recorded } from "../outbox/queue.ts";
import { type Verdict, waitMs } from "../outbox/retry.ts";
import { contactKindList } from "../services/list.ts";
import { giveUp, type PageOutcomes, wayOf, withdrawFrom } from "./lost.ts";
import { isPage, PAGE_AGE_MS, type PageOutcome, type PageRow } from "./page.ts";
import { makeLateNote } from "./pages.ts";
import { shareShown } from "./shown.ts";

/** Nobody waits longer than this for the next attempt at a page. */
const LONGEST_WAIT_MS = 60_000;
/** Nobody's alert waits while a service wants rest for longer than this. */
const LONGEST_REST_MS = 300_000;
const REFUSED = "refused";

interface RecordOptions extends PageOutcomes {
  sealer: Sealer;
  /** A page was due while its alert was quiet. */
  hold(tx: Tx, alertId: number): void;
}

/** What becomes of a row after an attempt. Times are Unix milliseconds. Pure. */
function afterPage(attempt: {
  verdict: Verdict | { kind: "dropped"; error: string };
  attempts: number;
  dueMs: number;
  now: number;
  fraction: number;
}):
  | { status: "delivered" }
  | { status: "pending"; nextMs: number; error: string }
  | { status: "failed"; error: string } {
  const { verdict, attempts, dueMs, now, fraction } = attempt;
  if (verdict.kind === "delivered") return { status: "delivered" };
  if (verdict.kind !== "later" && verdict.kind !== "waiting")
    return { status: "failed", error: verdict.error };
  const asked = verdict.kind === "later" ? verdict.retryAfterMs : undefined;
  const wait =
    verdict.kind === "waiting"
      ? 2_000
      : Math.max(Math.min(waitMs({ attempts, fraction }), LONGEST_WAIT_MS), asked ?? 0);
  const nextMs = Math.round(now + wait);
  return nextMs - dueMs > PAGE_AGE_MS
    ? { status: "failed", error: verdict.error }
    : { status: "pending", nextMs, error: verdict.error };
}

const WRITE = `UPDATE pages SET status = ?, outcome = iif(outcome IS NULL OR outcome = 'refused', ?, outcome), attempts = attempts + ?, next_attempt_ms = ?, sent_with = ?, ref = coalesce(?, ref),
    last_error = ?, finished_at = ?
  WHERE id = ? AND (status = 'pending' OR (status IN ('withdrawn', 'failed') AND ? = 'delivered')) RETURNING alert_id`;

/** Writes how an attempt ended: each row that its message named, the alerts' histories, the contact's health. */
export function pageRecorder(
  options: RecordOptions,
): (tx: Tx, contactId: string, outcome: PageOutcome) => Recorded {
  return (tx, contactId, outcome) => {
    const contact = findContact(tx, contactId);
    if (contact === null) return { well: null };
    const { rows, verdict } = outcome;
    if (outcome.isQuiet) {
      for (const alertId of new Set(rows.map((row) => row.alertId))) options.hold(tx, alertId);
      return { well: null };
    }
    const lead = rows[0]?.id ?? null;
    const together = new Set(rows.map(({ alertId }) => alertId)).size;
    const lost = new Map<number, PageRow>();
    for (const sent of rows) {
      const wasWithdrawn = isWithdrawn(tx, sent.id);
      const written = writeRow(tx, { row: sent, outcome, lead: sent.id === lead ? null : lead });
      if (written === null) continue;
      const { ended, alertId } = written;
      const row = { ...sent, alertId };
      tellOf(tx, options, { contact, row, ended, together });
      const isRefused = isHopeless(outcome) && row.outcome !== REFUSED;
      if (wasWithdrawn && isPage(row)) noteLate(tx, { contact, alertId: row.alertId });
      if (ended.status === "failed" || isRefused) lost.set(row.alertId, row);
    }
    if (lead !== null && rows.length > 1) shareShown(tx, options, { contact, lead });
    if (outcome.learned !== undefined)
      learnContact(tx, options.sealer, { id: contactId, learned: outcome.learned });
    // First: whom others are paged for may have no way left by this.
    const recorded = recordContact(tx, { contact, outcome, isWell: verdict.kind === "delivered" });
    for (const row of lost.values()) giveUp(tx, options, row);
    if (isGone(verdict)) withdrawFrom(tx, options, contact);
    return recorded;
  };
}

/** The page went out although somebody had taken the alert by then. */
function noteLate(tx: Tx, { contact, alertId }: { contact: ContactRow; alertId: number }): void {
  const kind = contactKindList.find(contact.kind);
  if (kind?.notes !== true) return;
  makeLateNote(tx, { alertId, contactId: contact.id, edits: kind.edit !== undefined });
}

function isWithdrawn(tx: Tx, id: number): boolean {
  const status = tx.sql<[id: number], string>("SELECT status FROM pages WHERE id = ?").pluck();
  return status.get(id) === "withdrawn";
}

type Ended = ReturnType<typeof afterPage>;

/**
 * By compare-and-set: what was withdrawn meanwhile stays so, unless it really went out. Null where nothing changed. `alertId`: the
 * alert that it is of now, since that may have become one with another.
 */
function writeRow(
  tx: Tx,
  { row, outcome, lead }: { row: PageRow; outcome: PageOutcome; lead: number | null },
): { ended: Ended; alertId: number } | null {
  const { verdict } = outcome;
  const ended = afterPage({
    verdict,
    attempts: row.attempts + 1,
    dueMs: row.dueMs,
    now: tx.clock.now(),
    fraction: tx.random.fraction(),
  });
  const isOver = ended.status !== "pending";
  const isAttempt = verdict.kind !== "waiting" && verdict.kind !== "dropped";
  const alertId = tx
    .sql<
      [
        ...[string, string | null, number, number | null, number | null, string | null],
        ...[string | null, number | null, number, string],
      ],
      number
    >(WRITE)
    .pluck()
    .get(
      ended.status,
      factOf(ended, outcome),
      isAttempt ? 1 : 0,
      isOver ? null : ended.nextMs,
      lead,
      outcome.ref ?? null,
      ended.status === "delivered" ? null : ended.error,
      isOver ? tx.at : null,
      row.id,
      ended.status,
    );
  return alertId === undefined ? null : { ended, alertId };
}

/** What is known of it; a page of a refused gateway, or of a service that rests, waits without being hoped for. */
function factOf({ status }: Ended, outcome: PageOutcome): string | null {
  if (status === "delivered") return "accepted";
  return status === "pending" && isHopeless(outcome) ? REFUSED : null;
}

const isHopeless = ({ refused, verdict }: PageOutcome): boolean =>
  refused === true || (verdict.kind === "later" && (verdict.retryAfterMs ?? 0) > LONGEST_REST_MS);

const TOLD = { delivered: "page_sent", failed: "page_failed", pending: "page_delayed" } as const;

/** Of the failed attempts only the first is told. What only says what became of an alert is no news. */
function tellOf(
  tx: Tx,
  { tell }: RecordOptions,
  {
    contact,
    row,
    ended,
    together,
  }: { contact: ContactRow; row: PageRow; ended: Ended; together: number },
): void {
  if (!isPage(row) || (ended.status === "pending" && row.attempts > 0)) return;
  tell(tx, row.alertId, {
    kind: TOLD[ended.status],
    detail: {
      ...wayOf(contact),
      event: row.event,
      rung: row.eventRow,
      attempts: row.attempts + 1,
      ...(together > 1 ? { together } : {}),
      ...(ended.status === "delivered" ? {} : { error: ended.error }),
    },
  });
  // Who looks at the alert sees that somebody was told, or wasn't.
  tx.note({ topic: "written", kind: "alert", id: String(row.alertId), name: "", project: null });
}

const isGone = (verdict: PageOutcome["verdict"]): boolean =>
  verdict.kind === "never" && verdict.disable === true;

function recordContact(
  tx: Tx,
  { contact, outcome, isWell }: { contact: ContactRow; outcome: PageOutcome; isWell: boolean },
): Recorded {
  const { verdict } = outcome;
  const gateway = contactKindList.find(contact.kind)?.gateway?.kind ?? null;
  if (isWell) {
    recordAttempt(tx, contact, { well: true, sent: outcome.rows.some(isPage) });
    if (gateway !== null) markGateway(tx, gateway, null);
    return { well: true };
  }
  if (verdict.kind === "waiting" || verdict.kind === "dropped") return { well: null };
  const error = verdict.kind === "delivered" ? "" : verdict.error;
  // What it says of one person for good says nothing of the gateway.
  if (gateway !== null && verdict.kind === "later") markGateway(tx, gateway, error);
  if (outcome.ours) return { well: null };
  const gone = isGone(verdict);
  // A service may want rest from what is no news: the next page doesn't wait for that.
  if (!gone && !outcome.rows.some(isPage)) return { well: null };
  recordAttempt(tx, contact, { well: false, error, gone, lost: verdict.kind === "never" });
  const restMs = verdict.kind === "later" ? (verdict.retryAfterMs ?? 0) : 0;
  return { well: false, restMs };
}
