import type { Tx } from "../../ground/store/store.ts";
import { findContact } from "../../out/contacts/contacts.ts";
import { followersOf } from "../../out/contacts/subscriptions.ts";
import { makeNotes, makePages, withdrawNotes } from "../../out/paging/pages.ts";
import { createReachable, type Reachable } from "../../out/paging/reachable.ts";
import { contactKindList } from "../../out/services/list.ts";
import type { StoredRule } from "../projects/rule.ts";
import type { AlertRow } from "./alert.ts";

/** What people are told themselves, beside what goes to a project's channels. */

const known = new WeakMap<Tx, Reachable>();

/** Who can be reached, looked up once for each transaction. */
export function reachableIn(tx: Tx): Reachable {
  return known.getOrInsertComputed(tx, () => createReachable(tx));
}

/** The relay has said anew of whom it has no phone. */
export const forgetReachable = (tx: Tx): void => void known.delete(tx);

const followers = new WeakMap<Tx, Map<number, ReturnType<typeof followersOf>>>();

/** The browsers that want each alert of the project where no ladder says whom to page; looked up once for each transaction. */
export function followersIn(
  tx: Tx,
  row: Pick<AlertRow, "project_id">,
  rule: StoredRule | null,
): ReturnType<typeof followersOf> {
  if (rule === null || rule.escalations.length > 0 || !reachableIn(tx).hasContacts) return [];
  const known = followers.getOrInsertComputed(tx, () => new Map());
  return known.getOrInsertComputed(row.project_id, () => followersOf(tx, row.project_id));
}

/** Makes the pages of one event of an alert without a ladder for who wants them all. */
export function pageFollowers(
  tx: Tx,
  row: Pick<AlertRow, "id" | "project_id" | "page_accounts">,
  page: { event: "alert.opened" | "alert.renotified"; eventRow: number; rule: StoredRule | null },
): void {
  const { rule, ...event } = page;
  const paged = new Set(JSON.parse(row.page_accounts) as string[]);
  const people = followersIn(tx, row, rule)
    .filter(({ accountId }) => !paged.has(accountId))
    .map(({ accountId, contactId }) => ({ account: accountId, ways: [{ contactId, after: 0 }] }));
  makePages(tx, { ...event, alertId: row.id }, people);
}

/** Makes the pages of one event for the contacts of these people, as their own rules have it. Returns how many. */
export function pagePeople(
  tx: Tx,
  row: Pick<AlertRow, "id" | "level">,
  page: {
    event: "alert.escalated" | "alert.renotified";
    eventRow: number;
    accounts: readonly string[];
  },
): number {
  const { accounts, ...event } = page;
  withdrawNotes(tx, row.id);
  if (accounts.length === 0) return 0;
  const reachable = reachableIn(tx);
  if (!reachable.isKnown) return 0;
  const people = accounts.map((account) => ({ account, ways: reachable.ways(account, row.level) }));
  return makePages(tx, { ...event, alertId: row.id }, people);
}

/** Tells those who were told what became of the alert, where their message can say so. */
export function noteToPeople(
  tx: Tx,
  alertId: number,
  note: { event: "alert.acknowledged" | "alert.resolved"; eventRow: number },
): void {
  makeNotes(tx, { alertId, ...note }, (contactId) => {
    const contact = findContact(tx, contactId);
    const kind = contact === null ? undefined : contactKindList.find(contact.kind);
    return kind?.notes === true ? { edits: kind.edit !== undefined } : null;
  });
}
