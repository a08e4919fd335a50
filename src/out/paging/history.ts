import type { Reader } from "../../ground/store/store.ts";
import { PAGE_EVENTS } from "./pages.ts";

/** A page as it went, for whoever asks who was told. Times in Unix seconds. */
export interface PageFact {
  account: string;
  /** The contact's kind; null where it was deleted since. */
  via: string | null;
  /** Its label, or its address masked. */
  address: string | null;
  event: string;
  status: "pending" | "delivered" | "failed" | "withdrawn";
  outcome: string | null;
  attempts: number;
  dueAt: number;
  /** When it is tried next; null once it is over. */
  nextAt: number | null;
  /** When it was sent, or came to nothing. */
  endedAt: number | null;
  error: string | null;
  /** When its device showed it; null where none has said so. */
  shownAt: number | null;
  /** Alerts that its message named. */
  together: number;
}

const PAGES = `SELECT p.account_id AS account, c.kind AS via, iif(c.label = '', c.shown, c.label) AS address, p.event, p.status,
    p.outcome, p.attempts, p.due_ms / 1000 AS dueAt, p.next_attempt_ms / 1000 AS nextAt, p.finished_at AS endedAt,
    p.last_error AS error, p.shown_at AS shownAt, (SELECT count(DISTINCT o.alert_id) FROM pages o
      WHERE p.status = 'delivered' AND (o.sent_with = coalesce(p.sent_with, p.id) OR o.id = coalesce(p.sent_with, p.id))) AS together
  FROM pages p LEFT JOIN contacts c ON c.id = p.contact_id
  WHERE p.alert_id = ? AND p.event IN ${PAGE_EVENTS} ORDER BY p.id LIMIT 1000`;

/** The pages of an alert, oldest first. */
export function pagesOfAlert(reader: Reader, alertId: number): PageFact[] {
  return reader.sql<[alertId: number], PageFact>(PAGES).all(alertId);
}
