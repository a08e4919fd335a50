import { displayNameOf } from "../../../core/alerts/said.ts";
import type { Reader } from "../../../ground/store/store.ts";
import type { Account } from "../../../people/account.ts";
import { accountHues, listAccounts } from "../../../people/accounts.ts";
import { isManager } from "../../../people/roles.ts";
import type { PageCall } from "../screen.ts";

/** What somebody is called: by their name, or by their address. */
export const calledOf = ({
  display_name,
  email,
}: Pick<Account, "display_name" | "email">): string => display_name.trim() || email;

/** Everybody here, by address. */
export const everybody = (reader: Reader): { id: string; name: string }[] =>
  listAccounts(reader).map((one) => ({ id: one.id, name: calledOf(one) }));

/** By id, as others see them; who is gone is "somebody who was removed". */
export type PeopleNames = (account: string | null) => string;

export function peopleNames(reader: Reader): PeopleNames {
  const names = new Map(everybody(reader).map(({ id, name }) => [id, name]));
  return (account) =>
    account === null ? "nobody" : (names.get(account) ?? "somebody who was removed");
}

/** The hue of each, 1 to 8, by id; who is gone has the last. */
export function peopleHues(reader: Reader): (account: string) => number {
  const hues = new Map(accountHues(reader).map(({ id, hue }) => [id, hue]));
  return (account) => hues.get(account) ?? 8;
}

/** What accounts are called; each is asked for once. */
export function naming(reader: Reader): (account: string) => string {
  const known = new Map<string, string>();
  return (account) => {
    const name = known.get(account) ?? displayNameOf(reader, account);
    known.set(account, name);
    return name;
  };
}

/** Who may do what a member may not: their names. */
export function managers({ tenant }: PageCall): string {
  return listAccounts(tenant.store)
    .filter(({ role }) => isManager(role))
    .slice(0, 3)
    .map(calledOf)
    .join(", ");
}
