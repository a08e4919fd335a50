import type { Reader } from "../../ground/store/store.ts";
import { CAPABILITY_SECONDS } from "./capability.ts";
import { PAGE_EVENTS } from "./pages.ts";

/** Pages that somebody may still answer: they went out within the last day, and their alerts aren't over. */

/** Kinds of contact whose answers the box has to ask for. */
const HEARD_KINDS = "('telegram', 'slack', 'ntfy', 'pushover')";

const REACHED = `FROM pages p JOIN contacts c ON c.id = p.contact_id JOIN alerts a ON a.id = p.alert_id
  WHERE p.finished_at > ? AND p.status = 'delivered' AND p.event IN ${PAGE_EVENTS}`;
const NEWEST = `SELECT p.finished_at ${REACHED} AND c.kind = ? AND a.state <> 'resolved'
  ORDER BY p.finished_at DESC LIMIT 1`;
const WAITS = `SELECT 1 FROM pages p JOIN contacts c ON c.id = p.contact_id
  WHERE p.status = 'pending' AND p.event IN ${PAGE_EVENTS} AND c.kind = ? LIMIT 1`;

/** When the newest page of a kind went out that may be answered (Unix seconds), and whether more are on their way. */
export function answerable(reader: Reader, kind: string): { newest: number | null; more: boolean } {
  const newest = reader.sql<[since: number, kind: string], number>(NEWEST).pluck();
  const more = reader.sql<[kind: string]>(WAITS).get(kind) !== undefined;
  return { newest: newest.get(dayAgo(reader), kind) ?? null, more };
}

const RECEIPTS = `SELECT p.ref, (SELECT handle FROM pages WHERE id = coalesce(p.sent_with, p.id)) AS handle
  ${REACHED} AND c.kind = ? AND a.state = 'open' AND p.ref IS NOT NULL
  GROUP BY p.ref ORDER BY max(p.finished_at) DESC LIMIT ?`;

/** Messages of a kind that went out after `since` (Unix seconds) and name an open alert: what the service calls each, and its handle. */
export function openReceipts(
  reader: Reader,
  { kind, since, most }: { kind: string; since: number; most: number },
): { ref: string; handle: string }[] {
  return reader
    .sql<[since: number, kind: string, most: number], { ref: string; handle: string }>(RECEIPTS)
    .all(since, kind, most);
}

const AWAITED = `SELECT 1 ${REACHED} AND c.kind IN ${HEARD_KINDS} AND a.state = 'open' LIMIT 1`;

/** Whether an answer may come that the box has to ask for: somebody was paged by such a way, and nobody has the alert. */
export function awaitsAnswers(reader: Reader): boolean {
  return reader.sql<[since: number]>(AWAITED).get(dayAgo(reader)) !== undefined;
}

const dayAgo = ({ clock }: Reader): number => Math.floor(clock.now() / 1000) - CAPABILITY_SECONDS;
