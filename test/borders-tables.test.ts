import assert from "node:assert/strict";
import test from "node:test";
import { readSource } from "./support/source.ts";
import { alertRows, asking, tablesOf, typedSql, writersIn } from "./support/table-laws.ts";

const tables = tablesOf(
  writersIn([
    readSource("src/core/projects/a.ts", 'tx.sql("DELETE FROM rules, DELETE FROM integrations");'),
    readSource("src/out/outbox/a.ts", 'tx.sql("DELETE FROM deliveries, DELETE FROM relay_keys");'),
    readSource("src/core/quiet/a.ts", 'tx.sql("DELETE FROM SET");'),
  ]),
);

test("a write in another's room is seen in each form it can take", () => {
  const forms = [
    'tx.sql("DELETE FROM rules WHERE id = ?").run(id);',
    "tx.sql(`UPDATE rules SET body = ?\n  WHERE id = ?`).run(id);",
    "const ADD = `INSERT INTO rules (id)\n VALUES (?)`; use(ADD);",
    'const ADD = "INSERT OR IGNORE INTO rules (id) VALUES (?)"; use(ADD);',
    'use(["UPDATE alerts SET id = 1", "UPDATE rules SET body = 1"]);',
    'tx.db.exec("REPLACE INTO rules VALUES (1)");',
    'import { rules } from "../store/schema.ts"; tx.orm\n  .delete(rules).run();',
    'import { rules } from "../store/schema.ts"; tx.orm.insert(rules).values({}).run();',
    'import { rules } from "../store/schema.ts"; tx.orm.update(rules).set({}).run();',
  ];
  for (const form of forms) {
    const faults = tables(readSource("src/core/alerts/a.ts", form));
    assert.deepEqual(
      faults,
      ["src/core/alerts/a.ts: rules is written by projects, not by alerts"],
      form,
    );
  }
});

test("an alert's row is updated in one place", () => {
  const faults = (file: string, text: string) => alertRows(readSource(file, text)).length;
  const update = 'tx.sql<[number]>("UPDATE alerts SET level = 1 WHERE id = ?").run(id);';
  assert.equal(faults("src/core/alerts/verbs.ts", update), 1);
  assert.equal(faults("src/core/alerts/apply.ts", update), 0);
  const others = 'use("INSERT INTO alerts (id) VALUES (1)", "UPDATE alert_counts SET n = 1");';
  assert.equal(faults("src/core/alerts/verbs.ts", others), 0);
});

test("a room writes its own tables", () => {
  const text =
    'tx.sql("DELETE FROM rules"); tx.orm.update(rules); tx.sql("UPDATE sources SET a = 1");';
  assert.deepEqual(tables(readSource("src/core/projects/a.ts", text)), []);
});

test("a table that is named only when it runs is no table", () => {
  const text = `tx.sql(\`UPDATE \${table} SET a = 1\`).run();`;
  assert.equal(tables(readSource("src/out/outbox/a.ts", text)).length, 1);
  assert.deepEqual(tables(readSource("src/records/backup/restored.ts", text)), []);
});

test("what is lent is lent by the column", () => {
  const update = (columns: string) => `tx.sql("UPDATE integrations SET ${columns} WHERE id = ?");`;
  const faultsOf = (text: string) => tables(readSource("src/out/outbox/a.ts", text)).length;
  assert.equal(faultsOf(update("failing_since = ?, last_error = NULL")), 0);
  assert.equal(faultsOf(update("failing_since = ?, url = ?")), 1);
  assert.equal(faultsOf('tx.sql("DELETE FROM integrations");'), 1);
});

test("the hosted registry writes its own tables and no tenant's", () => {
  const write = (table: string) => readSource("src/hosted/a.ts", `tx.sql("DELETE FROM ${table}");`);
  assert.deepEqual(tables(write("relay_keys")), []);
  assert.equal(tables(write("deliveries")).length, 1);
});

test("what only reads, or speaks of writing, passes", () => {
  const text = [
    "// DELETE FROM rules",
    'const a = "SELECT id FROM rules";',
    'const b = "INSERT INTO alerts (id) VALUES (?) ON CONFLICT DO UPDATE SET id = excluded.id";',
    "use(a, b);",
  ].join("\n");
  assert.deepEqual(tables(readSource("src/core/alerts/a.ts", text)), []);
});

test("prepared SQL in a room of Drizzle, Drizzle in a room of prepared SQL, and either in none", () => {
  const sql = 'tx.sql<[number], string>("SELECT 1").get();';
  const orm = "tx.orm.select().from(rules).all();";
  const built = 'import { eq } from "drizzle-orm"; use(eq);';
  const faults = (file: string, text: string) => asking(readSource(file, text)).length;
  for (const [file, text] of [
    ["src/people/a.ts", sql],
    ["src/web/http/a.ts", sql],
    ["cli/a.ts", sql],
    ["src/in/ingest/a.ts", orm],
    ["src/web/http/a.ts", orm],
    ["src/core/alerts/a.ts", built],
    ["src/people/actor.ts", orm],
  ] as const)
    assert.equal(faults(file, text), 1, `${file}: ${text}`);
  for (const [file, text] of [
    ["src/people/a.ts", orm],
    ["src/people/actor.ts", sql],
    ["src/in/ingest/a.ts", sql],
  ] as const)
    assert.equal(faults(file, text), 0, `${file}: ${text}`);
});

test("a statement without types is seen where they are asked for", () => {
  const bare = 'tx.sql("SELECT 1").get() as number;';
  const typed = 'tx.sql<[], number>("SELECT 1").get();';
  assert.equal(typedSql(readSource("src/core/alerts/a.ts", bare)).length, 1);
  assert.deepEqual(typedSql(readSource("src/core/alerts/a.ts", typed)), []);
});
