import { asc, eq } from "drizzle-orm";
import { type ErrorDetail, notFound, ServiceError } from "../kit/errors.ts";
import { accounts, type Role } from "../store/schema.ts";
import type { Reader, Tx } from "../store/store.ts";
import type { Account } from "./account.ts";
import { foldEmail } from "./email.ts";
import { atLeast, mustManage } from "./roles.ts";

/** Who asks for a change: an account's id, or null for the operator at the data directory. */
export type By = string | null;

const columns = {
  id: accounts.id,
  email: accounts.email,
  display_name: accounts.displayName,
  role: accounts.role,
  created_at: accounts.createdAt,
};

export function listAccounts(reader: Reader): Account[] {
  return reader.orm.select(columns).from(accounts).orderBy(asc(accounts.emailFolded)).all();
}

/** Throws 404. */
export function getAccount(reader: Reader, id: string): Account {
  const account = reader.orm.select(columns).from(accounts).where(eq(accounts.id, id)).get();
  if (account === undefined) throw notFound("account");
  return account;
}

export function hasAccounts(reader: Reader): boolean {
  return reader.sql("SELECT 1 FROM accounts LIMIT 1").get() !== undefined;
}

/** The rank that `by` acts with right now; the operator's is owner. Throws 403 for an account that is gone. */
export function rankOf(reader: Reader, by: By): Role {
  if (by === null) return "owner";
  const role = reader.sql("SELECT role FROM accounts WHERE id = ?").pluck().get(by);
  if (role === undefined) throw new ServiceError("forbidden", "The caller's account was removed.");
  return role as Role;
}

/** An owner changes anyone, an admin those who are no owner (decisions §3). Throws 403. */
export function mustGovern(reader: Reader, by: By, target: Role): void {
  const rank = rankOf(reader, by);
  mustManage(rank);
  if (!atLeast(rank, target))
    throw new ServiceError("forbidden", "Only an owner changes an owner.");
}

/** Nobody gives a role above their own, and only managers give any. Throws 403. */
export function mustGrant(reader: Reader, by: By, role: Role): void {
  const rank = rankOf(reader, by);
  mustManage(rank);
  if (!atLeast(rank, role)) {
    throw new ServiceError("forbidden", `The role ${role} is above your own, ${rank}.`);
  }
}

/** Changes what is given. Throws 404; 403 for ranks; 409 where no owner would be left. */
export function changeAccount(
  tx: Tx,
  by: By,
  change: { id: string; displayName?: string | undefined; role?: Role | undefined },
): Account {
  const before = getAccount(tx, change.id);
  mustGovern(tx, by, before.role);
  const role = change.role ?? before.role;
  const displayName = change.displayName ?? before.display_name;
  if (role !== before.role) {
    mustGrant(tx, by, role);
    if (before.role === "owner") mustLeaveOwner(tx, { account: before.id });
  }
  tx.orm.update(accounts).set({ role, displayName }).where(eq(accounts.id, before.id)).run();
  tx.note({ topic: "people" });
  return { ...before, role, display_name: displayName };
}

/**
 * Removes the account with its keys, its devices, and the codes that it issued or that wait for it. Throws 404; 403 for ranks; 409 for the last owner, and
 * while a ladder, a layer or an override that isn't over names it.
 */
export function removeAccount(tx: Tx, by: By, id: string): void {
  const account = getAccount(tx, id);
  mustGovern(tx, by, account.role);
  if (account.role === "owner") mustLeaveOwner(tx, { account: id });
  mustBeUnnamed(tx, id);
  tx.sql("DELETE FROM pair_receipts WHERE account_id = ?").run(id);
  tx.sql("DELETE FROM pair_codes WHERE issued_by = ?").run(id);
  takeBackCodes(tx, account.email);
  tx.orm.delete(accounts).where(eq(accounts.id, id)).run();
  tx.note({ topic: "people" });
}

/** A removed person must not come back by a code that was made for them before. */
function takeBackCodes(tx: Tx, email: string): void {
  const bound = tx.sql("SELECT id, email FROM pair_codes WHERE email IS NOT NULL").all();
  for (const code of bound as { id: string; email: string }[]) {
    if (foldEmail(code.email) === foldEmail(email))
      tx.sql("DELETE FROM pair_codes WHERE id = ?").run(code.id);
  }
}

const OTHER_OWNER = `SELECT 1 FROM accounts a JOIN api_keys k ON k.account_id = a.id
  WHERE a.role = 'owner' AND a.id IS NOT ? AND k.id IS NOT ? LIMIT 1`;

/** Throws 409 unless an owner with a key is left without this account, or without this key. */
export function mustLeaveOwner(reader: Reader, without: { account?: string; key?: string }): void {
  if (reader.sql(OTHER_OWNER).get(without.account ?? null, without.key ?? null) !== undefined)
    return;
  throw new ServiceError(
    "last_owner",
    "This is the last owner with a key: make another owner first.",
  );
}

const NAMED_BY = `SELECT 'named_by_rule' AS reason, p.name || '/' || r.name AS value
    FROM rules r JOIN projects p ON p.id = r.project_id
    WHERE EXISTS (SELECT 1 FROM json_each(r.body, '$.escalations') s,
      json_each(s.value, '$.accounts') a WHERE a.value = @id)
  UNION ALL
  SELECT 'named_by_schedule', p.name || '/' || c.name FROM schedules c JOIN projects p ON p.id = c.project_id
    WHERE EXISTS (SELECT 1 FROM json_each(c.layers) l,
      json_each(l.value, '$.participants') a WHERE a.value = @id)
  UNION ALL
  SELECT 'named_by_override', p.name || '/' || c.name || '/' || o.id FROM overrides o
    JOIN schedules c ON c.id = o.schedule_id JOIN projects p ON p.id = c.project_id
    WHERE o.account_id = @id AND o.ends_at > @at
  ORDER BY 1, 2`;

/** Throws 409 listing the rules, schedules and overrides, as `project/name`, that would page nobody in its place. */
function mustBeUnnamed(tx: Tx, id: string): void {
  const details = tx.sql(NAMED_BY).all({ id, at: tx.at }) as ErrorDetail[];
  if (details.length === 0) return;
  const names = details.map((detail) => detail.value).join(", ");
  const message = `Ladders, schedules or overrides still name this account: ${names}`;
  throw new ServiceError("account_in_use", message.slice(0, 500), { details });
}
