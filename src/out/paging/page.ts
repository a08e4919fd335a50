import type { QueuedRow } from "../outbox/queue.ts";
import type { DirectSent } from "../services/direct-message.ts";

/** A page is no longer worth an attempt this long after it was due: too late to be true. */
export const PAGE_AGE_MS = 3_600_000;

/** Whether it pages; else it is a note, which only says what became of an alert. */
export const isPage = ({ event }: { event: string }): boolean =>
  event === "alert.escalated" || event === "alert.renotified" || event === "alert.opened";

/** A page or a note that waits, with all that it says. */
export interface PageRow extends QueuedRow {
  alertId: number;
  accountId: string;
  /** The event that it tells of: what one person is told of it by several contacts is one page. */
  eventRow: number;
  handle: string;
  dueMs: number;
  ref: string | null;
  /** `refused`: the gateway was refused at an attempt before. */
  outcome: string | null;
  /** The shift that it says the beginning of; null: it is about an alert. */
  shiftCheck: number | null;
  /** null where the event is no longer kept. */
  body: string | null;
  /** Names and times that were written with it. */
  said: string | null;
}

/** How an attempt for one or several rows ended. */
export interface PageOutcome extends DirectSent {
  /** The rows that its message named, the one that was asked for among them. */
  rows: readonly PageRow[];
  /** Nothing was sent: the alerts are quiet now. */
  isQuiet?: true;
}
