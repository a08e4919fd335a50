import { findContact } from "../contacts/contacts.ts";
import { sameSecret } from "../kit/ids.ts";
import type { Sealer } from "../kit/sealer.ts";
import type { Reader, Tx } from "../store/store.ts";
import { CAPABILITY_SECONDS, isGenuine, readCapability, tenantOf } from "./capability.ts";
import { PAGE_EVENTS } from "./pages.ts";

/** What lets somebody answer a page: the link of a message, or the short word that stands for it. */
export type AnswerKey = { capability: string; sealer: Sealer } | { handle: string };

/** The right to answer one message, as one person. */
export interface AnswerRight {
  accountId: string;
  contactId: string;
  /** The kind of the contact that the message went to. */
  via: string;
  /** The alert that the message can be answered for: the first that it names. */
  alertId: number;
  /** The alerts that it names, this one first, each with the rows that it was paged by. */
  named: readonly { alertId: number; pages: readonly number[] }[];
}

/**
 * What a key opens now; null for one that nobody was given, and for one that ended with its day, its contact, its account or
 * its alert. Why is told to nobody.
 */
export function rightOf(reader: Reader, now: number, key: AnswerKey): AnswerRight | null {
  const asked = "handle" in key ? byHandle(reader, now, key.handle) : byLink(reader, now, key);
  if (asked === null) return null;
  const contact = findContact(reader, asked.contactId);
  const isOn = contact?.state === "verified" || contact?.state === "failing";
  if (contact === null || !isOn || contact.accountId !== asked.accountId) return null;
  const alert = reader.sql<[id: number]>("SELECT 1 FROM alerts WHERE id = ?").get(asked.alertId);
  if (alert === undefined) return null;
  return { ...asked, via: contact.kind, named: namedBy(reader, asked) };
}

type Asked = Pick<AnswerRight, "accountId" | "contactId" | "alertId"> & { page: number | null };

const BY_HANDLE = `SELECT id AS page, alert_id AS alertId, contact_id AS contactId, account_id AS accountId, handle,
    coalesce(finished_at, created_at) AS at FROM pages WHERE handle = ? AND event IN ${PAGE_EVENTS}`;

function byHandle(reader: Reader, now: number, handle: string): Asked | null {
  const row = reader
    .sql<[handle: string], Asked & { handle: string; at: number }>(BY_HANDLE)
    .get(handle);
  if (row === undefined || !sameSecret(row.handle, handle)) return null;
  return row.at + CAPABILITY_SECONDS <= now ? null : row;
}

/** The account is the contact's: one that was made for another is not genuine. */
function byLink(
  reader: Reader,
  now: number,
  { capability, sealer }: { capability: string; sealer: Sealer },
): Asked | null {
  const said = readCapability(capability);
  if (said === null || said.until <= now) return null;
  const { alertId, contactId, until } = said;
  const accountId = findContact(reader, contactId)?.accountId ?? "";
  const tenantId = tenantOf(reader);
  const right = { tenantId, alertId, accountId, contactId, until };
  const isGiven = isGenuine(sealer, capability, right) && accountId !== "";
  const isWhole = said.tenantId === undefined || said.tenantId === tenantId;
  const isTheirs = said.accountId === undefined || said.accountId === accountId;
  return isGiven && isWhole && isTheirs ? { alertId, contactId, accountId, page: null } : null;
}

const OF_CONTACT = `alert_id = @alertId + 0 AND contact_id = @contactId AND account_id = @accountId
  AND event IN ${PAGE_EVENTS}`;
/** Messages that can be answered for an alert are those that name it first. */
const MESSAGES = `SELECT id FROM pages WHERE ${OF_CONTACT} AND sent_with IS NULL`;
const NAMED = `SELECT id, alert_id AS alertId FROM pages WHERE ${OF_CONTACT}
  UNION SELECT id, alert_id FROM pages WHERE sent_with IN (${MESSAGES}) ORDER BY id`;
const NAMED_BY = `SELECT id, alert_id AS alertId FROM pages WHERE id = @page + 0
  UNION SELECT id, alert_id FROM pages WHERE sent_with = @page + 0 ORDER BY id`;

function namedBy(reader: Reader, { page, ...of }: Asked): AnswerRight["named"] {
  const { alertId, contactId, accountId } = of;
  const rows =
    page === null
      ? reader
          .sql<Record<string, string | number>, { id: number; alertId: number }>(NAMED)
          .all({ alertId, contactId, accountId })
      : reader.sql<{ page: number }, { id: number; alertId: number }>(NAMED_BY).all({ page });
  const pages = new Map<number, number[]>([[alertId, []]]);
  for (const row of rows) pages.set(row.alertId, [...(pages.get(row.alertId) ?? []), row.id]);
  return [...pages].map(([id, ids]) => ({ alertId: id, pages: ids }));
}

const ANSWERED = "UPDATE pages SET outcome = 'answered' WHERE id = ?";

/** Writes that the person answered: more than any service says of a message. */
export function markAnswered(tx: Tx, pages: readonly number[]): void {
  for (const id of pages) tx.sql<[id: number]>(ANSWERED).run(id);
}

const IS_THERE = "SELECT 1 FROM accounts WHERE id = ?";

/**
 * The alert of a link that was given out, whether or not it opens anything now; null for any other text, and once its person's
 * account is removed.
 */
export function wasRight(
  reader: Reader,
  { capability, sealer }: { capability: string; sealer: Sealer },
): { alertId: number; accountId: string } | null {
  const said = readCapability(capability);
  if (said === null) return null;
  const { alertId, contactId, until } = said;
  const accountId = findContact(reader, contactId)?.accountId ?? said.accountId ?? "";
  const tenantId = tenantOf(reader);
  const isGiven = isGenuine(sealer, capability, {
    ...{ tenantId, alertId, accountId, contactId, until },
  });
  const isThere = reader.sql<[id: string]>(IS_THERE).get(accountId) !== undefined;
  return isGiven && isThere ? { alertId, accountId } : null;
}
