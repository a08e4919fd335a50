/**
 * Writes test/fixtures/schema-N.sql: a database of the present schema with rows in every table. Made for a release,
 * and kept from then on. `node test/support/schema-fixture.ts`
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemRandom } from "../../src/ground/kit/random.ts";
import type { SqliteDatabase } from "../../src/ground/store/database.ts";
import { type Migration, migrations } from "../../src/ground/store/migrations.ts";
import { openStore } from "../../src/ground/store/store.ts";
import { handClock } from "./clock.ts";
import { columnsOf, dump } from "./dump.ts";

/** Values that a column's type doesn't tell: those of checks, references and JSON. */
const values: Record<string, (n: number) => string | number | null> = {
  role: () => "owner",
  state: () => "open",
  status: () => "pending",
  repeats: () => "none",
  entry_type: () => "update",
  type: () => "webhook",
  account_id: (n) => `id ${n}`,
  schedule_id: (n) => `id ${n}`,
  heartbeat_id: (n) => `id ${n}`,
  report_id: (n) => `id ${n}`,
  ask_id: (n) => `id ${n}`,
  body: () => "{}",
  keys: () => "{}",
  options: () => "{}",
  tags: () => "[]",
  layers: () => "[]",
  detail: () => "{}",
  identifiers: () => "{}",
  page_accounts: () => "[]",
};

/** Where a table's column takes other values than its name suggests. */
const ofTable: Record<string, string> = {
  "contacts.state": "verified",
  "sessions.method": "password",
  "sessions.key_id": "id 1",
  "sessions.passkey_id": "id 1",
};

const onlyOne = ["relay", "sign_in"];

export function fill(db: SqliteDatabase): void {
  const tables = db
    .prepare(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name <> 'migrations' ORDER BY rowid",
    )
    .pluck()
    .all() as string[];
  // A table may refer to one that was made after it.
  db.exec("BEGIN; PRAGMA defer_foreign_keys = ON");
  for (const table of tables) {
    const columns = columnsOf(db, table);
    const insert = db.prepare(
      `INSERT INTO "${table}" VALUES (${columns.map(() => "?").join(", ")})`,
    );
    for (let n = 1; n <= (onlyOne.includes(table) ? 1 : 2); n++)
      insert.run(
        columns.map(
          ({ name, type }) =>
            ofTable[`${table}.${name}`] ??
            values[name]?.(n) ??
            (type === "TEXT" ? `${name} ${n}` : n),
        ),
      );
  }
  db.exec("COMMIT");
}

/** The text of a fixture of the present schema, or of the one that these migrations make. */
export function fixtureText(known: readonly Migration[] = migrations("box")): string {
  const directory = mkdtempSync(join(tmpdir(), "box-fixture-"));
  const store = openStore({
    path: join(directory, "box.db"),
    kind: "box",
    clock: handClock(),
    random: systemRandom,
    migrations: known,
  });
  try {
    fill(store.db);
    return dump(store.db);
  } finally {
    store.close();
    rmSync(directory, { recursive: true, force: true });
  }
}

if (import.meta.main) {
  const file = `schema-${migrations("box").length}.sql`;
  writeFileSync(join(import.meta.dirname, "../fixtures", file), fixtureText());
  process.stdout.write(`wrote ${file}\n`);
}
