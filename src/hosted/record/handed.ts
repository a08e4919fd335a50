import type { Database } from "../registry/postgres/connect.ts";

/** A line that a machine handed over. */
export interface HandedRow {
  id: string;
  n: number;
  what: string;
}

type Asker = Pick<Database, "query">;

const ENDED = `SELECT coalesce(
    (SELECT seq FROM tenant_epochs WHERE tenant_id = $1 AND epoch > $2 ORDER BY epoch LIMIT 1),
    (SELECT seq FROM tenant_stores WHERE tenant_id = $1)) AS seq`;
const HAND = `INSERT INTO tenant_handed (tenant_id, id, n, what)
  SELECT $1, $2, a.n, a.what FROM unnest($3::int[], $4::text[]) AS a(n, what) ON CONFLICT DO NOTHING`;
const LIST = "SELECT id, n, what FROM tenant_handed WHERE tenant_id = $1 ORDER BY id, n LIMIT $2";
const FORGET = "DELETE FROM tenant_handed WHERE tenant_id = $1 AND id = $2 AND n <= $3";
const AT_ONCE = 1_000;
const WITHIN_MS = 4_000;

/** With which commit the history of an epoch ended. */
export async function endOfEpoch(
  database: Asker,
  of: { tenantId: string; epoch: number },
): Promise<number> {
  const [row] = await database.query<{ seq: number | null }>(ENDED, [of.tenantId, of.epoch]);
  return row?.seq ?? 0;
}

/** May be repeated. */
export async function handRows(
  database: Asker,
  tenantId: string,
  { id, whats }: { id: string; whats: readonly string[] },
): Promise<void> {
  for (let from = 0; from < whats.length; from += AT_ONCE) {
    const slice = whats.slice(from, from + AT_ONCE);
    const numbers = slice.map((_, i) => from + i + 1);
    await database.query(HAND, [tenantId, id, numbers, slice]);
  }
}

export function handedRows(database: Asker, tenantId: string, most: number): Promise<HandedRow[]> {
  return database.query<HandedRow>(LIST, [tenantId, most], { withinMs: WITHIN_MS });
}

export async function forgetRows(
  database: Asker,
  tenantId: string,
  { id, n }: Pick<HandedRow, "id" | "n">,
): Promise<void> {
  await database.query(FORGET, [tenantId, id, n], { withinMs: WITHIN_MS });
}
