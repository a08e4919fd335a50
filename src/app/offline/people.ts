import { join } from "node:path";
import * as z from "zod";
import { operatorsStore } from "../../ground/audit/record.ts";
import { unixSeconds } from "../../ground/kit/clock.ts";
import { notFound } from "../../ground/kit/errors.ts";
import { UsageError, webUrl } from "../../ground/kit/flags.ts";
import { createPasswords } from "../../ground/kit/password.ts";
import type { Random } from "../../ground/kit/random.ts";
import type { Role } from "../../ground/store/columns.ts";
import { getMeta } from "../../ground/store/meta.ts";
import { openReader, type Reader } from "../../ground/store/store.ts";
import { type Account, passwordText } from "../../people/account.ts";
import { changeAccount, getAccount, hasAccounts, listAccounts } from "../../people/accounts.ts";
import { issueCode, pairLink } from "../../people/codes.ts";
import { foldEmail, isEmail } from "../../people/email.ts";
import { createKey, listKeys, revokeKey } from "../../people/keys.ts";
import { setPasswordsOpen } from "../../people/oidc/password-switch.ts";
import { codeTtl, type IssuedCode } from "../../people/pairing.ts";
import { replacePassword } from "../../people/passwords.ts";
import { roles } from "../../people/roles.ts";
import { endSession, listSessions } from "../../people/sessions.ts";
import { removePerson } from "../../tenant/person-verbs.ts";
import type { Directory } from "../operate/status.ts";
import type { OpenDirectory } from "./directory.ts";

/** The people of a data directory, for the operator, read-only. */
export type PeopleView = ReturnType<typeof viewOf>;

/** As they are typed. */
export const seatFlags = z.object({
  email: z.string().optional(),
  role: z.string().optional(),
  ttl: z.string().optional(),
  publicUrl: z.string().optional(),
});
export type SeatFlags = z.infer<typeof seatFlags>;

/** Reads the people of a data directory and changes nothing. Throws StoreFault where there is no box. */
export function seePeople<T>(options: Directory, use: (view: PeopleView) => T): T {
  const { data, clock, random } = options;
  const path = join(data, "box.db");
  const reader = openReader({ path, kind: "box", clock, random, older: "refuse" });
  try {
    return use(viewOf(reader));
  } finally {
    reader.close();
  }
}

function viewOf(reader: Reader) {
  const named = <T extends { account_id: string }>(things: T[]) => {
    const emails = new Map(listAccounts(reader).map((account) => [account.id, account.email]));
    return things.map((thing) => ({ ...thing, email: emails.get(thing.account_id) ?? "" }));
  };
  const idOf = (who: string | undefined) => (who === undefined ? null : find(reader, who).id);
  return {
    accounts: () => listAccounts(reader),
    /** All keys, or those of one account (its id or email). Throws ServiceError not_found. */
    keys: (who?: string) => named(listKeys(reader, idOf(who))),
    /** All signed-in browsers, or those of one account. Throws ServiceError not_found. */
    sessions: (who?: string) => named(listSessions(reader, idOf(who), unixSeconds(reader.clock))),
  };
}

/** The operator's changes to people (contract §3), with an owner's rights. */

/** Makes a pairing code. Throws UsageError with a line for each bad value. */
export function issue({ store }: OpenDirectory, flags: SeatFlags): IssuedCode & { link: string } {
  const { publicUrl, ...seat } = checkSeat(flags);
  return operatorsStore(store, "pair-code").write((tx) => {
    const role = seat.role ?? (hasAccounts(tx) ? "member" : "owner");
    const issued = issueCode(tx, null, { ...seat, role });
    return { ...issued, link: pairLink(tx, publicUrl, issued.code) };
  });
}

/** `who`: an id or an email. Throws UsageError; ServiceError not_found, last_owner. */
export function setRole({ store }: OpenDirectory, who: string, text: string): Account {
  const role = roleOf(text);
  if (role === undefined) throw new UsageError(BAD_ROLE);
  return operatorsStore(store, "account set-role").write((tx) =>
    changeAccount(tx, null, { id: find(tx, who).id, role }),
  );
}

/** Throws ServiceError not_found, last_owner, account_in_use. */
export function remove({ store }: OpenDirectory, who: string): Account {
  return operatorsStore(store, "account remove").write((tx) => {
    const account = find(tx, who);
    removePerson(tx, null, account.id);
    return account;
  });
}

/** Sets the password with this hash, and signs out all browsers of the account. Throws ServiceError not_found. */
export function setPassword({ store }: OpenDirectory, who: string, hash: string): Account {
  return operatorsStore(store, "account set-password").write((tx) => {
    const account = find(tx, who);
    replacePassword(tx, { accountId: account.id, hash, kept: null });
    return account;
  });
}

/** Throws ServiceError not_found, too_many. */
export function createOwnKey({ store }: OpenDirectory, who: string, label: string) {
  const tenantId = String(getMeta(store, "tenant_id"));
  return operatorsStore(store, "key create").write((tx) =>
    createKey(tx, { tenantId, accountId: find(tx, who).id, label }),
  );
}

/** Throws ServiceError not_found, last_owner. */
export function revoke({ store }: OpenDirectory, keyId: string): void {
  operatorsStore(store, "key revoke").write((tx) => revokeKey(tx, null, keyId));
}

/** Throws ServiceError not_found. */
export function endOwnSession({ store }: OpenDirectory, id: string): void {
  operatorsStore(store, "session end").write((tx) => endSession(tx, null, id));
}

/** Turns passwords on or off. Throws ServiceError last_owner where no owner has signed in another way. */
export function openPasswords({ store }: OpenDirectory, isOpen: boolean): void {
  operatorsStore(store, "sign-in password").write((tx) => setPasswordsOpen(tx, isOpen));
}

function find(reader: Reader, who: string): Account {
  if (!who.includes("@")) return getAccount(reader, who);
  const account = listAccounts(reader).find(({ email }) => foldEmail(email) === foldEmail(who));
  if (account === undefined) throw notFound("account");
  return account;
}

const BAD_ROLE = `The role must be one of ${roles.join(", ")}.`;

function roleOf(text: string): Role | undefined {
  return roles.find((role) => role === text);
}

export function checkSeat(flags: SeatFlags) {
  const faults: string[] = [];
  const { email = null, ttl = String(codeTtl.usual) } = flags;
  if (email !== null && !isEmail(email)) faults.push(`--email: "${email}" is no e-mail address.`);
  const role = flags.role === undefined ? undefined : roleOf(flags.role);
  if (flags.role !== undefined && role === undefined) faults.push(BAD_ROLE);
  const ttlSeconds = /^[0-9]{1,7}$/.test(ttl) ? Number(ttl) : 0;
  if (ttlSeconds < codeTtl.least || ttlSeconds > codeTtl.most)
    faults.push(`--ttl must be from ${codeTtl.least} to ${codeTtl.most} seconds, not "${ttl}".`);
  const publicUrl = webUrl("public-url", flags.publicUrl ?? "", faults);
  if (faults.length > 0) throw new UsageError(faults.join("\n"));
  return { email, role, ttlSeconds, publicUrl };
}

/** The hash of a new password. Throws UsageError for a password that isn't allowed. */
export async function hashGiven(password: string, random: Random): Promise<string> {
  if (!passwordText.safeParse(password).success)
    throw new UsageError("The password must have 8 to 72 characters.");
  return createPasswords(random).hash(password);
}
