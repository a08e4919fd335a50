import { and, asc, eq, isNotNull, ne, or } from "drizzle-orm";
import { notFound, ServiceError } from "../ground/kit/errors.ts";
import type { Role } from "../ground/store/columns.ts";
import { accounts, apiKeys, pairCodes, pairReceipts } from "../ground/store/schema.ts";
import type { Reader, Tx } from "../ground/store/store.ts";
import type { Account } from "./account.ts";
import { foldEmail } from "./email.ts";
import { laddersNaming, overridesNaming, rulesNaming, schedulesNaming } from "./named-by.ts";
import { comesOtherwise, passwordsOpen } from "./oidc/password-switch.ts";
import { noteRemoved } from "./removed.ts";
import { atLeast, mustManage } from "./roles.ts";

/** Who makes a change: an account's id, or null for the operator who runs a command on the data directory. */
export type ActingAccount = string | null;

const columns = {
  id: accounts.id,
  email: accounts.email,
  display_name: accounts.displayName,
  role: accounts.role,
  created_at: accounts.createdAt,
  timezone: accounts.timezone,
};

export function listAccounts(reader: Reader): Account[] {
  return reader.orm.select(columns).from(accounts).orderBy(asc(accounts.emailFolded)).all();
}

/** What people are called, and the colour that their initials stand on, 1 to 8; of all, or of one. */
export function accountHues(
  reader: Reader,
  only: string | null = null,
): { id: string; name: string; hue: number }[] {
  const { id, email, displayName, hue } = accounts;
  const rows = reader.orm
    .select({ id, email, displayName, hue })
    .from(accounts)
    .where(only === null ? undefined : eq(id, only))
    .all();
  return rows.map((row) => ({
    id: row.id,
    name: row.displayName.trim() || row.email,
    hue: row.hue,
  }));
}

/** Throws 404. */
export function getAccount(reader: Reader, id: string): Account {
  const account = reader.orm.select(columns).from(accounts).where(eq(accounts.id, id)).get();
  if (account === undefined) throw notFound("account");
  return account;
}

export function hasAccounts(reader: Reader): boolean {
  return reader.orm.select({ id: accounts.id }).from(accounts).limit(1).get() !== undefined;
}

/** The present role of `by`; the operator counts as owner. Throws 403 for an account that was removed. */
export function liveRole(reader: Reader, by: ActingAccount): Role {
  if (by === null) return "owner";
  const account = reader.orm
    .select({ role: accounts.role })
    .from(accounts)
    .where(eq(accounts.id, by))
    .get();
  if (account === undefined)
    throw new ServiceError("forbidden", "The caller's account was removed.");
  return account.role;
}

/** An owner may change every account, an admin every account but an owner's (contract §3). Throws 403. */
export function mustManageAccount(reader: Reader, by: ActingAccount, target: Role): void {
  const rank = liveRole(reader, by);
  mustManage(rank);
  if (!atLeast(rank, target))
    throw new ServiceError("forbidden", "Only an owner can change an owner.");
}

/** Only managers give a role, and none above their own. Throws 403. */
export function mustBeGrantable(reader: Reader, by: ActingAccount, role: Role): void {
  const rank = liveRole(reader, by);
  mustManage(rank);
  if (!atLeast(rank, role)) {
    throw new ServiceError("forbidden", `The role ${role} is above your own, ${rank}.`);
  }
}

/**
 * Adds an account of the hosted service to the tenant, or gives it the wanted role. Without one a known account keeps
 * its role, the tenant's first becomes an owner, others members. Returns the role. It has no password here.
 */
export function seatAccount(
  tx: Tx,
  account: { id: string; email: string },
  wanted: Role | undefined,
): Role {
  const { id, email } = account;
  const known = tx.orm
    .select({ role: accounts.role })
    .from(accounts)
    .where(eq(accounts.id, id))
    .get();
  const role = wanted ?? known?.role ?? (hasAccounts(tx) ? "member" : "owner");
  tx.orm
    .insert(accounts)
    .values({
      id,
      email,
      emailFolded: foldEmail(email),
      role,
      createdAt: tx.at,
      displayName: "",
      passwordHash: "",
    })
    .onConflictDoUpdate({ target: accounts.id, set: { role } })
    .run();
  tx.note({ topic: "people" });
  return role;
}

/** Adds an account. Without a display name it gets the part of its email before the @. */
export function addNewcomer(
  tx: Tx,
  newcomer: Omit<typeof accounts.$inferInsert, "emailFolded" | "displayName" | "createdAt"> & {
    displayName: string | null;
  },
): void {
  const { email, displayName } = newcomer;
  tx.orm
    .insert(accounts)
    .values({
      ...newcomer,
      emailFolded: foldEmail(email),
      createdAt: tx.at,
      displayName: displayName ?? email.slice(0, email.indexOf("@")),
    })
    .run();
  tx.note({ topic: "people" });
}

/** Changes the given fields. Throws 404; 403 by role; 409 where no owner would be left. */
export function changeAccount(
  tx: Tx,
  by: ActingAccount,
  change: { id: string; displayName?: string | undefined; role?: Role | undefined },
): Account {
  const before = getAccount(tx, change.id);
  mustManageAccount(tx, by, before.role);
  const role = change.role ?? before.role;
  const displayName = change.displayName ?? before.display_name;
  if (role !== before.role) {
    mustBeGrantable(tx, by, role);
    if (before.role === "owner") mustLeaveOwner(tx, { account: before.id });
  }
  tx.orm.update(accounts).set({ role, displayName }).where(eq(accounts.id, before.id)).run();
  tx.note({ topic: "people" });
  return { ...before, role, display_name: displayName };
}

/** Sets the zone of a person's nights; null: the tenant's. Throws 404. */
export function setTimezone(tx: Tx, id: string, timezone: string | null): Account {
  const before = getAccount(tx, id);
  tx.orm.update(accounts).set({ timezone }).where(eq(accounts.id, id)).run();
  tx.note({ topic: "people" });
  return { ...before, timezone };
}

/**
 * Removes the account with its keys, sessions, devices, and the codes that it issued or that are for it. Throws 404;
 * 403 by role; 409 for the last owner, and while a ladder, a layer or an override that isn't over names it.
 */
export function removeAccount(tx: Tx, by: ActingAccount, id: string): void {
  const account = getAccount(tx, id);
  mustManageAccount(tx, by, account.role);
  if (account.role === "owner") mustLeaveOwner(tx, { account: id });
  mustBeUnnamed(tx, id);
  tx.orm.delete(pairReceipts).where(eq(pairReceipts.accountId, id)).run();
  tx.orm.delete(pairCodes).where(eq(pairCodes.issuedBy, id)).run();
  takeBackCodes(tx, account.email);
  noteRemoved(tx, account.email);
  tx.orm.delete(accounts).where(eq(accounts.id, id)).run();
  tx.note({ topic: "people" });
}

/** A removed person must not come back by a code that was made for them earlier. */
function takeBackCodes(tx: Tx, email: string): void {
  const bound = tx.orm
    .select({ id: pairCodes.id, email: pairCodes.email })
    .from(pairCodes)
    .where(isNotNull(pairCodes.email))
    .all();
  for (const code of bound)
    if (foldEmail(code.email ?? "") === foldEmail(email))
      tx.orm.delete(pairCodes).where(eq(pairCodes.id, code.id)).run();
}

/**
 * Throws 409 unless an owner who can sign in is left without this account, or without this key of it. An owner can sign
 * in with a key; or, having signed in before, by a working password, a provider or a passkey.
 */
export function mustLeaveOwner(reader: Reader, without: { account: string; key?: string }): void {
  const { account, key } = without;
  const hasKey = and(
    isNotNull(apiKeys.id),
    key === undefined ? ne(accounts.id, account) : ne(apiKeys.id, key),
  );
  const byPassword = and(isNotNull(accounts.signedInAt), ne(accounts.passwordHash, ""));
  const signsIn = and(
    ne(accounts.id, account),
    or(passwordsOpen(reader) ? byPassword : undefined, comesOtherwise(reader)),
  );
  const other = reader.orm
    .select({ id: accounts.id })
    .from(accounts)
    .leftJoin(apiKeys, eq(apiKeys.accountId, accounts.id))
    .where(and(eq(accounts.role, "owner"), or(hasKey, signsIn)))
    .limit(1)
    .get();
  if (other !== undefined) return;
  throw new ServiceError(
    "last_owner",
    "This is the last owner with a key or a sign-in: make another owner first.",
  );
}

/** Why an account can be neither removed nor given a lower role; null where it can. */
export function whyOwnerStays(reader: Reader, { id, role }: Account): string | null {
  if (role !== "owner") return null;
  try {
    mustLeaveOwner(reader, { account: id });
    return null;
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return error.message;
  }
}

/** Throws 409 with the rules, schedules and overrides, as `project/name`, that name the account. */
function mustBeUnnamed(tx: Tx, id: string): void {
  const details = [
    ...overridesNaming(tx, id).map((value) => ({ reason: "named_by_override", value })),
    ...rulesNaming(tx, id).map((value) => ({ reason: "named_by_rule", value })),
    ...laddersNaming(tx, id).map((value) => ({ reason: "named_by_ladder", value })),
    ...schedulesNaming(tx, id).map((value) => ({ reason: "named_by_schedule", value })),
  ];
  if (details.length === 0) return;
  const names = details.map((detail) => detail.value).join(", ");
  const message = `Ladders, schedules or overrides still name this account: ${names}`;
  throw new ServiceError("account_in_use", message.slice(0, 500), { details });
}
