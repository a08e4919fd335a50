import { base62Secret, hexId, sha256 } from "../kit/ids.ts";
import type { Role } from "../store/schema.ts";
import type { Reader, Tx } from "../store/store.ts";

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
