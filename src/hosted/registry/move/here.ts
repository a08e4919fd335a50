import type { Store } from "../../../ground/store/store.ts";
import { storableText } from "../postgres/texts.ts";
import type { MovedColumn, MovedRow, MovedTable } from "./tables.ts";

/** The tables as SQLite stores them. */

const REACHED = `(SELECT group_concat(token, char(10) ORDER BY token) FROM relay_pushes WHERE claim_id = relay_claims.id)`;

const expression = ({ kind, here }: MovedColumn): string =>
  kind === "tokens" ? `coalesce(${REACHED}, '')` : here;

/** Rows in the order of their keys, with each text as PostgreSQL can hold it. */
export function* rowsHere(
  store: Store,
  { name, columns, key }: MovedTable,
): Generator<MovedRow, void, void> {
  const list = columns.map(expression).join(", ");
  const order = key.map((one) => columns.find((column) => column.name === one)?.here ?? one);
  const rows = store.db.prepare(`SELECT ${list} FROM ${name} ORDER BY ${order.join(", ")}`).raw();
  for (const row of rows.iterate() as Iterable<MovedRow>)
    yield row.map((value) => (typeof value === "string" ? storableText(value) : value));
}

/** Columns that only SQLite has. They get 0: no page has a hold. */
const MORE: Readonly<Record<string, string>> = { relay_claims: "taken_ms" };

export function writeHere(
  store: Store,
  { name, columns }: MovedTable,
  rows: readonly MovedRow[],
): void {
  const own = columns.filter(({ kind }) => kind !== "tokens");
  const more = MORE[name];
  const names = [...own.map(({ here }) => here), ...(more === undefined ? [] : [more])];
  const marks = [...own.map(() => "?"), ...(more === undefined ? [] : ["0"])];
  const reached = columns.findIndex(({ kind }) => kind === "tokens");
  store.write((tx) => {
    const insert = tx.sql<(string | number | null)[]>(
      `INSERT INTO ${name} (${names.join(", ")}) VALUES (${marks.join(", ")})`,
    );
    const push = tx.sql<[claimId: number, token: string]>(
      "INSERT INTO relay_pushes (claim_id, token) VALUES (?, ?)",
    );
    for (const row of rows) {
      insert.run(...row.filter((_, at) => at !== reached));
      const tokens = String(row[reached] ?? "");
      if (tokens !== "") for (const token of tokens.split("\n")) push.run(Number(row[0]), token);
    }
  });
}
