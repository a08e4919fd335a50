import type { Tx } from "../../../ground/store/store.ts";
import type { Seal, Seals } from "../seals.ts";
import type { SqliteDeps } from "./deps.ts";

export function sqliteSeals({ store, write }: SqliteDeps): Seals {
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

/** Writes only differences; usually there are none. */
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
