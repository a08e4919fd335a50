import type { Seal, Seals } from "../seals.ts";
import type { DatabaseTx } from "./connect.ts";
import type { PostgresDeps } from "./deps.ts";
import { postgresLockTenant } from "./tenants.ts";

export function postgresSeals({ database }: PostgresDeps): Seals {
  return {
    epoch: (tenantId) => epochOn(database, tenantId),
    put: (seal) => database.transaction((tx) => put(tx, seal), { repeatable: true }),
    break: (tenantId) =>
      database.transaction(
        async (tx) => {
          await postgresLockTenant(tx, tenantId);
          return set(tx, tenantId, null);
        },
        { repeatable: true },
      ),
    async judge(tenantId, hash) {
      const [row] = await database.query<{ files: string; knows: boolean }>(
        `SELECT files, EXISTS (SELECT 1 FROM tenant_tokens t WHERE t.tenant_id = s.tenant_id AND t.hash = $2) AS knows
         FROM tenant_seals s WHERE tenant_id = $1 AND files IS NOT NULL`,
        [tenantId, hash],
      );
      return row ?? null;
    },
    list: ({ after, limit }) =>
      database.query<{ id: string; files: string | null }>(
        `SELECT t.id, s.files FROM tenants t LEFT JOIN tenant_seals s ON s.tenant_id = t.id
         WHERE t.kind = 'hosted' AND t.id > $1 ORDER BY t.id LIMIT $2`,
        [after, limit],
      ),
  };
}

async function epochOn(asker: Pick<DatabaseTx, "query">, tenantId: string): Promise<number> {
  const [row] = await asker.query<{ epoch: number }>(
    "SELECT epoch FROM tenant_seals WHERE tenant_id = $1",
    [tenantId],
  );
  return row?.epoch ?? 0;
}

async function put(tx: DatabaseTx, { tenantId, epoch, files, hashes }: Seal): Promise<boolean> {
  await postgresLockTenant(tx, tenantId);
  if ((await epochOn(tx, tenantId)) !== epoch) return false;
  const wanted = [...new Set(hashes)];
  await tx.query("DELETE FROM tenant_tokens WHERE tenant_id = $1 AND hash <> ALL ($2::text[])", [
    tenantId,
    wanted,
  ]);
  await tx.query(
    `INSERT INTO tenant_tokens (tenant_id, hash) SELECT $1, hash FROM unnest($2::text[]) AS k(hash)
     ON CONFLICT DO NOTHING`,
    [tenantId, wanted],
  );
  await set(tx, tenantId, files);
  return true;
}

/** Returns the new epoch. */
async function set(tx: DatabaseTx, tenantId: string, files: string | null): Promise<number> {
  const [row] = await tx.query<{ epoch: number }>(
    `INSERT INTO tenant_seals AS s (tenant_id, epoch, files) VALUES ($1, 1, $2)
     ON CONFLICT (tenant_id) DO UPDATE SET epoch = s.epoch + 1, files = excluded.files
     RETURNING epoch`,
    [tenantId, files],
  );
  return row?.epoch ?? 0;
}
