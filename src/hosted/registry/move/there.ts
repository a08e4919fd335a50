import type { DatabaseTx } from "../postgres/connect.ts";
import type { MovedColumn, MovedRow, MovedTable } from "./tables.ts";

/** The tables as PostgreSQL stores them. */

const PIECE = 1000;

const READ: Readonly<Record<MovedColumn["kind"], (name: string) => string>> = {
  text: (name) => name,
  number: (name) => name,
  yes: (name) => `${name}::integer`,
  seconds: (name) => `floor(extract(epoch FROM ${name}))::bigint`,
  ms: (name) => `floor(extract(epoch FROM ${name}) * 1000)::bigint`,
  tokens: (name) =>
    `coalesce((SELECT string_agg(t, E'\\n' ORDER BY t COLLATE "C") FROM unnest(${name}) AS t), '')`,
};

const WRITTEN: Readonly<Record<MovedColumn["kind"], (name: string) => string>> = {
  text: (name) => name,
  number: (name) => name,
  yes: (name) => `${name} = 1`,
  seconds: (name) => `to_timestamp(${name})`,
  ms: (name) => `to_timestamp(${name} / 1000.0)`,
  tokens: (name) => `string_to_array(${name}, E'\\n')`,
};

const SENT: Readonly<Record<MovedColumn["kind"], string>> = {
  text: "text[]",
  tokens: "text[]",
  number: "bigint[]",
  yes: "bigint[]",
  seconds: "bigint[]",
  ms: "bigint[]",
};

/** Rows in pieces, in SQLite's order of their keys: by bytes. */
export async function* rowsThere(
  tx: DatabaseTx,
  { name, columns, key }: MovedTable,
): AsyncGenerator<MovedRow[], void, void> {
  const list = columns.map(({ name: own, kind }, at) => `${READ[kind](own)} AS c${at}`);
  const order = key.map((one) => {
    const kind = columns.find((column) => column.name === one)?.kind;
    return kind === "text" ? `${one} COLLATE "C"` : one;
  });
  await tx.query(
    `DECLARE moved NO SCROLL CURSOR FOR SELECT ${list.join(", ")} FROM ${name} ORDER BY ${order.join(", ")}`,
  );
  for (;;) {
    const rows = await tx.query<Record<string, string | number | null>>(
      `FETCH ${PIECE} FROM moved`,
    );
    if (rows.length === 0) break;
    yield rows.map((row) => columns.map((_, at) => row[`c${at}`] ?? null));
  }
  await tx.query("CLOSE moved");
}

export async function writeThere(
  tx: DatabaseTx,
  { name, columns }: MovedTable,
  rows: Iterable<MovedRow>,
): Promise<void> {
  const names = columns.map(({ name: own }) => own).join(", ");
  const values = columns.map(({ kind }, at) => WRITTEN[kind](`c${at}`)).join(", ");
  const sent = columns.map(({ kind }, at) => `$${at + 1}::${SENT[kind]}`).join(", ");
  const as = columns.map((_, at) => `c${at}`).join(", ");
  const sql = `INSERT INTO ${name} (${names}) OVERRIDING SYSTEM VALUE
    SELECT ${values} FROM unnest(${sent}) AS row (${as})`;
  let piece: MovedRow[] = [];
  const write = async () => {
    const rowsOfPiece = piece;
    piece = [];
    if (rowsOfPiece.length > 0)
      await tx.query(
        sql,
        columns.map((_, at) => rowsOfPiece.map((row) => row[at] ?? null)),
      );
  };
  for (const row of rows) {
    piece.push(row);
    if (piece.length === PIECE) await write();
  }
  await write();
}

/** Sets the counter of ids to the highest one. */
export async function countRows(tx: DatabaseTx, { name, counted }: MovedTable): Promise<void> {
  if (counted !== true) return;
  await tx.query(
    `SELECT setval(pg_get_serial_sequence('${name}', 'id'), max(id)) FROM ${name} HAVING max(id) IS NOT NULL`,
  );
}
