import type { Reader } from "../../ground/store/store.ts";
import type { NotifyRule } from "../../out/contacts/contact.ts";
import { servedKinds } from "../../out/contacts/gateways.ts";
import { pageWish, waysOf } from "../../out/contacts/notify.ts";
import { contactKindList as kinds } from "../../out/services/list.ts";

/** A contact as people see it. */
export interface SeenContact {
  account: string;
  id: string;
  kind: string;
  label: string;
  shown: string;
  state: "unverified" | "verified" | "failing" | "off";
  last_error: string | null;
  /** JSON; null: pages. */
  wants: string | null;
}

const CONTACTS = `SELECT account_id AS account, id, kind, label, shown, state, last_error, wants
  FROM contacts ORDER BY account_id, created_at, id`;
const RULES = "SELECT account_id, rules FROM notify_rules";

/** Everybody's contacts by account, oldest first. Read at once, because one check needs many people. */
export function contactsByAccount(reader: Reader): Map<string, SeenContact[]> {
  return Map.groupBy(reader.sql<[], SeenContact>(CONTACTS).all(), ({ account }) => account);
}

/** `phone (ntfy …7f3a)`. */
export function contactWords({ kind, label, shown }: SeenContact): string {
  return label === "" ? `${kind} ${shown}` : `${label} (${kind} ${shown})`;
}

export const isUsable = ({ state }: SeenContact): boolean =>
  state === "verified" || state === "failing";

/** By which contacts the tenant's people can be reached. */
export type PeopleReach = ReturnType<typeof peopleReach>;

export function peopleReach(reader: Reader) {
  const contacts = contactsByAccount(reader);
  const served = servedKinds(reader);
  const rules = new Map(
    reader
      .sql<[], [account: string, rules: string]>(RULES)
      .raw()
      .all()
      .map(([account, text]) => [account, JSON.parse(text) as NotifyRule[]]),
  );
  const rulesOf = (account: string) => rules.get(account) ?? [];
  const usable = (account: string) =>
    (contacts.get(account) ?? []).flatMap((one) => {
      const { paged, always } = pageWish(one.wants);
      return paged && isUsable(one) && served.has(one.kind) ? [{ ...one, always }] : [];
    });
  return {
    /** The lowest level of alerts for which a contact of theirs is used; null: none is used. */
    from(account: string): number | null {
      const levels = [0, ...rulesOf(account).map(({ min_level }) => min_level)];
      const reaches = (level: number) =>
        waysOf({ rules: rulesOf(account), contacts: usable(account), level }).length > 0;
      return levels.sort((a, b) => a - b).find(reaches) ?? null;
    },
    /** Why no contact reaches them. */
    whyNone: (account: string) => whyNone(contacts.get(account) ?? [], served),
  };
}

function whyNone(contacts: readonly SeenContact[], served: ReadonlySet<string>): string {
  const names = (some: readonly SeenContact[]) => some.map(contactWords).join(", ");
  const on = contacts.filter((one) => isUsable(one) && pageWish(one.wants).paged);
  const [first] = on;
  if (contacts.length === 0) return "they have no contact";
  if (first === undefined && contacts.some(isUsable))
    return `${names(contacts.filter(isUsable))} wants no pages`;
  if (first !== undefined)
    return on.some(({ kind }) => served.has(kind))
      ? "no notification rule of theirs names a contact that works"
      : `no ${kinds.find(first.kind)?.gateway?.kind ?? first.kind} gateway serves ${names(on)}`;
  const unverified = contacts.filter(({ state }) => state === "unverified");
  if (unverified.length > 0) return `they have not verified ${names(unverified)}`;
  return `${names(contacts)} ${contacts.length === 1 ? "is" : "are"} turned off`;
}
