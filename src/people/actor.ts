import { sha256 } from "../ground/kit/ids.ts";
import type { Role } from "../ground/store/columns.ts";
import type { Reader, Tx } from "../ground/store/store.ts";

/** The caller: the key's account with its present role (contract §16). Prepared, because every request needs it. */
export interface Actor {
  accountId: string;
  keyId: string;
  role: Role;
}

/** A request's header by which a program says that it is an assistant of the key's person: the audit tells them apart. */
export const ASSISTANT = { header: "box-via", value: "assistant" } as const;

const FIND = `SELECT k.id AS keyId, a.id AS accountId, a.role
  FROM api_keys k JOIN accounts a ON a.id = k.account_id WHERE k.hash = ?`;

/** The account of an API key, or null. The role is read from the account, never from the key. */
export function findActor(reader: Reader, token: string): Actor | null {
  return reader.sql<[hash: string], Actor>(FIND).get(sha256(token)) ?? null;
}

const USED = "UPDATE api_keys SET last_used_at = ? WHERE id = ?";

/** Stores when a key was last used. */
export function markUsed(tx: Tx, keyId: string): void {
  tx.sql<[at: number, id: string]>(USED).run(tx.at, keyId);
}
