import { sha256 } from "../ground/kit/ids.ts";
import type { Role } from "../ground/store/columns.ts";
import type { Reader, Tx } from "../ground/store/store.ts";

/** Who calls: the key's account with its live role (contract §16). Prepared: it is asked for every request. */
export interface Actor {
  accountId: string;
  keyId: string;
  role: Role;
}

const FIND = `SELECT k.id AS keyId, a.id AS accountId, a.role
  FROM api_keys k JOIN accounts a ON a.id = k.account_id WHERE k.hash = ?`;

/** The caller that an API key stands for, or null. The role is read live, never from the key. */
export function findActor(reader: Reader, token: string): Actor | null {
  return reader.sql<[hash: string], Actor>(FIND).get(sha256(token)) ?? null;
}

const USED = "UPDATE api_keys SET last_used_at = ? WHERE id = ?";

/** Notes when a key was last used. */
export function markUsed(tx: Tx, keyId: string): void {
  tx.sql<[at: number, id: string]>(USED).run(tx.at, keyId);
}
