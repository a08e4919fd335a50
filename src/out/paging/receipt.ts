import type { Reader, Tx } from "../../ground/store/store.ts";
import { findContact } from "../contacts/contacts.ts";
import { recordAttempt } from "../contacts/health.ts";
import { contactKindList } from "../services/list.ts";
import { giveUp, type PageOutcomes, wayOf } from "./lost.ts";
import { PAGE_EVENTS } from "./pages.ts";

/** What a service says later of a message that it had taken. */
export interface Receipt {
  /** What it calls the message. */
  ref: string;
  /** `delivered`: it is on the phone, or the call was answered; `failed`: it won't be. */
  outcome: "delivered" | "failed";
  /** For people: `busy`, `undelivered: code 30003`. */
  detail: string;
  /** Whether the address is at fault, and not the moment: a number that can't be reached, not a line that was busy. */
  isLost: boolean;
}

const KNOWN = `SELECT 1 FROM pages WHERE ref = ? AND event IN ${PAGE_EVENTS} LIMIT 1`;

/** Whether a page went out by this message. */
export function isPageRef(reader: Reader, ref: string): boolean {
  return reader.sql<[ref: string]>(KNOWN).get(ref) !== undefined;
}

/** What was taken and not heard of since; an answer or a receipt of before stands. */
const TAKEN = `ref = ? AND status = 'delivered' AND outcome = 'accepted' AND event IN ${PAGE_EVENTS}`;
const DELIVERED = `UPDATE pages SET outcome = 'delivered' WHERE ${TAKEN}`;
const FAILED = `UPDATE pages SET status = 'failed', last_error = ? WHERE ${TAKEN}
  RETURNING id, contact_id AS contactId, alert_id AS alertId, event, attempts`;

interface Failed {
  id: number;
  contactId: string;
  alertId: number;
  event: string;
  attempts: number;
}

/**
 * Writes what a service said of a message: all rows that it named. Pages that were taken and then failed are as good as
 * never sent, and where no other is left the alert goes on. To say it again, or in another order, changes nothing.
 */
export function takeReceipt(
  tx: Tx,
  telling: PageOutcomes,
  { ref, outcome, detail, isLost }: Receipt,
): void {
  if (outcome === "delivered") {
    tx.sql<[ref: string]>(DELIVERED).run(ref);
    return;
  }
  const rows = tx.sql<[error: string, ref: string], Failed>(FAILED).all(detail, ref);
  const contact = findContact(tx, rows[0]?.contactId ?? "");
  for (const row of rows.toSorted((a, b) => a.id - b.id))
    telling.tell(tx, row.alertId, {
      kind: "page_failed",
      detail: {
        ...(contact === null ? {} : wayOf(contact)),
        event: row.event,
        attempts: row.attempts,
        error: detail,
      },
    });
  if (contact !== null && rows.length > 0 && isLost) {
    const gone = contactKindList.find(contact.kind)?.gone?.test(detail) === true;
    recordAttempt(tx, contact, { well: false, error: detail, lost: true, gone });
  }
  const latest = new Map(rows.toSorted((a, b) => a.id - b.id).map((row) => [row.alertId, row]));
  for (const row of latest.values()) giveUp(tx, telling, row);
}
