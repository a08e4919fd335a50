import { asc, eq } from "drizzle-orm";
import { notFound } from "../ground/kit/errors.ts";
import { base62Secret, hexId, sha256 } from "../ground/kit/ids.ts";
import type { Random } from "../ground/kit/random.ts";
import { mustBeFewer, rowsCounted } from "../ground/store/rows-counted.ts";
import { accounts, apiKeys } from "../ground/store/schema.ts";
import type { Reader, Tx } from "../ground/store/store.ts";
import type { Key } from "./account.ts";
import { type ActingAccount, liveRole, mustLeaveOwner, mustManageAccount } from "./accounts.ts";
import { isManager } from "./roles.ts";

/** Creates an API key for an account. Only this answer contains the key. */
export function mintKey(tx: Tx, tenantId: string, accountId: string, label = "") {
  const { key, ...kept } = freshKey(tx.random, tenantId);
  putKey(tx, accountId, kept, label);
  return { id: kept.id, key };
}

/** What a tenant keeps of a key. */
interface KeptKey {
  id: string;
  hash: string;
  /** Its last four characters. */
  hint: string;
}

export function freshKey(random: Random, tenantId: string): KeptKey & { key: string } {
  const key = `ptk_${tenantId}_${base62Secret(random)}`;
  return { id: hexId(random), key, hash: sha256(key), hint: key.slice(-4) };
}

/** Does nothing where it is there already. */
export function putKey(tx: Tx, accountId: string, key: KeptKey, label = ""): void {
  tx.orm
    .insert(apiKeys)
    .values({ ...key, accountId, createdAt: tx.at, label })
    .onConflictDoNothing()
    .run();
  tx.note({ topic: "people" });
}

/** Keys that one account can create. */
export const MOST_KEYS = 100;

/** Creates another key for an existing account. Throws 422 when it has `MOST_KEYS`. */
export function createKey(
  tx: Tx,
  key: { tenantId: string; accountId: string; label: string },
): { id: string; key: string } {
  const { accountId } = key;
  mustBeFewer(rowsCounted(tx, apiKeys, eq(apiKeys.accountId, accountId)), MOST_KEYS, {
    whose: "An account",
    what: "keys",
    advice: "revoke those that nobody uses",
  });
  return mintKey(tx, key.tenantId, accountId, key.label);
}

/** Every key, or those of one account, oldest first. */
export function listKeys(reader: Reader, accountId: string | null = null): Key[] {
  return reader.orm
    .select({
      id: apiKeys.id,
      account_id: apiKeys.accountId,
      label: apiKeys.label,
      hint: apiKeys.hint,
      created_at: apiKeys.createdAt,
      last_used_at: apiKeys.lastUsedAt,
    })
    .from(apiKeys)
    .where(accountId === null ? undefined : eq(apiKeys.accountId, accountId))
    .orderBy(asc(apiKeys.createdAt), asc(apiKeys.id))
    .all();
}

/** The keys that `by` can see: a manager all, others their own (contract §3). */
export function visibleKeys(reader: Reader, by: string): Key[] {
  return listKeys(reader, isManager(liveRole(reader, by)) ? null : by);
}

/**
 * Revokes a key. From the commit on, the key and the sessions that it opened are invalid. Everyone can revoke their
 * own; another's needs the right to change that account. Throws 404, 403; 409 for the last key of an owner.
 */
export function revokeKey(tx: Tx, by: ActingAccount, id: string): void {
  const key = tx.orm
    .select({ accountId: accounts.id, role: accounts.role })
    .from(apiKeys)
    .innerJoin(accounts, eq(accounts.id, apiKeys.accountId))
    .where(eq(apiKeys.id, id))
    .get();
  if (key === undefined) throw notFound("key");
  if (key.accountId !== by) mustManageAccount(tx, by, key.role);
  if (key.role === "owner") mustLeaveOwner(tx, { account: key.accountId, key: id });
  tx.orm.delete(apiKeys).where(eq(apiKeys.id, id)).run();
  tx.note({ topic: "people" });
}
