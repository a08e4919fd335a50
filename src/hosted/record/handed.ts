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
const IS_ASIDE = "right(id, length($2)) = $2";
const LIST = `SELECT id, n, what FROM tenant_handed WHERE tenant_id = $1 AND NOT ${IS_ASIDE} ORDER BY id, n LIMIT $3`;
const COUNT = `SELECT count(*)::int AS n FROM tenant_handed WHERE tenant_id = $1 AND ${IS_ASIDE}`;
const SET_ASIDE = `WITH gone AS (
    DELETE FROM tenant_handed WHERE tenant_id = $1 AND id = $3 AND n = ANY($4::int[]) RETURNING n, what)
  INSERT INTO tenant_handed (tenant_id, id, n, what) SELECT $1, $3 || $2, n, what FROM gone
  ON CONFLICT DO NOTHING`;
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

/** The tenants for which something lies there. */
export async function tenantsHanded(database: Asker): Promise<string[]> {
  const rows = await database.query<{ id: string }>(
    "SELECT DISTINCT tenant_id AS id FROM tenant_handed",
    [],
    { withinMs: WITHIN_MS },
  );
  return rows.map(({ id }) => id);
}

/** Takes it back where nobody has taken it yet; whether it was still there. */
export async function takeBackRows(
  database: Asker,
  tenantId: string,
  id: string,
): Promise<boolean> {
  const rows = await database.query(
    "DELETE FROM tenant_handed WHERE tenant_id = $1 AND id = $2 RETURNING 1",
    [tenantId, id],
  );
  return rows.length > 0;
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

/**
 * A row that a program of this version can't take is kept under an id with the version at its end: not listed for it any
 * more, and like a file of its own for a program of another version.
 */
const endOf = (version: string) => `/${version}`;

/** Those that a program of this version may be able to take. */
export function handedRows(
  database: Asker,
  tenantId: string,
  { version, most }: { version: string; most: number },
): Promise<HandedRow[]> {
  return database.query<HandedRow>(LIST, [tenantId, endOf(version), most], { withinMs: WITHIN_MS });
}

/** May be repeated. */
export async function setRowsAside(
  database: Asker,
  tenantId: string,
  { id, version, numbers }: { id: string; version: string; numbers: readonly number[] },
): Promise<void> {
  await database.query(SET_ASIDE, [tenantId, endOf(version), id, numbers], { withinMs: WITHIN_MS });
}

/** How many rows a program of this version can't take. */
export async function rowsAside(
  database: Asker,
  tenantId: string,
  version: string,
): Promise<number> {
  const [row] = await database.query<{ n: number }>(COUNT, [tenantId, endOf(version)], {
    withinMs: WITHIN_MS,
  });
  return row?.n ?? 0;
}

export async function forgetRows(
  database: Asker,
  tenantId: string,
  { id, n }: Pick<HandedRow, "id" | "n">,
): Promise<void> {
  await database.query(FORGET, [tenantId, id, n], { withinMs: WITHIN_MS });
}
