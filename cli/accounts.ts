import type { Account } from "../src/people/account.ts";
import { callApi } from "./api.ts";
import type { ApiOptions } from "./connection.ts";
import { CommandError } from "./exit.ts";
import { someOf } from "./nearest.ts";

/** Everybody who belongs to the box, by email. */
export async function allAccounts(options: ApiOptions): Promise<Account[]> {
  return (await callApi<{ accounts: Account[] }>(options, "GET", "/v1/accounts")).accounts;
}

/** What people are called, by account id; who was removed is said to be. */
export async function namesOf(options: ApiOptions): Promise<(id: string) => string> {
  const emails = new Map((await allAccounts(options)).map(({ id, email }) => [id, email]));
  return (id) => emails.get(id) ?? "somebody who was removed";
}

/** Emails that are one person's to the box are the same text. */
export const mailboxOf = (email: string): string => email.trim().normalize("NFC").toLowerCase();

/** Turns emails into account ids, also by the part before the @ where one alone has it; ids stay; `me` is whose key it is. Throws CommandError with who there is. */
export async function accountIds(options: ApiOptions): Promise<(who: string) => string> {
  const [accounts, me] = await Promise.all([
    allAccounts(options),
    callApi<{ account: { id: string } }>(options, "GET", "/v1/me"),
  ]);
  return (who) => {
    if (who === "me") return me.account.id;
    const same = (email: string) => mailboxOf(email) === mailboxOf(who);
    const found = accounts.find(({ id, email }) => id === who || same(email));
    if (found !== undefined) return found.id;
    const begins = accounts.filter(({ email }) => same(email.slice(0, email.lastIndexOf("@"))));
    const [only] = begins;
    if (only !== undefined && begins.length === 1) return only.id;
    const emails = accounts.map(({ email }) => email);
    throw new CommandError(
      `nobody is called "${who}" here; there is ${someOf(who, emails)} (box invite EMAIL asks somebody in)`,
    );
  };
}
