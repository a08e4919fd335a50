import type { Tx } from "../../ground/store/store.ts";
import { type ContactRow, findContact } from "../contacts/contacts.ts";
import { isPage, PAGE_AGE_MS } from "./page.ts";
import { anyHope, PAGE_EVENTS } from "./pages.ts";

/** Pages that come to nothing: too late, or for a contact that is gone. None ends without a word. */

/** Who is told of a page that came to nothing. */
export interface PageOutcomes {
  /** Writes a line of an alert's history. */
  tell(tx: Tx, alertId: number, entry: { kind: string; detail: Record<string, unknown> }): void;
  /** A page failed for good, and nobody of its alert has been told or is about to be. */
  unreached(tx: Tx, alertId: number): void;
}

/** Who and by what, for the history. */
export function wayOf({ accountId, kind, label, shown }: ContactRow): Record<string, string> {
  return { account: accountId, contact: kind, address: label === "" ? shown : label };
}

const EVENT = "SELECT event_row FROM pages WHERE id = ?";

/** A row of the alert came to nothing: says so where no other page of its event or a later one is left. */
export function giveUp(
  tx: Tx,
  { unreached }: PageOutcomes,
  row: { id: number; alertId: number; event: string },
): void {
  const since = tx.sql<[id: number], number>(EVENT).pluck().get(row.id);
  if (!isPage(row) || since === undefined) return;
  if (!anyHope(tx, { alertId: row.alertId, since })) unreached(tx, row.alertId);
}

interface Lost {
  id: number;
  accountId: string;
  alertId: number;
  event: string;
  attempts: number;
  error: string;
}

const RETURNING =
  "RETURNING id, account_id AS accountId, contact_id AS contactId, alert_id AS alertId, event, attempts, last_error AS error";
const WITHDRAW = `UPDATE pages SET status = 'withdrawn', next_attempt_ms = NULL, finished_at = ?, last_error = ?
  WHERE contact_id = ? AND status = 'pending' ${RETURNING}`;
const GONE = "the contact was removed or switched off";

/**
 * Withdraws what waits for a contact that was deleted, switched off or asked for no more, and says so. The contact as it
 * was.
 */
export function withdrawFrom(tx: Tx, telling: PageOutcomes, contact: ContactRow): void {
  const rows = tx
    .sql<[at: number, why: string, contactId: string], Lost>(WITHDRAW)
    .all(tx.at, GONE, contact.id);
  lose(tx, telling, { rows, way: () => wayOf(contact) });
}

/** Writes what was lost into the alerts' histories, then gives up each alert that has nothing left. */
function lose(
  tx: Tx,
  telling: PageOutcomes,
  { rows, way }: { rows: readonly Lost[]; way: (row: Lost) => Record<string, string> },
): void {
  const latest = new Map<number, Lost>();
  for (const row of rows.filter(isPage)) {
    const { alertId, event, attempts, error } = row;
    telling.tell(tx, alertId, {
      kind: "page_failed",
      detail: { ...way(row), event, attempts, error },
    });
    if ((latest.get(alertId)?.id ?? 0) < row.id) latest.set(alertId, row);
  }
  for (const row of latest.values()) giveUp(tx, telling, row);
}

const MOST = 500;
const TOO_LATE = "not delivered within an hour";
const EXPIRED = `UPDATE pages SET status = 'failed', next_attempt_ms = NULL, finished_at = ?, last_error = coalesce(last_error, ?)
  WHERE id IN (SELECT id FROM pages WHERE status = 'pending' AND due_ms < ? AND event IN ${PAGE_EVENTS} LIMIT ${MOST}) ${RETURNING}`;
const ORPHANS = `UPDATE pages SET status = 'withdrawn', next_attempt_ms = NULL, finished_at = ?, last_error = ?
  WHERE id IN (SELECT p.id FROM pages p WHERE p.status = 'pending'
    AND NOT EXISTS (SELECT 1 FROM contacts c WHERE c.id = p.contact_id AND c.state <> 'off') LIMIT ${MOST}) ${RETURNING}`;
const OLD_NOTES = `UPDATE pages SET status = 'withdrawn', next_attempt_ms = NULL, finished_at = ?
  WHERE status = 'pending' AND due_ms < ? AND event NOT IN ${PAGE_EVENTS}`;

/**
 * Fails pages that were not made within an hour, and withdraws those of contacts that went with their people, so that no row
 * waits for ever and nobody's page is lost without a word. At most a slice; whether there may be more.
 */
export function expirePages(tx: Tx, telling: PageOutcomes): boolean {
  const oldest = tx.clock.now() - PAGE_AGE_MS;
  type Row = Lost & { contactId: string };
  const late = tx.sql<[number, string, number], Row>(EXPIRED).all(tx.at, TOO_LATE, oldest);
  const orphans = tx.sql<[number, string], Row>(ORPHANS).all(tx.at, GONE);
  const contactOf = new Map([...late, ...orphans].map(({ id, contactId }) => [id, contactId]));
  lose(tx, telling, {
    rows: [...late, ...orphans],
    way({ id, accountId }) {
      const contact = findContact(tx, contactOf.get(id) ?? "");
      return contact === null ? { account: accountId } : wayOf(contact);
    },
  });
  tx.sql<[number, number]>(OLD_NOTES).run(tx.at, oldest);
  return late.length === MOST || orphans.length === MOST;
}
