import type { Reader } from "../../ground/store/store.ts";
import { PAGE_EVENTS } from "../../out/paging/pages.ts";
import type { Reachable } from "../../out/paging/reachable.ts";
import type { AlertRow } from "./alert.ts";

/** Whether any page of an alert has got through: to a contact, or by the relay to a phone. */

/** How long an alert's pages are tried in vain before the fallback is paged beside them. */
export const PATIENCE_SECONDS = 600;

/** No page has got through since the alert paged somebody anew. */
export interface Unheard {
  /** When they have been tried for long enough, Unix seconds. */
  readonly until: number;
  /** When the last that wasn't tried so far is due, Unix seconds; 0: all were. */
  readonly lastDue: number;
  /** Whether something else reaches the person than what is tried for this alert already. */
  hasOther(account: string): boolean;
  isTried(account: string): boolean;
}

/** What pages anew: a rung that isn't a repeat, an assignment, and what is told again as if for the first time. */
const ANEW = `alert_id = :id AND (kind IN ('assigned', 'unacknowledged', 'reopened', 'silence_over')
  OR kind = 'escalated' AND json_extract(detail, '$.why') <> 'repeat')`;
const SINCE = `SELECT at FROM timeline WHERE ${ANEW} ORDER BY id DESC LIMIT 1`;
const FALLBACK = `SELECT json_extract(detail, '$.why') FROM timeline WHERE alert_id = :id AND kind = 'fallback'
  AND id > (SELECT coalesce(max(id), 0) FROM timeline WHERE ${ANEW}) ORDER BY id DESC LIMIT 1`;

/** Why the fallback was paged last since the alert paged somebody anew; null: it wasn't. */
export const fallbackSince = (reader: Reader, id: number): string | null =>
  reader.sql<[{ id: number }], string>(FALLBACK).pluck().get({ id }) ?? null;

const PAGES = `SELECT contact_id AS contactId, account_id AS account, status, due_ms / 1000 AS due,
    coalesce(max(finished_at, shown_at), finished_at) AS took, attempts FROM pages WHERE alert_id = ? + 0 AND event IN ${PAGE_EVENTS}`;
const PUSHES = `SELECT d.status, d.created_at AS due, d.finished_at AS took, d.attempts, json_extract(v.body, '$.page_accounts') AS accounts
  FROM deliveries d JOIN events v ON v.id = d.event_row JOIN integrations i ON i.id = d.integration_id
  WHERE d.alert_id = ? + 0 AND d.event IN ('alert.escalated', 'alert.renotified') AND (i.relay = 1 OR i.type = 'apns')`;

interface Sent {
  status: string;
  due: number;
  took: number | null;
  attempts: number;
}

/** null: a page got through, or there is none that could. */
export function unheardOf(
  reader: Reader,
  { id, project_id: projectId, level }: Pick<AlertRow, "id" | "project_id" | "level">,
  reachable: Reachable,
): Unheard | null {
  const since = reader.sql<[{ id: number }], number>(SINCE).pluck().get({ id });
  if (since === undefined) return null;
  const pages = reader
    .sql<[id: number], Sent & { contactId: string; account: string }>(PAGES)
    .all(id);
  const pushes = reader
    .sql<[id: number], Sent & { accounts: string }>(PUSHES)
    .all(id)
    .map((push) => ({ ...push, accounts: JSON.parse(push.accounts) as string[] }));
  const hasPhone = (account: string) => reachable.hasPhone(account, projectId);
  const wasTaken = ({ status, took }: Sent) => status === "delivered" && (took ?? 0) >= since;
  // A relay that took it and has no phone of theirs told nobody.
  const wasPushed = pushes.some((push) => wasTaken(push) && push.accounts.some(hasPhone));
  if (wasPushed || pages.some(wasTaken)) return null;
  const isInVain = ({ status }: Sent) => status === "pending" || status === "failed";
  const inVain = pages.filter(isInVain);
  const pushedInVain = pushes.filter(isInVain);
  const sent = [...inVain, ...pushedInVain];
  if (sent.length === 0) return null;
  const contacts = new Set(inVain.map(({ contactId }) => contactId));
  const people = new Set([
    ...inVain.map(({ account }) => account),
    ...pushedInVain.flatMap(({ accounts }) => accounts),
  ]);
  return {
    until: Math.max(since, Math.min(...sent.map(({ due }) => due))) + PATIENCE_SECONDS,
    lastDue: Math.max(
      0,
      ...sent
        .filter(({ status, attempts }) => status === "pending" && attempts === 0)
        .map(({ due }) => due),
    ),
    hasOther: (account) =>
      reachable.ways(account, level).some(({ contactId }) => !contacts.has(contactId)) ||
      (pushedInVain.length === 0 && hasPhone(account)),
    isTried: (account) => people.has(account),
  };
}
