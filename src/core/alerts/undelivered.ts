import type { Reader } from "../../ground/store/store.ts";
import { PAGES_PHONES, PUSH_EVENTS } from "../../out/outbox/phones.ts";
import { PAGE_EVENTS } from "../../out/paging/pages.ts";
import type { Reachable } from "../../out/paging/reachable.ts";
import type { AlertRow } from "./alert.ts";

/** Whether any page of an alert has got through: to a contact, or by the relay to a phone. */

/** How long an alert's pages are tried in vain before the fallback is paged beside them. */
export const PATIENCE_SECONDS = 600;

/** No page has got through since the alert paged somebody anew. */
export interface Undelivered {
  /** When each way that is due later than the others has been tried for long enough, Unix seconds; 0: none is. */
  readonly until: number;
  /** When the last that is due and wasn't tried so far became due, Unix seconds; 0: all were. */
  readonly lastDue: number;
  /** Whether something else reaches the person than what is tried for this alert already. */
  hasOther(account: string): boolean;
  isTried(account: string): boolean;
}

/** What pages anew: a rung that isn't a repeat, an assignment, and what is told again as if for the first time. */
const ANEW = `SELECT id FROM timeline WHERE alert_id = :id AND (kind IN ('assigned', 'unacknowledged', 'reopened')
  OR kind = 'escalated' AND json_extract(detail, '$.why') <> 'repeat') ORDER BY id DESC LIMIT 1`;
const FALLBACK = `SELECT json_extract(detail, '$.why') FROM timeline WHERE alert_id = :id AND kind = 'fallback'
  AND id > coalesce((${ANEW}), 0) ORDER BY id DESC LIMIT 1`;

/** Why the fallback was paged last since the alert paged somebody anew; null: it wasn't. */
export const fallbackSince = (reader: Reader, id: number): string | null =>
  reader.sql<[{ id: number }], string>(FALLBACK).pluck().get({ id }) ?? null;

/** By the order of the history's lines: times in it stay as they were, where the clock is set. */
const DELIVERED = `SELECT 1 FROM timeline WHERE alert_id = :id AND id > :since AND kind IN ('page_sent', 'shown') LIMIT 1`;
const PAGES = `SELECT contact_id AS contactId, account_id AS account, status = 'pending' AND attempts = 0 AS isUntried,
    due_ms / 1000 AS due FROM pages WHERE alert_id = ? AND event IN ${PAGE_EVENTS} AND status IN ('pending', 'failed')`;
const PUSHES = `SELECT d.status, d.status = 'pending' AND d.attempts = 0 AS isUntried, d.created_at AS due,
    json_extract(v.body, '$.page_accounts') AS accounts, EXISTS (SELECT 1 FROM timeline t
      WHERE t.alert_id = d.alert_id AND t.id > :since AND t.kind = 'delivered' AND t.at = d.finished_at
        AND json_extract(t.detail, '$.event') = d.event AND json_extract(t.detail, '$.type') = i.type) AS isFresh
  FROM deliveries d JOIN events v ON v.id = d.event_row
    JOIN (SELECT id, type FROM integrations WHERE ${PAGES_PHONES}) i ON i.id = d.integration_id
  WHERE d.alert_id = :id AND d.event IN ${PUSH_EVENTS}`;

interface Sent {
  isUntried: number;
  due: number;
}

/** null: a page got through, or there is none that could. */
export function undeliveredOf(
  reader: Reader,
  { id, project_id: projectId, level }: Pick<AlertRow, "id" | "project_id" | "level">,
  { reachable, now }: { reachable: Reachable; now: number },
): Undelivered | null {
  const since = reader.sql<[{ id: number }], number>(ANEW).pluck().get({ id });
  if (since === undefined) return null;
  const of = { id, since };
  if (reader.sql<[typeof of]>(DELIVERED).get(of) !== undefined) return null;
  const pages = reader
    .sql<[id: number], Sent & { contactId: string; account: string }>(PAGES)
    .all(id);
  const pushes = reader
    .sql<[typeof of], Sent & { status: string; accounts: string; isFresh: number }>(PUSHES)
    .all(of)
    .map((push) => ({ ...push, accounts: JSON.parse(push.accounts) as string[] }));
  const hasPhone = (account: string) => reachable.hasPhone(account, projectId);
  // A relay that took it and has no phone of theirs told nobody.
  const isDelivered = ({ status, isFresh, accounts }: (typeof pushes)[number]) =>
    status === "delivered" && isFresh === 1 && accounts.some(hasPhone);
  if (pushes.some(isDelivered)) return null;
  const pushed = pushes.filter(({ status }) => status === "pending" || status === "failed");
  if (pages.length + pushed.length === 0) return null;
  const people = new Set([
    ...pages.map(({ account }) => account),
    ...pushed.flatMap(({ accounts }) => accounts),
  ]);
  const contacts = Map.groupBy(pages, ({ contactId }) => contactId);
  const dues = [...pages, ...pushed]
    .filter(({ isUntried, due }) => isUntried === 1 && due <= now)
    .map(({ due }) => due);
  return {
    until: Math.max(0, ...[...contacts.values()].map(triedUntil)),
    lastDue: Math.max(0, ...dues),
    hasOther: (account) =>
      reachable.ways(account, level).some(({ contactId }) => !contacts.has(contactId)) ||
      (pushed.length === 0 && hasPhone(account)),
    isTried: (account) => people.has(account),
  };
}

/** When a contact has been tried for long enough that wasn't tried at all so far; 0: it was. */
const triedUntil = (pages: readonly Sent[]): number =>
  pages.some(({ isUntried }) => isUntried === 0)
    ? 0
    : Math.min(...pages.map(({ due }) => due)) + PATIENCE_SECONDS;
