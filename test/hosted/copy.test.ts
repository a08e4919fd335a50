import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openCopyOf } from "../../src/app/box-replace.ts";
import { StoreFault } from "../../src/ground/store/faults.ts";
import { createPageSums, PAGE, pageHash } from "../../src/ground/store/record/sums.ts";
import { openCopy } from "../../src/hosted/record/copy.ts";
import { postgresRecord } from "../../src/hosted/record/postgres-record.ts";
import { endStandby, findStore, standByFor } from "../../src/hosted/record/taking.ts";
import type { Database } from "../../src/hosted/registry/postgres/connect.ts";
import { databaseMigrations, migrateDatabase } from "../../src/hosted/registry/postgres/migrate.ts";
import { needs } from "../support/commands.ts";
import { postgresTest, testDatabase } from "../support/postgres.ts";
import { scratch } from "../support/scratch.ts";
import { seed } from "../support/seed.ts";
import { seeded } from "../support/seeded.ts";

/** A copy that follows what a database holds of a store, page by page. */

const TENANT = "abcdefghijklmnop";
const STANDBY = { node: "two", run: "two", version: "1", schema: 5, failed: null };

const recordIn = (
  database: Database,
  how: Pick<Parameters<typeof postgresRecord>[0], "found" | "onOthers">,
) =>
  postgresRecord({
    database,
    node: "one",
    run: "one",
    address: null,
    earlier: [],
    tenantId: () => TENANT,
    keyId: () => null,
    ...how,
  });

postgresTest(
  "a copy is what the database holds, whatever it was and however it followed",
  async (t) => {
    const database = (await testDatabase(t, { empty: true })).open();
    await migrateDatabase(database, databaseMigrations(), "box");
    const random = seeded(seed);
    const upTo = (most: number) => Math.floor(random() * most);
    const found = await findStore(database);
    const heard: boolean[] = [];
    const record = recordIn(database, {
      found: () => found,
      onOthers: (areThere) => heard.push(areThere),
    });
    await record.take();
    const images: Buffer[] = [];
    const sums = createPageSums();
    let seq = 0;
    /** A commit that writes some pages, after the store has become longer or shorter. */
    const commit = async (most: number, how: "ship" | "mend" = "ship") => {
      const count = Math.max(
        1,
        images.length + upTo(2 * most) - most + (images.length < 20 ? most : 0),
      );
      const changed = new Set<number>();
      for (let page = images.length + 1; page <= count; page++) changed.add(page);
      for (let i = upTo(most); i >= 0; i--) changed.add(1 + upTo(count));
      images.length = Math.min(images.length, count);
      sums.cut(count);
      const pages = [...changed].map((page) => {
        const image = Buffer.alloc(PAGE, upTo(256));
        image.writeUInt32BE(upTo(2 ** 32), upTo(PAGE - 4));
        images[page - 1] = image;
        const hash = pageHash(page, image);
        sums.set(page, hash);
        return { page, hash, image };
      });
      const end = { seq: ++seq, pageCount: count, sum: sums.sum, pages };
      if (how === "mend") await record.hashes();
      if (how === "mend")
        await record.mend({
          count: pages.length,
          pages: () => [pages],
          end: () => end,
          heard() {},
        });
      else assert.equal(await record.keep(end), true);
    };
    await commit(10, "mend");
    const path = join(scratch(t), "copy");
    // Another store lay there.
    writeFileSync(path, Buffer.alloc(7 * PAGE, 3));
    let copy = openCopy(database, TENANT, path);
    t.after(() => copy.close());
    assert.equal(copy.seq, null);
    const follows = async () => {
      const fetched = await copy.follow();
      assert.equal(copy.seq, seq);
      assert.ok(readFileSync(path).equals(Buffer.concat(images)), `seed ${seed}: another store`);
      assert.ok(await copy.isThere());
      return fetched;
    };
    await follows();
    // Nobody stands by, so nothing is listed: all pages are compared.
    await commit(3);
    assert.deepEqual(heard, [false]);
    await follows();
    assert.equal((await standByFor(database, STANDBY, null))?.isAlive, true);
    for (let i = 0; i < 40; i++) {
      const what = upTo(8);
      if (what === 0) await commit(8, "mend");
      else for (let n = upTo(4); n >= 0; n--) await commit(8);
      if (what === 1) {
        copy.close();
        copy = openCopy(database, TENANT, path);
      }
      if (what === 2) await database.query("DELETE FROM tenant_ships WHERE seq = $1", [seq]);
      await follows();
    }
    assert.ok(heard.at(-1));
    assert.equal(await follows(), 0, "there is nothing to fetch");
    await commit(1);
    assert.ok((await follows()) <= 4, "only what was written");
    // More than one transaction's pages.
    await commit(3_000);
    await follows();
    await endStandby(database, STANDBY);
    await commit(1);
    assert.equal(heard.at(-1), false);
    await follows();
    // A store whose owner may have gone on alone: it stays, and its pages are fetched only where they differ.
    const own = join(scratch(t), "box.db");
    writeFileSync(own, Buffer.concat([Buffer.alloc(PAGE, 1), ...images.slice(1)]));
    const lying = readFileSync(own);
    const beside = await openCopyOf(own, { database, tenantId: TENANT, isKnown: false });
    t.after(() => beside.close());
    assert.equal(await beside.follow(), 1);
    assert.ok(readFileSync(own).equals(lying));
    await database.query("UPDATE tenant_pages SET hash = hash + 1 WHERE page = 2");
    assert.equal(await copy.isThere(), false, "the database has another page than it had");
    await database.query("UPDATE tenant_pages SET hash = hash - 1 WHERE page = 2");
    await database.query("UPDATE tenant_pages SET body = $1 WHERE page = 1", [
      Buffer.alloc(PAGE, 5),
    ]);
    const fresh = openCopy(database, TENANT, join(scratch(t), "fresh"));
    t.after(() => fresh.close());
    await assert.rejects(fresh.follow(), /aren't what was kept/);
  },
);

/** The limit of a file's size for this process: what is written beyond it fails, as on a full disk. */
function limitFiles(to: number | "unlimited"): void {
  execFileSync("prlimit", ["--pid", String(process.pid), `--fsize=${to}:`]);
}

postgresTest("a copy on a full disk says so, and later fetches what wasn't written", async (t) => {
  const { skip } = needs("prlimit");
  if (skip !== false) return t.skip(skip);
  const database = (await testDatabase(t, { empty: true })).open();
  await migrateDatabase(database, databaseMigrations(), "box");
  const found = await findStore(database);
  const record = recordIn(database, { found: () => found, onOthers() {} });
  await record.take();
  const images = Array.from({ length: 40 }, (_, n) => Buffer.alloc(PAGE, n + 1));
  const pages = images.map((image, n) => ({ page: n + 1, image, hash: pageHash(n + 1, image) }));
  const sum = pages.reduce((all, { hash }) => all ^ hash, 0n);
  await record.hashes();
  const end = { seq: 1, pageCount: pages.length, sum, pages };
  await record.mend({ count: pages.length, pages: () => [pages], end: () => end, heard() {} });
  const path = join(scratch(t), "copy");
  const copy = openCopy(database, TENANT, path);
  t.after(() => copy.close());
  // By default the signal ends the process.
  process.on("SIGXFSZ", () => {});
  limitFiles(10.5 * PAGE);
  try {
    for (const _ of ["at first", "again"])
      await assert.rejects(
        copy.follow(),
        (error) => error instanceof StoreFault && error.message.startsWith(path),
      );
    assert.equal(copy.seq, null);
  } finally {
    limitFiles("unlimited");
  }
  await copy.follow();
  assert.ok(readFileSync(path).equals(Buffer.concat(images)));
});
