import { and, eq, isNull, notExists } from "drizzle-orm";
import { unixSeconds } from "../ground/kit/clock.ts";
import { ServiceError } from "../ground/kit/errors.ts";
import { hexId } from "../ground/kit/ids.ts";
import { accounts, apiKeys, oidcLinks, passkeys } from "../ground/store/schema.ts";
import type { Reader, Tx } from "../ground/store/store.ts";
import type { Account, AccountWrite } from "./account.ts";
import { type ActingAccount, addNewcomer, getAccount, mustBeGrantable } from "./accounts.ts";
import { foldEmail } from "./email.ts";

/** Invited people: they have an account before their first sign-in, so that ladders and schedules can name them. */

/**
 * Creates an account that can't sign in until an invitation for its address is redeemed. Throws 403 for a role above
 * the caller's, 409 where the address has an account.
 */
export function createInvitedAccount(tx: Tx, by: ActingAccount, wanted: AccountWrite): Account {
  mustBeFree(tx, by, wanted);
  const id = hexId(tx.random);
  const { email, role, display_name = null } = wanted;
  addNewcomer(tx, { id, email, role, displayName: display_name, passwordHash: "" });
  return getAccount(tx, id);
}

/** What `createInvitedAccount` would create, without an id. Throws as `createInvitedAccount` does. */
export function tryAccount(reader: Reader, by: ActingAccount, wanted: AccountWrite): Account {
  mustBeFree(reader, by, wanted);
  const { email, role, display_name = email.slice(0, email.indexOf("@")) } = wanted;
  return {
    id: "",
    email,
    display_name,
    role,
    created_at: unixSeconds(reader.clock),
    timezone: null,
  };
}

function mustBeFree(reader: Reader, by: ActingAccount, { email, role }: AccountWrite): void {
  mustBeGrantable(reader, by, role);
  const folded = eq(accounts.emailFolded, foldEmail(email));
  if (reader.orm.select({ id: accounts.id }).from(accounts).where(folded).get() !== undefined)
    throw new ServiceError("name_taken", "This address has an account.");
}

/** Whether an account has no way to sign in and has never signed in. */
export function isInvited({ orm }: Reader, id: string): boolean {
  const none = (table: typeof apiKeys | typeof oidcLinks | typeof passkeys) =>
    notExists(orm.select({ id: table.accountId }).from(table).where(eq(table.accountId, id)));
  const awaited = orm
    .select({ id: accounts.id })
    .from(accounts)
    .where(
      and(
        eq(accounts.id, id),
        eq(accounts.passwordHash, ""),
        isNull(accounts.signedInAt),
        none(apiKeys),
        none(oidcLinks),
        none(passkeys),
      ),
    )
    .get();
  return awaited !== undefined;
}
