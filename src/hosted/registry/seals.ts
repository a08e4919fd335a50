import type { Tx } from "../../store/store.ts";
import type { Room } from "./room.ts";

/** A closed tenant's seal: the tokens of its store, and what the store's file looked like. */
export interface Seal {
  tenantId: string;
  /** The epoch that was read before the tokens were. */
  epoch: number;
  /** See `storeStamp`. */
  files: string;
  /** SHA-256 of each token, in hexadecimal. */
  hashes: readonly string[];
}

/**
 * Seals of closed tenants. A seal is only a hint that saves an opening: whoever reads one compares `files` with the
 * file as it is, and opens the store where they differ.
 */
export interface Seals {
  /** Grows with each seal that is put or broken. */
  epoch(tenantId: string): Promise<number>;
  /** False, and nothing is written, where another seal was put or broken since its epoch. */
  put(seal: Seal): Promise<boolean>;
  /** For whoever writes to a store that it doesn't serve, before and after; the new epoch. */
  break(tenantId: string): Promise<number>;
  /** The file that the seal speaks of, and whether it knows the token; null without a seal. */
  judge(tenantId: string, hash: string): Promise<{ files: string; knows: boolean } | null>;
  /** The file that each hosted tenant's seal speaks of, null without one; by id, those after `after`, at most `limit`. */
  list(page: { after: string; limit: number }): Promise<{ id: string; files: string | null }[]>;
}

export function sealsIn({ store, write }: Room): Seals {
  return {
    epoch: async (tenantId) => epochOf(store, tenantId),
    put: (seal) =>
      write((tx) => {
        if (epochOf(tx, seal.tenantId) !== seal.epoch) return false;
        replaceTokens(tx, seal);
        setSeal(tx, seal.tenantId, seal.files);
        return true;
      }),
    break: (tenantId) =>
      write((tx) => {
        setSeal(tx, tenantId, null);
        return epochOf(tx, tenantId);
      }),
    async judge(tenantId, hash) {
      const row = store
        .sql<[hash: string, tenantId: string], { files: string | null; knows: number }>(
          `SELECT files, EXISTS (SELECT 1 FROM tenant_tokens t WHERE t.tenant_id = s.tenant_id AND t.hash = ?) AS knows
           FROM tenant_seals s WHERE tenant_id = ?`,
        )
        .get(hash, tenantId);
      if (row === undefined || row.files === null) return null;
      return { files: row.files, knows: row.knows === 1 };
    },
    list: async ({ after, limit }) =>
      store
        .sql<[after: string, limit: number], { id: string; files: string | null }>(
          `SELECT t.id, s.files FROM tenants t LEFT JOIN tenant_seals s ON s.tenant_id = t.id
           WHERE t.kind = 'hosted' AND t.id > ? ORDER BY t.id LIMIT ?`,
        )
        .all(after, limit),
  };
}

function epochOf(reader: Pick<Tx, "sql">, tenantId: string): number {
  const epoch = reader
    .sql<[tenantId: string], number>("SELECT epoch FROM tenant_seals WHERE tenant_id = ?")
    .pluck()
    .get(tenantId);
  return epoch ?? 0;
}

function setSeal(tx: Tx, tenantId: string, files: string | null): void {
  tx.sql<[tenantId: string, files: string | null]>(
    `INSERT INTO tenant_seals (tenant_id, epoch, files) VALUES (?, 1, ?)
     ON CONFLICT DO UPDATE SET epoch = epoch + 1, files = excluded.files`,
  ).run(tenantId, files);
}

/** Writes what differs: at most closings nothing does. */
function replaceTokens(tx: Tx, { tenantId, hashes }: Seal): void {
  const present = tx
    .sql<[tenantId: string], string>("SELECT hash FROM tenant_tokens WHERE tenant_id = ?")
    .pluck()
    .all(tenantId);
  const wanted = new Set(hashes);
  for (const hash of present)
    if (!wanted.delete(hash))
      tx.sql<[tenantId: string, hash: string]>(
        "DELETE FROM tenant_tokens WHERE tenant_id = ? AND hash = ?",
      ).run(tenantId, hash);
  for (const hash of wanted)
    tx.sql<[tenantId: string, hash: string]>(
      "INSERT INTO tenant_tokens (tenant_id, hash) VALUES (?, ?)",
    ).run(tenantId, hash);
}
