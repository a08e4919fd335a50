import type { Database } from "../registry/postgres/connect.ts";

/** Its owner, which says each two seconds that it lives for ten more, hasn't said so for four. */
const MAY_BE_GONE = "alive_until < clock_timestamp() + interval '6 s'";

/** Whether a tenant whose node may be dead may have given out addresses that the registry doesn't know yet. */
export async function mayLackAddresses(database: Pick<Database, "query">): Promise<boolean> {
  const rows = await database.query(
    `SELECT 1 FROM tenant_stores WHERE NOT clean AND ${MAY_BE_GONE} LIMIT 1`,
  );
  return rows.length > 0;
}

/** The tenants whose stores are there. */
export async function storesKept(database: Pick<Database, "query">): Promise<string[]> {
  const rows = await database.query<{ id: string }>(
    "SELECT tenant_id AS id FROM tenant_stores WHERE seq > 0 ORDER BY tenant_id",
  );
  return rows.map(({ id }) => id);
}
