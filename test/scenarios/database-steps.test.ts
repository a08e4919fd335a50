import assert from "node:assert/strict";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { openCopy } from "../../src/hosted/record/copy.ts";
import { databaseMigrations, migrateDatabase } from "../../src/hosted/registry/postgres/migrate.ts";
import { run } from "../support/children.ts";
import { memoryOrTemp } from "../support/memory.ts";
import { makeBox, openedBox, TENANT } from "../support/opened-box.ts";
import { postgresTest, type TestDatabase, testDatabase } from "../support/postgres.ts";
import type { Left } from "./database-steps.ts";

/** A box whose commits are in a database, killed at each step of its life: whatever becomes of the disk, all that was told is there. */

/** How often a step that comes again is one at which it dies. */
const MOST = Number(process.env["MOST"] ?? 1);
/** One in so many of steps and fates of the disk, beside those that are named; 1: each step with each fate. A disk that is lost costs ten seconds. */
const EACH = Number(process.env["EACH"] ?? 16);
const TABLES = ["tenant_stores", "tenant_pages", "tenant_epochs"];
const FATES = ["there", "lost", "older"] as const;

/** Where it has to have died. */
const NAMED = [
  "after a commit",
  "asked: a ship",
  "asked: a ship, done",
  "answered: a ship",
  "it is answered",
  "answered: a compare's list",
  "asked: a compare's pages",
  "asked: a compare's end",
  "asked: COMMIT, done",
  "openSync box.db.copy",
  "renameSync box.db",
  "renameSync box.db.copy",
  "asked: leaving, done",
];

interface World {
  root: string;
  database: TestDatabase;
  /** Sets the database to what was kept of it, after the life of whoever died. */
  become(schema: string): Promise<void>;
}

async function worldOf(t: TestContext): Promise<World> {
  const root = mkdtempSync(join(memoryOrTemp(), "box-steps-"));
  t.after(() => rmSync(root, { recursive: true }));
  const database = await testDatabase(t, { empty: true });
  const own = database.open();
  await migrateDatabase(own, databaseMigrations(), "box");
  return {
    root,
    database,
    async become(schema) {
      for (const table of TABLES)
        await own.query(
          `DO $$ BEGIN TRUNCATE ${table}; INSERT INTO ${table} SELECT * FROM ${schema}.${table}; END $$`,
        );
      await own.query("UPDATE tenant_stores SET alive_until = clock_timestamp()");
    },
  };
}

/** One life of the program in `data`, and what each step of it leaves in `into`. */
async function lifeOf({ root, database }: World, data: string, told: string[]) {
  const into = join(root, `${data}-steps`);
  mkdirSync(into);
  const child = join(import.meta.dirname, "database-steps.ts");
  const words = [join(root, data), database.url, into, JSON.stringify(told), MOST];
  const { out, err } = await run(child, words);
  assert.notEqual(out, "", err);
  return { into, left: JSON.parse(out) as Left[] };
}

async function comesBack(
  { root, database, become }: World,
  { name, files, database: at, told }: Left,
  { fate, into, older }: { fate: (typeof FATES)[number]; into: string; older: string },
): Promise<void> {
  const data = join(root, "again");
  rmSync(data, { recursive: true, force: true });
  mkdirSync(data);
  if (fate !== "lost")
    cpSync(fate === "there" ? join(into, String(files)) : older, data, { recursive: true });
  await become(at);
  const about = `killed at "${name}" (${files}, ${at}), its disk is ${fate}`;
  const box = await openedBox(data, database.url).catch((cause: unknown) => {
    throw new Error(about, { cause });
  });
  const names = new Set(box.names());
  assert.deepEqual(
    told.filter((one) => !names.has(one)),
    [],
    about,
  );
  assert.ok(box.isWhole(), about);
  box.add("afterwards");
  await box.durable();
  await box.stop();
  const kept = join(data, "kept.db");
  const reader = database.open();
  const copy = openCopy(reader, TENANT, kept);
  await copy.follow();
  copy.close();
  reader.close();
  assert.ok(readFileSync(kept).equals(readFileSync(join(data, "box.db"))), about);
}

postgresTest("killed at any of its steps, a box comes back with all that was told", async (t) => {
  const world = await worldOf(t);
  const { root } = world;
  // A box that was alone before: its first start copies it.
  mkdirSync(join(root, "one"));
  makeBox(join(root, "one"));
  const first = await lifeOf(world, "one", []);
  const half = first.left.find(({ name }) => name === "half of its life");
  assert.ok(half && half.told.length > 4);
  const older = join(first.into, String(half.files));
  // A machine that was set back to an older state: its store is replaced, and moved aside.
  cpSync(older, join(root, "two"), { recursive: true });
  const last = first.left.at(-1) as Left;
  await world.become(last.database);
  const second = await lifeOf(world, "two", last.told);

  const died = new Map<string, number>();
  let n = 0;
  for (const { left, into } of [first, second])
    for (const one of left)
      for (const fate of FATES) {
        n++;
        if (n % EACH !== 0 && !(fate === "there" && NAMED.includes(one.name))) continue;
        // Nothing was told before the database had everything.
        if (one.told.length === 0 && fate !== "there") continue;
        if (one.told.length < half.told.length && fate === "older") continue;
        await comesBack(world, one, { fate, into, older });
        died.set(fate, (died.get(fate) ?? 0) + 1);
      }
  t.diagnostic(
    `${first.left.length} and ${second.left.length} steps; ${JSON.stringify([...died])}`,
  );
  const steps = [...first.left, ...second.left].map(({ name }) => name).join("\n");
  for (const named of NAMED) assert.ok(steps.includes(`\n${named}\n`), named);
});
