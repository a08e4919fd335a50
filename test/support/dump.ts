import type { SqliteDatabase } from "../../src/ground/store/database.ts";

/** A database as SQL text that makes it again: schema in the order it was made, rows, triggers, header values. */
export function dump(db: SqliteDatabase): string {
  const objects = db
    .prepare(
      "SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' ORDER BY rowid",
    )
    .all() as { type: string; name: string; sql: string }[];
  const rows = objects
    .filter(({ type }) => type === "table")
    .flatMap(({ name }) => insertsOf(db, name));
  const header = ["application_id", "user_version"].map(
    (name) => `PRAGMA ${name} = ${db.pragma(name, { simple: true })};`,
  );
  // A trigger that is there already would write beside the rows.
  const made = (isTrigger: boolean) =>
    objects.filter(({ type }) => (type === "trigger") === isTrigger).map(({ sql }) => `${sql};`);
  return `${[...header, ...made(false), ...rows, ...made(true)].join("\n")}\n`;
}

function insertsOf(db: SqliteDatabase, table: string): string[] {
  const columns = columnsOf(db, table).map(({ name }) => `quote("${name}")`);
  const values = db
    .prepare(`SELECT ${columns.join(" || ', ' || ")} FROM "${table}" ORDER BY 1`)
    .pluck()
    .all() as string[];
  return values.map((value) => `INSERT INTO "${table}" VALUES (${value});`);
}

interface Column {
  name: string;
  type: string;
  notnull: number;
  dflt_value: string | null;
  pk: number;
}

export function columnsOf(db: SqliteDatabase, table: string): Column[] {
  return db.pragma(`table_info("${table}")`) as Column[];
}

/**
 * The schema as values that can be compared: columns, keys and indexes of each table, whatever text
 * they were declared with (a column that a migration added stands elsewhere in that text).
 */
export function schemaOf(db: SqliteDatabase): Record<string, unknown> {
  const tables = db
    .prepare(
      "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' ORDER BY name",
    )
    .pluck()
    .all() as string[];
  return Object.fromEntries(
    tables.map((table) => [
      table,
      {
        columns: columnsOf(db, table)
          .map(({ name, type, notnull, dflt_value, pk }) => ({
            name,
            type,
            notnull,
            dflt_value,
            pk,
          }))
          .sort((a, b) => (a.name < b.name ? -1 : 1)),
        indexes: indexesOf(db, table),
        references: db
          .prepare(
            `SELECT "from", "table", "to", on_delete FROM pragma_foreign_key_list(?) ORDER BY 1`,
          )
          .all(table),
        triggers: db
          .prepare(
            "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = ? ORDER BY name",
          )
          .all(table),
        how: db
          .prepare("SELECT wr, strict FROM pragma_table_list WHERE schema = 'main' AND name = ?")
          .get(table),
      },
    ]),
  );
}

function indexesOf(db: SqliteDatabase, table: string): unknown[] {
  const indexes = db
    .prepare(`SELECT name, "unique", origin, partial FROM pragma_index_list(?) ORDER BY name`)
    .all(table) as { name: string }[];
  return indexes.map((index) => ({
    ...index,
    columns: db.prepare("SELECT name FROM pragma_index_info(?)").pluck().all(index.name),
  }));
}
