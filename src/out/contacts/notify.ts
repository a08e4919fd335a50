import { and, asc, eq, inArray } from "drizzle-orm";
import { ServiceError } from "../../ground/kit/errors.ts";
import { getMeta, setMeta } from "../../ground/store/meta.ts";
import { accounts, contacts, notifyRules } from "../../ground/store/schema.ts";
import type { Reader, Tx } from "../../ground/store/store.ts";
import { contactKindList } from "../services/list.ts";
import type { Fallback, NotifyRule } from "./contact.ts";

/** A person's own rules; none where they set none. */
export function readNotify(reader: Reader, account: string): NotifyRule[] {
  const row = reader.orm
    .select({ rules: notifyRules.rules })
    .from(notifyRules)
    .where(eq(notifyRules.accountId, account))
    .get();
  return row === undefined ? [] : (JSON.parse(row.rules) as NotifyRule[]);
}

/** Replaces them; an empty list takes the usual ones. Throws 422 for a contact that isn't the person's. */
export function writeNotify(tx: Tx, account: string, rules: readonly NotifyRule[]): NotifyRule[] {
  const own = new Set(
    tx.orm
      .select({ id: contacts.id })
      .from(contacts)
      .where(eq(contacts.accountId, account))
      .all()
      .map(({ id }) => id),
  );
  const details = rules.flatMap((rule, r) =>
    rule.contacts.flatMap((id, c) =>
      own.has(id)
        ? []
        : [{ field: `/rules/${r}/contacts/${c}`, reason: "unknown_contact", value: id }],
    ),
  );
  if (details.length > 0)
    throw new ServiceError("unknown_contact", "The person has no such contact.", { details });
  const text = JSON.stringify(rules);
  if (rules.length === 0)
    tx.orm.delete(notifyRules).where(eq(notifyRules.accountId, account)).run();
  else
    tx.orm
      .insert(notifyRules)
      .values({ accountId: account, rules: text })
      .onConflictDoUpdate({ target: notifyRules.accountId, set: { rules: text } })
      .run();
  tx.note({ topic: "people" });
  return [...rules];
}

/** Puts a person's contact in the place of another in their rules. */
export function replaceInNotify(
  tx: Tx,
  account: string,
  { from, to }: { from: string; to: string },
): void {
  const rules = readNotify(tx, account);
  if (!rules.some((rule) => rule.contacts.includes(from))) return;
  const next = rules.map((rule) => ({
    ...rule,
    contacts: [...new Set(rule.contacts.map((id) => (id === from ? to : id)))],
  }));
  writeNotify(tx, account, next);
}

/** A way to a person that counts. */
export interface Way {
  contactId: string;
  /** How long after the step it is used, in seconds. */
  after: number;
}

/**
 * Which contacts of a person are used for an alert of this level, and when: each once, at the first time that a rule
 * names it. Only verified ones that aren't off and that somebody serves. Pure.
 */
export function waysOf(person: {
  rules: readonly NotifyRule[];
  contacts: readonly PagedContact[];
  level: number;
}): Way[] {
  const { rules, level } = person;
  const usable = new Set(person.contacts.map(({ id }) => id));
  const wanted: Way[] =
    rules.length === 0
      ? person.contacts.map(({ id, kind }) => ({
          contactId: id,
          after: contactKindList.find(kind)?.restSeconds ?? 0,
        }))
      : [
          ...rules
            .filter(({ min_level }) => level >= min_level)
            .flatMap(({ after_seconds, contacts: ids }) =>
              ids.map((contactId) => ({ contactId, after: after_seconds })),
            ),
          ...unnamed(person).map(({ id }) => ({ contactId: id, after: 0 })),
        ];
  const first = new Map<string, Way>();
  for (const way of wanted.toSorted((a, b) => a.after - b.after))
    if (usable.has(way.contactId) && !first.has(way.contactId)) first.set(way.contactId, way);
  return [...first.values()];
}

/** Those that are to be paged whatever the rules say, and that no rule names. */
function unnamed({ rules, contacts }: Parameters<typeof waysOf>[0]): PagedContact[] {
  const named = new Set(rules.flatMap((rule) => rule.contacts));
  return contacts.filter(({ id, always }) => always && !named.has(id));
}

/** A contact that pages may be sent to. */
export interface PagedContact {
  id: string;
  kind: string;
  /** Its person said of it that it is paged: a rule that names it says when, and none has to. */
  always: boolean;
}

/** What a contact's wishes (as they are stored; null: it has none of its own) mean for pages. */
export function pageWish(wants: string | null): { paged: boolean; always: boolean } {
  const always = wants !== null && (JSON.parse(wants) as string[]).includes("pages");
  return { paged: wants === null || always, always };
}

/** The verified contacts of a person that aren't off and want pages, by age. */
export function usableContacts(reader: Reader, account: string): PagedContact[] {
  const rows = reader.orm
    .select({ id: contacts.id, kind: contacts.kind, wants: contacts.wants })
    .from(contacts)
    .where(and(eq(contacts.accountId, account), inArray(contacts.state, ["verified", "failing"])))
    .orderBy(asc(contacts.createdAt), asc(contacts.id))
    .all();
  return rows.flatMap(({ id, kind, wants }) => {
    const { paged, always } = pageWish(wants);
    return paged ? [{ id, kind, always }] : [];
  });
}

/** Whether anybody of the tenant has a verified contact. */
export function hasContacts(reader: Reader): boolean {
  const found = reader.orm
    .select({ id: contacts.id })
    .from(contacts)
    .where(inArray(contacts.state, ["verified", "failing"]))
    .limit(1)
    .get();
  return found !== undefined;
}

/** As it was set; both empty: every owner. */
export function readFallback(reader: Reader): Fallback {
  const text = getMeta(reader, "fallback");
  return text === undefined
    ? { accounts: [], schedules: [] }
    : (JSON.parse(String(text)) as Fallback);
}

/** Throws 422 for an account that is none. Schedules are the caller's to check. */
export function writeFallback(tx: Tx, fallback: Fallback): Fallback {
  const known = new Set(
    tx.orm
      .select({ id: accounts.id })
      .from(accounts)
      .all()
      .map(({ id }) => id),
  );
  const details = fallback.accounts.flatMap((id, i) =>
    known.has(id) ? [] : [{ field: `/accounts/${i}`, reason: "not_a_member", value: id }],
  );
  if (details.length > 0)
    throw new ServiceError("not_a_member", "The tenant has no such account.", { details });
  setMeta(tx, "fallback", JSON.stringify(fallback));
  tx.note({ topic: "people" });
  return fallback;
}

/** Puts `by`, an account, in the place of another; whether the fallback named that. */
export function replaceInFallback(tx: Tx, { from, by }: { from: string; by: string }): boolean {
  const fallback = readFallback(tx);
  if (!fallback.accounts.includes(from)) return false;
  const accounts = [...new Set(fallback.accounts.map((one) => (one === from ? by : one)))];
  setMeta(tx, "fallback", JSON.stringify({ ...fallback, accounts }));
  tx.note({ topic: "people" });
  return true;
}

/** The owners' ids, by email. */
export function owners(reader: Reader): string[] {
  return reader.orm
    .select({ id: accounts.id })
    .from(accounts)
    .where(eq(accounts.role, "owner"))
    .orderBy(asc(accounts.emailFolded))
    .all()
    .map(({ id }) => id);
}
