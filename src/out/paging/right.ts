import { sameSecret } from "../../ground/kit/ids.ts";
import type { Sealer } from "../../ground/kit/sealer.ts";
import type { Reader, Tx } from "../../ground/store/store.ts";
import { findContact } from "../contacts/contacts.ts";
import { CAPABILITY_SECONDS, isGenuine, readCapability, tenantOf } from "./capability.ts";
import { namedIn, readHandle } from "./message-name.ts";
import { PAGE_EVENTS } from "./pages.ts";

/** What lets somebody answer a page: the link of a message, or the short word that stands for it. */
export type AnswerKey = { capability: string; sealer: Sealer } | { handle: string };

/** The right to answer one message that was delivered, as one person. */
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
 * What a key opens now: what its message named and delivered, and nothing else. null for one that nobody was given, and for one
 * that ended with its day, its contact, its account or its alert. Why is told to nobody.
 */
export function rightOf(reader: Reader, now: number, key: AnswerKey): AnswerRight | null {
  const asked = "handle" in key ? byHandle(reader, now, key.handle) : byLink(reader, now, key);
  if (asked === null) return null;
  const contact = findContact(reader, asked.contactId);
  const isOn = contact?.state === "verified" || contact?.state === "failing";
  if (contact === null || !isOn || contact.accountId !== asked.accountId) return null;
  const named = namedBy(reader, asked);
  const [first] = named;
  if (first === undefined) return null;
  const alert = reader.sql<[id: number]>("SELECT 1 FROM alerts WHERE id = ?").get(first.alertId);
  if (alert === undefined) return null;
  const { accountId, contactId } = asked;
  return { accountId, contactId, via: contact.kind, alertId: first.alertId, named };
}

interface Asked {
  accountId: string;
  contactId: string;
  of: Message;
}

/** A message by its first row; `sum` null: as it was delivered. By an alert: those that name it first, for that alert alone. */
type Message = { lead: number; sum: string | null } | { alertId: number };

const BY_HANDLE = `SELECT id AS lead, contact_id AS contactId, account_id AS accountId, handle, finished_at AS at
  FROM pages WHERE handle = ? AND status = 'delivered' AND event IN ${PAGE_EVENTS}`;

function byHandle(reader: Reader, now: number, text: string): Asked | null {
  const { handle, sum } = readHandle(text);
  type Row = Omit<Asked, "of"> & { lead: number; handle: string; at: number };
  const row = reader.sql<[handle: string], Row>(BY_HANDLE).get(handle);
  if (row === undefined || !sameSecret(row.handle, handle)) return null;
  const { lead, contactId, accountId, at } = row;
  return at + CAPABILITY_SECONDS <= now ? null : { contactId, accountId, of: { lead, sum } };
}

/** The account is the contact's: one that was made for another is not genuine. */
function byLink(
  reader: Reader,
  now: number,
  { capability, sealer }: { capability: string; sealer: Sealer },
): Asked | null {
  const said = readCapability(capability);
  if (said === null || said.until <= now) return null;
  const { contactId } = said;
  const accountId = findContact(reader, contactId)?.accountId ?? "";
  const tenantId = tenantOf(reader);
  const isGiven = isGenuine(sealer, capability, { ...said, tenantId, accountId });
  const isWhole = said.tenantId === undefined || said.tenantId === tenantId;
  const isTheirs = said.accountId === undefined || said.accountId === accountId;
  if (!isGiven || accountId === "" || !isWhole || !isTheirs) return null;
  return { contactId, accountId, of: said.message ?? { alertId: said.alertId } };
}

const REACHED = `contact_id = @contactId AND account_id = @accountId AND status = 'delivered' AND event IN ${PAGE_EVENTS}`;
const TOGETHER = `SELECT id, alert_id AS alertId FROM pages WHERE id = @lead AND ${REACHED}
  UNION SELECT id, alert_id FROM pages WHERE sent_with = @lead AND ${REACHED} ORDER BY id`;
const FIRST = `SELECT id, alert_id AS alertId FROM pages
  WHERE alert_id = @alertId AND sent_with IS NULL AND ${REACHED} ORDER BY id`;

/** The alerts that reached the person by this message, each once, the first first. */
function namedBy(reader: Reader, { of, ...who }: Asked): AnswerRight["named"] {
  type Row = { id: number; alertId: number };
  const ask = (text: string, more: Record<string, number>) =>
    reader.sql<Record<string, string | number>, Row>(text).all({ ...who, ...more });
  const pages = new Map<number, number[]>();
  for (const row of "alertId" in of ? ask(FIRST, of) : together(of))
    pages.set(row.alertId, [...(pages.get(row.alertId) ?? []), row.id]);
  return [...pages].map(([id, ids]) => ({ alertId: id, pages: ids }));

  function together({ lead, sum }: { lead: number; sum: string | null }): readonly Row[] {
    const rows = ask(TOGETHER, { lead });
    return sum === null ? rows : namedIn(rows, { lead, sum });
  }
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
  const { alertId, contactId } = said;
  const accountId = findContact(reader, contactId)?.accountId ?? said.accountId ?? "";
  const isGiven = isGenuine(sealer, capability, {
    ...said,
    tenantId: tenantOf(reader),
    accountId,
  });
  const isThere = reader.sql<[id: string]>(IS_THERE).get(accountId) !== undefined;
  return isGiven && isThere ? { alertId, accountId } : null;
}
