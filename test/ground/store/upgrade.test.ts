import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import Database from "better-sqlite3";
import { systemRandom } from "../../../src/ground/kit/random.ts";
import { checkCopy } from "../../../src/ground/store/check.ts";
import { StoreFault } from "../../../src/ground/store/faults.ts";
import { digestFile } from "../../../src/ground/store/files.ts";
import { migrations } from "../../../src/ground/store/migrations.ts";
import { openStore } from "../../../src/ground/store/store.ts";
import { run } from "../../support/children.ts";
import { handClock } from "../../support/clock.ts";
import { schemaOf } from "../../support/dump.ts";
import { long, test } from "../../support/long.ts";
import { fixtureText } from "../../support/schema-fixture.ts";
import { hashes, scratch } from "../../support/scratch.ts";
import { later } from "./later.ts";

const fixtures = join(import.meta.dirname, "../../fixtures");
const released = readdirSync(fixtures)
  .map((name) => /^schema-(\d+)\.sql$/.exec(name)?.[1])
  .filter((number) => number !== undefined)
  .map(Number)
  .sort((a, b) => a - b);
const head = migrations("box").length;

const textOf = (schema: number) => readFileSync(join(fixtures, `schema-${schema}.sql`), "utf8");

/** More than any process has as its number. */
const GONE = 999_999_999;

let made = "";
/** Each that is made runs every migration. */
const present = () => (made ||= fixtureText());

/** Data of this program's schema; or of another, from SQL text that makes it. */
function fixture(directory: string, text = present()): string {
  const path = join(directory, "box.db");
  const db = new Database(path);
  db.pragma("foreign_keys = OFF");
  db.exec(`BEGIN; ${text} COMMIT`);
  db.close();
  return path;
}

const open = (path: string, options: { older?: "copy" | "refuse"; known?: typeof later } = {}) =>
  openStore({
    path,
    kind: "box",
    clock: handClock(),
    random: systemRandom,
    ...(options.older && { older: options.older }),
    ...(options.known && { migrations: options.known }),
  });

function rowsOf(path: string): Record<string, number> {
  return checkCopy(path).counts;
}

test("the schemas that fixtures are kept of are those of releases, and never change", () => {
  const log = readFileSync(join(import.meta.dirname, "../../../CHANGELOG.md"), "utf8");
  const releases = log.match(/^## \d+\.\d+\.\d+ /gm) ?? [];
  assert.ok(released.length > 0 && released.length <= releases.length, "only a release keeps one");
  const made = (text: string) => text.split("\n").filter((line) => !line.startsWith("INSERT "));
  for (const schema of released)
    assert.deepEqual(
      made(textOf(schema)),
      made(fixtureText(migrations("box").slice(0, schema))),
      "A released migration changed: add another instead.",
    );
});

for (const schema of new Set([...released, head])) {
  test(`data of schema ${schema} becomes what a new store is, and loses no row`, (t) => {
    const directory = scratch(t);
    const path = fixture(directory, released.includes(schema) ? textOf(schema) : fixtureText());
    const before = rowsOf(path);
    for (const [table, rows] of Object.entries(before)) assert.ok(rows > 0, table);
    open(path).close();
    const fresh = join(directory, "fresh.db");
    open(fresh).close();
    const [upgraded, made] = [path, fresh].map((file) => new Database(file, { readonly: true }));
    assert.ok(upgraded && made);
    assert.deepEqual(schemaOf(upgraded), schemaOf(made));
    upgraded.close();
    made.close();
    const after = rowsOf(path);
    for (const [table, rows] of Object.entries(before))
      assert.ok((after[table] ?? 0) >= rows, table);
    assert.equal(existsSync(`${path}.schema-${schema}`), schema < head);
  });
}

test("what channels, deliveries and projects hold is the same after the table of channels was made anew, and any kind fits", (t) => {
  const path = fixture(scratch(t), textOf(1));
  /** Columns that came with later schemas are left out. */
  const columns = new Map<string, string[]>();
  const held = (db: Database.Database) =>
    ["integrations", "deliveries", "projects", "sources", "rules"].map((table) =>
      db
        .prepare(`SELECT ${columnsIn(db, table)} FROM ${table} ORDER BY 1`)
        .all()
        .map((row) => ({ ...(row as object) })),
    );
  const columnsIn = (db: Database.Database, table: string) => {
    if (!columns.has(table))
      columns.set(
        table,
        db.prepare("SELECT name FROM pragma_table_info(?)").pluck().all(table) as string[],
      );
    return columns.get(table)?.join(", ");
  };
  const before = new Database(path);
  const [channels, deliveries, ...parents] = held(before);
  before.close();
  const store = open(path);
  const [channelsNow, deliveriesNow, ...parentsNow] = held(store.db);
  assert.deepEqual(channelsNow, channels);
  assert.deepEqual([...parentsNow], parents);
  for (const [i, row] of (deliveries ?? []).entries())
    assert.deepEqual({ ...deliveriesNow?.[i], ...row }, deliveriesNow?.[i]);
  store.write((tx) => tx.sql("UPDATE integrations SET type = 'pigeon'").run());
  assert.deepEqual(store.db.pragma("foreign_key_check"), []);
  store.write((tx) => tx.sql("DELETE FROM projects").run());
  assert.equal(store.sql("SELECT count(*) FROM integrations").pluck().get(), 0, "they go with it");
  store.close();
});

test("a newer program lays a proved copy beside the data before it changes it", (t) => {
  const directory = scratch(t);
  const path = fixture(directory);
  const before = rowsOf(path);
  open(path, { known: later }).close();
  const copy = `${path}.schema-${head}`;
  const manifest = JSON.parse(readFileSync(`${copy}.json`, "utf8"));
  assert.deepEqual(
    [manifest.schema, manifest.sha256, manifest.counts],
    [head, digestFile(copy).sha256, before],
  );
  assert.deepEqual(rowsOf(copy), before);
  const db = new Database(path, { readonly: true });
  assert.equal(db.pragma("user_version", { simple: true }), later.length);
  assert.equal(db.prepare("SELECT count(*) FROM later").pluck().get(), 40);
  db.close();
  assert.throws(() => open(path), { kind: "newer" });
  open(path, { known: later }).close();
});

test("a migration that fails leaves data that the older program opens", (t) => {
  const directory = scratch(t);
  const path = fixture(directory);
  const failing = [
    ...later,
    { number: later.length + 1, name: "9999_bad", sql: "INSERT INTO later (a) VALUES ('x'); BAD;" },
  ];
  assert.throws(() => open(path, { known: failing }), StoreFault);
  open(path).close();
});

test("a migration that would break references is undone", (t) => {
  const directory = scratch(t);
  const path = fixture(directory);
  const failing = [
    ...migrations("box"),
    { number: head + 1, name: "9999_bad", sql: "DELETE FROM projects WHERE id = 1" },
  ];
  assert.throws(() => open(path, { known: failing }), { kind: "damaged", message: /references/ });
  open(path).close();
});

test("commands beside the box never change its schema", (t) => {
  const directory = scratch(t);
  const path = fixture(directory);
  const before = hashes(directory);
  assert.throws(() => open(path, { known: later, older: "refuse" }), {
    message: /start box serve of this program first/,
  });
  // Opening for writing turns the fixture into a file that keeps a log, and nothing else.
  assert.deepEqual(Object.keys(hashes(directory)), Object.keys(before));
  open(path).close();
});

test("too little room is refused before anything is done, with the bytes that are needed", (t) => {
  const directory = scratch(t);
  const path = fixture(directory);
  open(path).close();
  const before = hashes(directory);
  const size = readFileSync(path).length;
  t.mock.method(process.getBuiltinModule("node:fs"), "statfsSync", () => ({
    bavail: 3,
    bsize: 4096,
  }));
  syncExports(t);
  assert.throws(
    () => open(path, { known: later }),
    (error) => {
      assert.ok(error instanceof StoreFault);
      const needed = 2 * size + 16 * 1024 * 1024;
      assert.equal(error.kind, "io");
      assert.ok(error.message.includes(`needs ${needed} bytes`), error.message);
      return true;
    },
  );
  assert.deepEqual(hashes(directory), before);
});

test("what a killed upgrade left is removed before room is counted", (t) => {
  const directory = scratch(t);
  const path = fixture(directory);
  open(path).close();
  const size = readFileSync(path).length;
  const left = join(directory, `.box.db.schema-${head}.aside-${GONE}`);
  mkdirSync(left);
  writeFileSync(join(left, "copy.db"), Buffer.alloc(size));
  // As much as it needs, but for what lies there.
  const isThere = () => (existsSync(left) ? size : 0);
  t.mock.method(process.getBuiltinModule("node:fs"), "statfsSync", () => ({
    bavail: 2 * size + 16 * 1024 * 1024 - isThere(),
    bsize: 1,
  }));
  syncExports(t);
  open(path, { known: later }).close();
  assert.deepEqual(
    readdirSync(directory).filter((name) => name.includes("aside")),
    [],
  );
});

function syncExports(t: TestContext): void {
  const { syncBuiltinESMExports } = process.getBuiltinModule("node:module");
  syncBuiltinESMExports();
  t.after(() => {
    t.mock.restoreAll();
    syncBuiltinESMExports();
  });
}

long(
  "a kill at any of its steps leaves the old schema or the new, and the next start finishes",
  async (t) => {
    const child = join(import.meta.dirname, "kill-upgrade.ts");
    const upgraded = scratch(t);
    const before = rowsOf(fixture(upgraded));
    const into = scratch(t);
    const whole = await run(child, [join(upgraded, "box.db"), into]);
    const steps = Number(whole.out);
    assert.ok(steps > 40, whole.err);
    const seen = { old: 0, new: 0 };
    for (let i = 1; i <= 20; i++) {
      const directory = join(into, String(Math.ceil((i * steps) / 20)));
      const path = join(directory, "box.db");
      const db = new Database(path);
      const schema = db.pragma("user_version", { simple: true });
      db.close();
      assert.ok(schema === head || schema === later.length, `${schema}`);
      seen[schema === head ? "old" : "new"] += 1;
      open(path, { known: later }).close();
      const rows = { later: 40, migrations: (before["migrations"] ?? 0) + 2 };
      assert.deepEqual(rowsOf(path), { ...before, ...rows });
      const left = readdirSync(directory).filter((name) => name.includes("aside"));
      assert.deepEqual(left, []);
    }
    assert.ok(seen.old > 5 && seen.new > 0, JSON.stringify(seen));
  },
);
