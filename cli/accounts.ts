import type { Account } from "../src/people/account.ts";
import { addressNamed, foldEmail } from "../src/people/email.ts";
import { api } from "./api.ts";
import type { ApiOptions } from "./connection.ts";
import { CommandError } from "./exit.ts";
import { someOf } from "./nearest.ts";

/** All accounts of the box, by email. */
export async function allAccounts(options: ApiOptions): Promise<Account[]> {
  return (await api.get<{ accounts: Account[] }>(options, "/v1/accounts")).accounts;
}

/** Returns a function that gives the name of an account id. Removed accounts are marked. */
export async function namesOf(options: ApiOptions): Promise<(id: string) => string> {
  const emails = new Map((await allAccounts(options)).map(({ id, email }) => [id, email]));
  return (id) => emails.get(id) ?? "somebody who was removed";
}

/**
 * Returns a function that turns emails into account ids. It also takes the part before the @ where only one account has
 * it, an address behind `email:` (as the API does), an id, and `me` for the key's own account. Throws CommandError that lists
 * the accounts.
 */
export async function accountIds(options: ApiOptions): Promise<(who: string) => string> {
  const [accounts, me] = await Promise.all([
    allAccounts(options),
    api.get<{ account: { id: string } }>(options, "/v1/me"),
  ]);
  return (who) => {
    if (who === "me") return me.account.id;
    const wanted = foldEmail(addressNamed(who) ?? who);
    const same = (email: string) => foldEmail(email) === wanted;
    const found = accounts.find(({ id, email }) => id === who || same(email));
    if (found !== undefined) return found.id;
    const begins = accounts.filter(({ email }) => same(email.slice(0, email.lastIndexOf("@"))));
    const [only] = begins;
    if (only !== undefined && begins.length === 1) return only.id;
    const emails = accounts.map(({ email }) => email);
    throw new CommandError(
      `there is no account "${who}"; there is ${someOf(who, emails)} (box invite EMAIL invites a person)`,
    );
  };
}
