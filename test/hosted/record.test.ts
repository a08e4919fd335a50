import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { systemClock } from "../../src/ground/kit/clock.ts";
import { createKeeper } from "../../src/ground/store/record/keeper.ts";
import { RecordFault } from "../../src/ground/store/record/record.ts";
import { createPageSums, PAGE, pageHash } from "../../src/ground/store/record/sums.ts";
import { openCopy } from "../../src/hosted/record/copy.ts";
import { endOfEpoch } from "../../src/hosted/record/handed.ts";
import { postgresRecord } from "../../src/hosted/record/postgres-record.ts";
import { findStore, findStoreOf } from "../../src/hosted/record/taking.ts";
import { type Together, together } from "../../src/hosted/record/together.ts";
import { databaseMigrations, migrateDatabase } from "../../src/hosted/registry/postgres/migrate.ts";
import { memoryOrTemp } from "../support/memory.ts";
import { postgresTest, testDatabase } from "../support/postgres.ts";
import { startPostgresPair } from "../support/postgres-pair.ts";
import { scratch } from "../support/scratch.ts";
import { seeded } from "../support/seeded.ts";

/** A store's pages on a real PostgreSQL. */

const TENANT = "abcdefghijklmnop";

/** Three pages, of which one can't be compressed. */
function pagesOf(seed: number): Buffer[] {
  const noise = Buffer.from(Array.from({ length: PAGE }, (_, i) => (i * i * (seed + 7)) >>> 3));
  return [Buffer.alloc(PAGE, seed), noise, Buffer.alloc(PAGE)];
}

function endWith(seq: number, images: readonly Buffer[]) {
  const sums = createPageSums();
  const pages = images.map((image, i) => {
    const [page, hash] = [i + 1, pageHash(i + 1, image)];
    sums.set(page, hash);
    return { page, hash, image };
  });
  return { seq, pageCount: images.length, sum: sums.sum, pages };
}

const isTaken = (error: unknown) => error instanceof RecordFault && error.kind === "taken";
const isSetBack = (error: unknown) => error instanceof RecordFault && error.kind === "set back";

/** A box's database, and processes that may be its owner. */
async function oneBox(t: TestContext) {
  const database = (await testDatabase(t, { empty: true })).open();
  await migrateDatabase(database, databaseMigrations(), "box");
  const owner = async (run: string, earlier: string[] = []) => {
    const found = await findStore(database);
    return postgresRecord({
      database,
      node: run,
      run,
      address: null,
      earlier,
      found: () => found,
      tenantId: () => TENANT,
      keyId: () => "0123456789abcdef",
      onOthers() {},
    });
  };
  return { database, owner };
}

postgresTest(
  "a process whose store was taken writes nothing, and an owner may ask twice",
  async (t) => {
    const { database, owner } = await oneBox(t);
    const stored = async (name: string) => {
      const path = join(scratch(t), name);
      const copy = openCopy(database, TENANT, path);
      try {
        await copy.follow();
      } finally {
        copy.close();
      }
      return readFileSync(path);
    };

    const first = await owner("first");
    assert.deepEqual(await first.take(), { epoch: 1, seq: 0, wasLost: false });
    const one = endWith(1, pagesOf(1));
    assert.equal(await first.keep(one), true);
    assert.equal(await first.keep(one), true, "an answer was lost");
    assert.ok((await stored("one")).equals(Buffer.concat(pagesOf(1))));
    for (const { page, image } of one.pages)
      assert.deepEqual(Buffer.from((await first.read(page)) ?? []), image);
    assert.equal(await first.read(4), null);
    await assert.rejects(async () => (await owner("stranger")).take(), isTaken);

    const second = await owner("second", ["first"]);
    assert.deepEqual(await second.take(), { epoch: 2, seq: 1, wasLost: true });
    assert.deepEqual(await (await owner("second")).take(), { epoch: 2, seq: 1, wasLost: true });
    const late = endWith(1, pagesOf(9));
    const mending = { count: 3, pages: () => [late.pages], end: () => late, heard() {} };
    await assert.rejects(first.keep(late), isTaken);
    await assert.rejects(first.keep({ ...late, seq: 2 }), isTaken);
    await assert.rejects(first.renew(), isTaken);
    await first.hashes();
    await assert.rejects(first.mend(mending), isTaken);
    await first.leave(true);
    assert.ok((await stored("two")).equals(Buffer.concat(pagesOf(1))), "nothing was written");
    assert.equal((await findStore(database))?.isAlive, true);

    assert.equal(await second.keep(endWith(2, pagesOf(2).slice(0, 2))), true);
    assert.ok(
      (await stored("three")).equals(Buffer.concat(pagesOf(2).slice(0, 2))),
      "it is shorter",
    );
    assert.equal(await second.renew(), true);
    await database.query("UPDATE tenant_stores SET seq = 1");
    assert.equal(await second.renew(), false);
    assert.equal(await second.keep(endWith(3, pagesOf(3))), false);
    assert.equal((await second.hashes()).length, 2);
    const all = endWith(4, pagesOf(4));
    await second.mend({ count: 3, pages: () => [all.pages], end: () => all, heard() {} });
    assert.ok((await stored("four")).equals(Buffer.concat(pagesOf(4))));
    // A taking after which nothing was written leaves no row, and each epoch's end is still known.
    await (await owner("third", ["second"])).take();
    await (await owner("fourth", ["third"])).take();
    const epochs = await database.query(
      "SELECT epoch, node, seq FROM tenant_epochs ORDER BY epoch",
    );
    assert.deepEqual(epochs, [
      { epoch: 1, node: "first", seq: 0 },
      { epoch: 2, node: "second", seq: 1 },
      { epoch: 4, node: "fourth", seq: 4 },
    ]);
    const ends = [1, 2, 3].map((epoch) => endOfEpoch(database, { tenantId: TENANT, epoch }));
    assert.deepEqual(await Promise.all(ends), [1, 4, 4]);

    await database.query("UPDATE tenant_pages SET body = $1 WHERE page = 3", [
      Buffer.alloc(PAGE, 5),
    ]);
    await assert.rejects(stored("damaged"), /aren't what was kept/);
    await database.query("UPDATE tenant_pages SET body = '\\x00ff' WHERE page = 2");
    assert.equal(await second.read(2), null, "it is no page");
    await database.query("DELETE FROM tenant_stores");
    await assert.rejects(second.renew(), isSetBack);
    await assert.rejects(second.keep(endWith(5, pagesOf(5))), isSetBack);
  },
);

postgresTest("a store that was never opened is left as its owner before left it", async (t) => {
  const { database, owner } = await oneBox(t);
  const opened = async (run: string, earlier: string[]) => {
    const record = await owner(run, earlier);
    await record.take();
    return record;
  };
  const unopened = async (run: string, earlier: string[]) => {
    await createKeeper({
      clock: systemClock,
      record: await opened(run, earlier),
      onLost() {},
      onAlone() {},
      onCompared() {},
      onRotten() {},
      hasOthers: () => true,
      unconfirmed: null,
    }).stop();
    const { isAlive, clean } = (await findStore(database)) ?? {};
    assert.equal(isAlive, false, "another one may take it");
    return clean;
  };
  await (await opened("killed", [])).keep(endWith(1, pagesOf(1)));
  assert.equal(await unopened("failed", ["killed"]), false, "a disk may have more");
  assert.equal(await unopened("failed again", []), false, "a disk may still have more");
  await (await opened("served", [])).leave(true);
  assert.equal(await unopened("failed at last", []), true);
});

const IDS = ["a".repeat(16), "b".repeat(16), "c".repeat(16)] as const;

/** Three stores of one process, and what it asked of the database. */
async function threeStores(t: TestContext) {
  const database = (await testDatabase(t, { empty: true })).open();
  await migrateDatabase(database, databaseMigrations(), "registry");
  const statements: string[] = [];
  const counted = {
    ...database,
    query: ((sql, ...more) => {
      statements.push(sql);
      return database.query(sql, ...more);
    }) as typeof database.query,
  };
  const shared = together(counted, systemClock);
  const of = async (tenant: string, run: string) => {
    const found = await findStoreOf(database, tenant);
    const record = postgresRecord({
      database: counted,
      node: "n",
      run,
      address: null,
      earlier: ["one"],
      isOneOfMany: true,
      together: shared,
      found: () => found,
      tenantId: () => tenant,
      keyId: () => null,
      onOthers() {},
    });
    await record.take();
    return record;
  };
  const [a, b, c] = await Promise.all(IDS.map((id) => of(id, "one")));
  assert.ok(a !== undefined && b !== undefined && c !== undefined);
  /** What `run` gives while somebody else has the row of the third store. */
  const whileHeld = async <T>(run: () => Promise<T>): Promise<T> => {
    const held = Promise.withResolvers<void>();
    const holding = Promise.withResolvers<void>();
    const other = database.transaction(async (tx) => {
      await tx.query("SELECT 1 FROM tenant_stores WHERE tenant_id = $1 FOR UPDATE", [IDS[2]]);
      holding.resolve();
      await held.promise;
    });
    await holding.promise;
    try {
      return await run();
    } finally {
      held.resolve();
      await other;
    }
  };
  return { database, statements, of, all: [a, b, c] as const, whileHeld };
}

postgresTest(
  "a process renews all its stores by one statement, which waits for no row of them",
  async (t) => {
    const { database, statements, of, all, whileHeld } = await threeStores(t);
    await all[0].keep(endWith(3, pagesOf(3)));
    const renewed = async () => {
      await database.query("UPDATE tenant_stores SET alive_until = clock_timestamp()");
      statements.length = 0;
      return Promise.all(all.map((record) => record.renew().catch(isTaken)));
    };
    assert.deepEqual(await renewed(), [true, true, true]);
    assert.equal(statements.length, 1);
    for (const id of IDS) assert.equal((await findStoreOf(database, id))?.isAlive, true);

    // One is behind, another was taken.
    await database.query("UPDATE tenant_stores SET seq = 2 WHERE tenant_id = $1", [IDS[0]]);
    await of(IDS[1], "two");
    assert.deepEqual(await renewed(), [false, true, true]);
    assert.equal((await findStoreOf(database, IDS[1]))?.isAlive, false, "not by it");

    // Whoever has a row holds up that one alone.
    let isThere = false;
    const last = await whileHeld(async () => {
      const third = all[2].renew().then(() => {
        isThere = true;
      });
      assert.equal(await all[0].renew(), false);
      assert.equal(isThere, false);
      return [third];
    });
    await last[0];
    assert.equal(isThere, true);
  },
);

postgresTest(
  "small commits of a process's stores are kept by one statement, and each by its own fence",
  async (t) => {
    const { database, statements, of, all, whileHeld } = await threeStores(t);
    const stored = async (id: string, name: string) => {
      const path = join(scratch(t), name);
      const copy = openCopy(database, id, path);
      try {
        await copy.follow();
      } finally {
        copy.close();
      }
      return readFileSync(path);
    };
    const holds = async (wanted: readonly (readonly Buffer[])[], when: string) => {
      for (const [i, pages] of wanted.entries()) {
        const found = await stored(IDS[i] ?? "", `${i} ${when}`);
        assert.ok(found.equals(Buffer.concat(pages)), `store ${i} ${when}`);
      }
    };
    const kept = (seq: number, pages: readonly (readonly Buffer[])[]) => {
      statements.length = 0;
      return Promise.all(
        all.map((one, i) => one.keep(endWith(seq, pages[i] ?? [])).catch(isTaken)),
      );
    };
    const first = [1, 2, 3].map(pagesOf);
    assert.deepEqual(await kept(1, first), [true, true, true]);
    assert.equal(statements.length, 3, "how long a store is isn't known at first");
    const next = [4, 5, 6].map((seed) => [...pagesOf(seed), ...pagesOf(seed + 3)]);
    assert.deepEqual(await kept(2, next), [true, true, true]);
    assert.equal(statements.length, 1);
    assert.deepEqual(await kept(2, next), [true, true, true], "an answer was lost");
    assert.equal(statements.length, 1);
    await holds(next, "grown");

    // What a store no longer has goes, which is asked alone.
    const shorter = [pagesOf(7).slice(0, 2), ...next.slice(1)];
    assert.deepEqual(await kept(3, shorter), [true, true, true]);
    assert.equal(statements.length, 2);
    await holds(shorter, "shorter");

    await whileHeld(async () => {
      const third = all[2].keep(endWith(4, next[2] ?? []));
      assert.equal(await all[0].keep(endWith(4, shorter[0] ?? [])), true);
      return [third];
    }).then(([third]) => third);

    // One was set back, another was taken: nothing of them is written, and the third's is.
    await database.query("UPDATE tenant_stores SET seq = 2 WHERE tenant_id = $1", [IDS[0]]);
    await of(IDS[1], "two");
    const late = [8, 9, 10].map((seed) => [...pagesOf(seed), ...pagesOf(seed + 3)]);
    assert.deepEqual(await kept(5, late), [false, true, true]);
    await holds([shorter[0] ?? [], shorter[1] ?? [], late[2] ?? []], "at last");
  },
);

postgresTest(
  "pages take less than twice their bytes, written together or grown by many writes",
  async (t) => {
    // A server of its own: whoever writes for long, in any database of a server, keeps all of it from reusing room.
    const server = await startPostgresPair({ standby: false, place: memoryOrTemp() });
    t.after(() => server.stop());
    const by = `postgres://box@${encodeURIComponent(server.socket())}/box`;
    const database = (await testDatabase(t)).open({ by });
    await migrateDatabase(database);
    const noise = seeded(1);
    /** Of which so many bytes can't be compressed. */
    const page = (number: number, bytes: number) => {
      const image = Buffer.alloc(PAGE);
      for (let at = 0; at < bytes; at++) image[at] = 256 * noise();
      return { page: number, hash: pageHash(number, image), image };
    };
    let before = { table: 0, bodies: 0 };
    /** Of the table's growth to that of what it holds. */
    const ratio = async () => {
      const [now = before] = await database.query<typeof before>(
        "SELECT pg_relation_size('tenant_pages') AS table, sum(length(body)) AS bodies FROM tenant_pages",
      );
      const found = (now.table - before.table) / (now.bodies - before.bodies);
      before = now;
      return found;
    };
    const first = 60;
    const all = Array.from({ length: first }, (_, i) => page(i + 1, 1_780));
    const end = () => ({ seq: 0, pageCount: first, sum: 0n, pages: [] });
    const madeOf = async (tenantId: string, of: { isOneOfMany?: true; together?: Together }) => {
      const record = postgresRecord({
        ...of,
        database,
        node: "one",
        run: "one",
        address: null,
        earlier: [],
        found: () => null,
        tenantId: () => tenantId,
        keyId: () => null,
        onOthers() {},
      });
      await record.take();
      await record.hashes();
      await record.mend({ count: first, pages: () => [all], end, heard() {} });
      return { record, seq: 0, pageCount: first };
    };
    /** So many pages grow at a time, as those of a table and its indexes do. */
    const grow = async (store: Awaited<ReturnType<typeof madeOf>>, many: number) => {
      for (let step = 1; step <= 600; step++) {
        if (step % (24 / many) === 0) store.pageCount++;
        const pages = [page(1, 300), page(2, 600)];
        for (let n = 0; n < many; n++)
          pages.push(page(store.pageCount - n, 20 + 60 * ((step % (24 / many)) + (24 * n) / many)));
        // By two connections in turn: each puts new rows where it put one before.
        const other = step % 2 === 0 ? database.query("SELECT pg_sleep(0.002)") : null;
        const { record, pageCount } = store;
        await record.keep({ seq: ++store.seq, pageCount, sum: 0n, pages });
        await other;
      }
      return ratio();
    };
    const alone = await madeOf(TENANT, {});
    const written = await ratio();
    const [one, four] = [await grow(alone, 1), await grow(alone, 4)];
    const how = { isOneOfMany: true, together: together(database, systemClock) } as const;
    const ofMany = await madeOf(IDS[0], how);
    await ratio();
    const kept = await grow(ofMany, 4);
    // A single one differs by 0.3 from run to run. Without the look at the newest pages the mean is 2.1, with it 1.7.
    const mean = (one + four + kept) / 3;
    const found = `${written}; one page at a time ${one}, four ${four}, with those of other stores ${kept}`;
    assert.ok(written < 2 && mean < 1.9, found);
  },
);
