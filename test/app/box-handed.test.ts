import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import type { TestContext } from "node:test";
import { handOverTold, takeHanded } from "../../src/app/box-handed.ts";
import { version } from "../../src/ground/kit/assets.ts";
import { systemClock } from "../../src/ground/kit/clock.ts";
import { silentLog } from "../../src/ground/kit/log.ts";
import type { Keeper } from "../../src/ground/store/record/keeper.ts";
import { openUnconfirmed } from "../../src/ground/store/record/unconfirmed.ts";
import { handRows, setRowsAside } from "../../src/hosted/record/handed.ts";
import { databaseMigrations, migrateDatabase } from "../../src/hosted/registry/postgres/migrate.ts";
import { type Plane, testPlane } from "../support/plane.ts";
import { postgresTest, testDatabase } from "../support/postgres.ts";
import { scratch } from "../support/scratch.ts";
import { until, untilSo } from "../support/until.ts";

/** What a machine confirmed by its own disk, handed to the one that has the box: on a real PostgreSQL. */

/** Of a box whose database has everything at once. */
const KEEPER = {
  latest: () => 0,
  state: () => ({ aloneSince: null, keptUpTo: 0 }),
} as unknown as Keeper;

const event = (source: number, message: string) => ({
  source,
  event: { message, level: 400, keys: null, tags: null, extra: null },
});
/** Lines that no program of this version can take. */
const NEWER = { page: "of a kind that comes later" };
const BROKEN = { source: 1, event: { message: "no level and odd tags", keys: 5, tags: 7 } };

async function stage(t: TestContext) {
  const database = (await testDatabase(t, { empty: true })).open();
  await migrateDatabase(database, databaseMigrations(), "box");
  const plane = testPlane();
  t.after(() => plane.close());
  plane.rule({ max_open: 0 });
  await plane.fire("the first one");
  const { tenant } = plane;
  const place = { database, tenant, keeper: KEEPER };
  const rows = () =>
    database.query<{ id: string; n: number }>("SELECT id, n FROM tenant_handed ORDER BY id, n");
  return {
    database,
    plane,
    tenant,
    rows,
    hand: (id: string, whats: readonly object[]) =>
      handRows(database, tenant.id, { id, whats: whats.map((what) => JSON.stringify(what)) }),
    /** Takes until only what is left aside is there. */
    async taken(left: number) {
      const taking = takeHanded(place, { clock: systemClock, log: silentLog });
      await untilSo(async () => (await rows()).length === left, "the rest is taken");
      await until(() => taking.aside() === left, "it says what it can't take");
      await taking.stop();
    },
  };
}

const opened = ({ tenant }: Plane) =>
  tenant.store.sql<[], string>("SELECT last_message FROM alerts ORDER BY id").pluck().all();

postgresTest(
  "lines that can't be taken keep no other one waiting, and wait for a program of another version",
  async (t) => {
    const { plane, tenant, database, rows, hand, taken } = await stage(t);
    const source = tenant.store.sql<[], number>("SELECT id FROM sources").pluck().get() ?? 0;
    const lines = [
      NEWER,
      event(source, "disk of db1 is full"),
      { ...BROKEN, source },
      event(source, "queue is stuck"),
      "not even an object" as unknown as object,
    ];
    await hand("a1", lines);
    await taken(3);
    assert.deepEqual(opened(plane), ["the first one", "disk of db1 is full", "queue is stuck"]);
    assert.deepEqual(
      await rows(),
      [1, 3, 5].map((n) => ({ id: `a1/${version}`, n })),
    );
    // The machine never heard that it had handed them over.
    await hand("a1", lines);
    await taken(3);
    assert.equal(opened(plane).length, 3);
    // What a program of another version left is tried, once.
    await database.query("DELETE FROM tenant_handed");
    await hand("b2", [event(source, "sent by a newer one"), NEWER]);
    await setRowsAside(database, tenant.id, { id: "b2", version: "0.0.1", numbers: [1, 2] });
    await taken(1);
    assert.equal(opened(plane).at(-1), "sent by a newer one");
    assert.deepEqual(await rows(), [{ id: `b2/0.0.1/${version}`, n: 2 }]);
  },
);

postgresTest("how far files were taken is remembered of the latest hundred", async (t) => {
  const { tenant, hand, taken } = await stage(t);
  const marks = () =>
    JSON.parse(
      tenant.store.sql<[], string>("SELECT value FROM meta WHERE key = 'handed'").pluck().get() ??
        "[]",
    ) as [string, number][];
  for (let i = 0; i < 130; i++) await hand(`f${1_000 + i}`, [event(0, "of no source")]);
  await taken(0);
  assert.equal(marks().length, 100);
  assert.deepEqual(marks().at(-1), ["f1129", 1]);
});

postgresTest(
  "without box.database the file itself says whose its lines are and what the database has of them",
  async (t) => {
    const { database, tenant, rows } = await stage(t);
    for (const { epoch, seq } of [
      { epoch: 1, seq: 0 },
      { epoch: 3, seq: 0 },
      { epoch: 4, seq: 7 },
    ])
      await database.query(
        "INSERT INTO tenant_epochs (tenant_id, epoch, node, seq, taken_at) VALUES ($1, $2, 'x', $3, now())",
        [tenant.id, epoch, seq],
      );
    const said: string[] = [];
    const log = {
      ...silentLog,
      error: (_: unknown, text?: string) => void said.push(String(text)),
    };
    const data = scratch(t);
    const noted = (of: string) => {
      const file = openUnconfirmed(data, () => ({ id: "a1", tenant: of, epoch: 3 }));
      assert.ok(file.note(7, [event(1, "the database has it")]));
      assert.ok(file.note(8, [event(1, "it hasn't"), event(1, "nor this")]));
    };
    const of = { database, tenantId: tenant.id, epoch: null };
    noted(tenant.id);
    await handOverTold(data, of, { log });
    assert.equal((await rows()).length, 2);
    await database.query("DELETE FROM tenant_handed");
    noted("another box");
    await handOverTold(data, of, { log });
    assert.equal((await rows()).length, 0);
    assert.match(said.join(), /isn't handed over/);
    assert.deepEqual(
      ["unconfirmed.ndjson", "unconfirmed-a1.ndjson"].map((name) => existsSync(`${data}/${name}`)),
      [false, true],
    );
  },
);
