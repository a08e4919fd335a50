import { notFound } from "../kit/errors.ts";
import { base62Secret, hexId, sha256 } from "../kit/ids.ts";
import type { Role } from "../store/schema.ts";
import type { Reader, Tx } from "../store/store.ts";
import type { Key } from "./account.ts";
import { type By, mustGovern, mustLeaveOwner, rankOf } from "./accounts.ts";
import { isManager } from "./roles.ts";

/** Who calls: the key's account with its live role (api §5). */
export interface Actor {
  accountId: string;
  keyId: string;
  role: Role;
}

const FIND = `SELECT k.id AS keyId, k.last_used_at AS lastUsedAt, a.id AS accountId, a.role
  FROM api_keys k JOIN accounts a ON a.id = k.account_id WHERE k.hash = ?`;

/** The caller that an API key stands for, or null. The role is read live, never from the key. */
export function findActor(reader: Reader, token: string): Actor | null {
  const row = reader.sql(FIND).get(sha256(token)) as Actor | undefined;
  return row === undefined ? null : { accountId: row.accountId, keyId: row.keyId, role: row.role };
}

/** Mints an API key for an account. The key itself is only ever in this answer. */
export function mintKey(tx: Tx, tenantId: string, accountId: string): { id: string; key: string } {
  const id = hexId(tx.random);
  const key = `ptk_${tenantId}_${base62Secret(tx.random)}`;
  tx.sql(
    "INSERT INTO api_keys (id, account_id, hash, hint, created_at) VALUES (?, ?, ?, ?, ?)",
  ).run(id, accountId, sha256(key), key.slice(-4), tx.at);
  tx.note({ topic: "people" });
  return { id, key };
}

/** Every key, or one account's, oldest first. */
export function listKeys(reader: Reader, accountId: string | null = null): Key[] {
  return reader
    .sql(
      `SELECT id, account_id, hint, created_at, last_used_at FROM api_keys
       WHERE @account IS NULL OR account_id = @account ORDER BY created_at, id`,
    )
    .all({ account: accountId }) as Key[];
}

/** The keys that `by` may see: managers all, others their own (decisions §3). */
export function visibleKeys(reader: Reader, by: string): Key[] {
  return listKeys(reader, isManager(rankOf(reader, by)) ? null : by);
}

/**
 * Revokes a key: it opens nothing from the commit on. One's own always, another's as far as one may
 * change that account. Throws 404, 403; 409 for the last key of an owner.
 */
export function revokeKey(tx: Tx, by: By, id: string): void {
  const key = tx
    .sql(
      `SELECT a.id AS accountId, a.role FROM api_keys k JOIN accounts a ON a.id = k.account_id
       WHERE k.id = ?`,
    )
    .get(id) as { accountId: string; role: Role } | undefined;
  if (key === undefined) throw notFound("key");
  if (key.accountId !== by) mustGovern(tx, by, key.role);
  if (key.role === "owner") mustLeaveOwner(tx, { key: id });
  tx.sql("DELETE FROM api_keys WHERE id = ?").run(id);
  tx.note({ topic: "people" });
}
