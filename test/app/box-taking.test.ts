import assert from "node:assert/strict";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import Sqlite from "better-sqlite3";
import { lyingAt } from "../../src/app/box-found.ts";
import { notesIn } from "../../src/app/box-notes.ts";
import { openBoxRecord } from "../../src/app/box-record.ts";
import { takeBox } from "../../src/app/box-taking.ts";
import { isUpgrading } from "../../src/app/box-upgrade.ts";
import { boxConfig } from "../../src/app/config.ts";
import { createLifecycle, type Lifecycle } from "../../src/app/lifecycle.ts";
import { backUp } from "../../src/app/offline/backup.ts";
import { systemClock } from "../../src/ground/kit/clock.ts";
import { silentLog } from "../../src/ground/kit/log.ts";
import { systemRandom } from "../../src/ground/kit/random.ts";
import { migrations } from "../../src/ground/store/migrations.ts";
import { type DatabaseMark, readMark, writeMark } from "../../src/ground/store/record/mark.ts";
import { openUnconfirmed } from "../../src/ground/store/record/unconfirmed.ts";
import { postgresRecord } from "../../src/hosted/record/postgres-record.ts";
import { findStore } from "../../src/hosted/record/taking.ts";
import { placeOf } from "../../src/records/backup/place.ts";
import { makeBox, openedBox, TENANT } from "../support/opened-box.ts";
import { postgresTest, testDatabase } from "../support/postgres.ts";
import { scratch } from "../support/scratch.ts";
import { until } from "../support/until.ts";

/** What a start does with a box that is its own, and that it has to upgrade: on a real PostgreSQL. */

const deps = {
  clock: systemClock,
  random: systemRandom,
  log: silentLog,
  onFatal(error: unknown) {
    throw error;
  },
};
const SCHEMA = migrations("box").length;
const FAILED = { schema: SCHEMA, why: "for want of room" };

/** A machine that served its box, and was stopped; its store is of the program before. */
async function stage(t: TestContext) {
  const testing = await testDatabase(t, { empty: true });
  const data = scratch(t);
  const to = scratch(t);
  const path = join(data, "box.db");
  makeBox(data);
  await (await openedBox(data, testing.url)).stop();
  const db = new Sqlite(path);
  db.pragma(`user_version = ${SCHEMA - 1}`);
  db.close();
  const mark = () => readMark(data) as DatabaseMark;
  const flags = { data, listen: "127.0.0.1:0", publicUrl: "http://a.test" };
  const config = boxConfig({ ...flags, database: testing.url });
  const database = testing.open();
  return {
    data,
    path,
    config,
    database,
    mark,
    note: (change: Partial<DatabaseMark>) => writeMark(data, { ...mark(), ...change }),
    /** The copy before an upgrade can't be laid there. */
    refuse() {
      mkdirSync(`${path}.schema-${SCHEMA - 1}`);
      writeFileSync(join(`${path}.schema-${SCHEMA - 1}`, "file"), "");
    },
    backup: () =>
      backUp({ place: placeOf(data), file: join(to, "copy"), withKey: false, clock: systemClock }),
    /** Whether the box is this machine's in the database still. */
    async lives() {
      const ask = "SELECT alive_until > clock_timestamp() AS lives FROM tenant_stores";
      return (await database.query<{ lives: boolean }>(ask))[0]?.lives;
    },
    /** Starts it: why it ends, or what it does while it stands by. */
    async start(lifecycle: Lifecycle, standingBy: () => unknown = () => null) {
      const settings = config.database;
      assert.ok(settings !== null);
      const standing = Promise.withResolvers<null>();
      const given = { ...deps, onStandby: () => standing.resolve(null) };
      const ended = openBoxRecord({ config, settings }, given, lifecycle).then(
        () => "it serves",
        (error: Error) => error.message,
      );
      const how = await Promise.race([ended, standing.promise]);
      if (how !== null) return how;
      try {
        return await standingBy();
      } finally {
        await lifecycle.stop();
      }
    },
  };
}

postgresTest(
  "only a machine that has more than the database tries again at once what was ended",
  async (t) => {
    const { start, note, refuse, mark, backup } = await stage(t);
    const lives = () => createLifecycle(systemClock, silentLog);
    refuse();
    note({ wasAlone: true, failed: { ...FAILED, once: true } });
    assert.match(String(await start(lives())), /schema-/);
    // What was refused isn't.
    assert.ok(!mark().failed?.once);
    // Now it stands by, with the only copy.
    assert.equal(await start(lives(), async () => (await backup()).kind), "box");
    assert.ok(!mark().isOlder);
    // Another machine may do it.
    note({ wasAlone: false, failed: { ...FAILED, once: true } });
    assert.equal(await start(lives()), null);
    assert.ok(mark().isOlder);
    await assert.rejects(backup, /This machine stands by/);
  },
);

postgresTest("a machine that is stopped while it upgrades the box hasn't failed", async (t) => {
  for (const failed of [null, { ...FAILED, schema: SCHEMA - 1 }]) {
    const { start, path, mark, lives, note } = await stage(t);
    note({ failed });
    const held = new Sqlite(path);
    held.exec("BEGIN IMMEDIATE");
    const lifecycle = createLifecycle(systemClock, silentLog);
    void start(lifecycle);
    await until(() => mark().failed?.schema === SCHEMA, "it upgrades the box");
    assert.equal(mark().failed?.once, failed === null);
    assert.equal(await lives(), true);
    await lifecycle.stop();
    assert.deepEqual(mark().failed, failed);
    assert.equal(await lives(), false);
    held.close();
    // Its process would have ended by now.
    await until(() => !isUpgrading(), "the thread is done");
  }
});

postgresTest("a machine that is stopped while it fetches the box doesn't upgrade it", async (t) => {
  const { start, data, path, mark, note } = await stage(t);
  note({ isOlder: true });
  const lifecycle = createLifecycle(systemClock, silentLog);
  const stopped = Promise.withResolvers<void>();
  const onStop = (name: string, cleanup: () => void | Promise<void>): undefined => {
    lifecycle.onStop(name, cleanup);
    if (name === "taking") stopped.resolve(lifecycle.stop());
  };
  void start({ ...lifecycle, onStop });
  await stopped.promise;
  await until(() => existsSync(path) && !existsSync(`${path}.copy`), "it has the copy");
  await new Promise((resolve) => setImmediate(resolve));
  const { isOlder, failed } = readMark(data) as DatabaseMark;
  assert.deepEqual({ isOlder, failed }, { isOlder: true, failed: null });
  assert.ok(mark().kept);
});

postgresTest(
  "a box that another takes after the look is handed what only this disk has",
  async (t) => {
    const { data, path, config, database, mark, note } = await stage(t);
    note({ wasAlone: true });
    const said = { source: 1, event: { message: "x", level: 400, keys: null, tags: null } };
    openUnconfirmed(data, () => ({ id: "a1", tenant: TENANT, epoch: mark().epoch })).note(99, [
      said,
    ]);
    const found = await findStore(database);
    assert.ok(found !== null);
    await database.query(
      "UPDATE tenant_stores SET node = 'two', run = 'two', epoch = epoch + 1, alive_until = now() + interval '1 h'",
    );
    const lifecycle = createLifecycle(systemClock, silentLog);
    const lying = { local: lyingAt(path, mark(), deps), mark: mark() };
    const notes = notesIn(data, mark(), deps);
    const of = { node: "one", run: "one" };
    const place = {
      ...of,
      config,
      database,
      found,
      path,
      isOlder: false,
      lying,
      notes,
      link: null,
    };
    const record = postgresRecord({
      ...of,
      database,
      earlier: mark().runs,
      address: null,
      found: () => found,
      onOthers() {},
      tenantId: () => TENANT,
      keyId: () => null,
    });
    const standing = Promise.withResolvers<void>();
    const given = { ...deps, onStandby: () => standing.resolve() };
    void takeBox(place, { record, lifecycle, sees() {} }, given);
    await standing.promise;
    await lifecycle.stop();
    assert.equal((await database.query("SELECT 1 FROM tenant_handed")).length, 1);
  },
);
