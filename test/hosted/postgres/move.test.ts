import assert from "node:assert/strict";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { systemRandom } from "../../../src/ground/kit/random.ts";
import { openStore } from "../../../src/ground/store/store.ts";
import { moveBack } from "../../../src/hosted/registry/move/move-back.ts";
import { moveThere, sumHere } from "../../../src/hosted/registry/move/move-there.ts";
import type { Database } from "../../../src/hosted/registry/postgres/connect.ts";
import { migrateDatabase } from "../../../src/hosted/registry/postgres/migrate.ts";
import { openSqliteRegistry } from "../../../src/hosted/registry/sqlite/registry.ts";
import { handClock } from "../../support/clock.ts";
import { deviceToken, plainSealer } from "../../support/hosted.ts";
import { memoryOrTemp } from "../../support/memory.ts";
import { postgresTest, testDatabase } from "../../support/postgres.ts";
import { contractBox, putDevice } from "../contract/bench.ts";
import { nounBench } from "./nouns.ts";

const clock = handClock();
const deps = { clock, random: systemRandom };

/** A file with rows in every table. */
async function furnished(path: string): Promise<void> {
  const registry = openSqliteRegistry({ path, ...deps, sealer: () => plainSealer });
  for (let n = 0; n < 3; n++) {
    const { tenantId, relayKeyId, accounts } = await contractBox(registry, 3);
    for (const [at, account] of accounts.entries()) {
      await putDevice(registry, account, 10 * n + at, at === 1);
      await registry.sessions.add(account);
    }
    await registry.pairings.revoke({
      tenantId,
      accountId: accounts[1] ?? "",
      by: accounts[0] ?? "",
    });
    await registry.heartbeats.beat({ tenantId, relayKeyId, stamp: 1_700_000_000 + n });
    // A character that PostgreSQL can't store is no damage.
    const key = { tenantId, alertId: `é “${n}”\n\0`, event: "alert.opened", timestamp: n };
    const taken = await registry.claims.take(key, { relayKeyId });
    assert.ok(taken.kind === "taken");
    const reached = [deviceToken(10 * n + 1), deviceToken(10 * n)];
    await registry.claims.settle(taken.claim, { reached, done: n > 0, devices: 2 });
    clock.turn(1_234);
  }
  await registry.devices.retire({ readAtMs: clock.now(), gone: [], bad: [deviceToken(1)] });
  await registry.apns.set({
    keyId: "K",
    teamId: "T",
    topic: "app",
    endpoint: "https://localhost",
    ca: null,
    key: "the private key",
  });
  await registry.apns.keepToken({ version: 1, iat: 5, jwt: "a signed token", instead: null });
  const { id } = await registry.tenants.add({ kind: "hosted", boxUrl: "https://a.example" });
  await registry.tenants.setNextDue(id, clock.now() + 7);
  await registry.reportLinks.replace(id, ["0000-1"]);
  await registry.senderLinks.replace(id, ["aa", "ab"]);
  await registry.seals.put({ tenantId: id, epoch: 0, files: "as it looks", hashes: ["h"] });
  await registry.uptime.begin();
  await clock.turn(90_000);
  await registry.uptime.begin();
  registry.close();
}

const storeAt = (path: string) => openStore({ path, kind: "hosted", ...deps });

function directory(t: TestContext): string {
  const dir = mkdtempSync(join(memoryOrTemp(), "box-move-"));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

/**
 * Statements before or after which it is killed: at the marks, among the rows, and at the sums. The last is one too
 * many on the way back.
 */
const STATEMENTS = [0, 2, 33, 62, 95, 101];

class Killed extends Error {}

/** A database that is killed before or after so many statements; `left` counts down. */
function dying(database: Database, plan: { left: number; after: boolean }): Database {
  const dies =
    <A extends unknown[], R>(query: (...given: A) => Promise<R>) =>
    async (...given: A): Promise<R> => {
      const isLast = plan.left-- === 0;
      if (isLast && !plan.after) throw new Killed();
      const answer = await query(...given);
      if (isLast) throw new Killed();
      if (plan.left < 0) throw new Killed();
      return answer;
    };
  return {
    ...database,
    query: dies(database.query) as Database["query"],
    transaction: async (work, limits) => {
      const value = await database.transaction(
        (tx) => work({ query: dies(tx.query) as typeof tx.query }),
        limits,
      );
      if (plan.left-- === 0) throw new Killed();
      return value;
    },
  };
}

postgresTest("a registry moves to a database and back, and every row stays the same", async (t) => {
  const dir = directory(t);
  const [path, back] = [join(dir, "hosted.db"), join(dir, "back.db")];
  await furnished(path);
  const store = storeAt(path);
  const before = sumHere(store);
  for (const [name, { rows }] of before) assert.ok(rows > 0, `something is in ${name}`);
  const database = (await testDatabase(t)).open();
  assert.deepEqual(await moveThere({ store, database }, systemRandom), before);
  // A repetition gives the same result, and another database is refused.
  assert.deepEqual(await moveThere({ store, database }, systemRandom), before);
  const elsewhere = (await testDatabase(t)).open();
  const again = moveThere({ store, database: elsewhere }, systemRandom);
  await assert.rejects(again, /moved already, to another database/);
  store.close();
  const open = () => openSqliteRegistry({ path, ...deps, sealer: () => plainSealer });
  assert.throws(open, /was moved to a database: serve it with --database/);

  // Further rows get the next ids, and a second registry is refused.
  const other = join(dir, "other.db");
  await furnished(other);
  const second = storeAt(other);
  await assert.rejects(moveThere({ store: second, database }, systemRandom), /isn't empty/);
  second.close();
  openSqliteRegistry({ path: other, ...deps, sealer: () => plainSealer }).close();

  await database.query(
    "INSERT INTO nodes (id, run, version, store_schema, alive_until) VALUES ('n', 'r', '1', 1, now() + interval '10 s')",
  );
  await assert.rejects(
    moveBack(database, { path: back, ...deps }),
    /Nodes serve the database: stop n/,
  );
  await database.query("DELETE FROM nodes");
  await migrateDatabase(database);
  assert.deepEqual(await moveBack(database, { path: back, ...deps }), before);
  await assert.rejects(migrateDatabase(database), /was moved to a file/);
  assert.deepEqual(await moveBack(database, { path: back, ...deps }), before);
  const third = moveBack(database, { path: join(dir, "third.db"), ...deps });
  await assert.rejects(third, /moved already, to another file/);
  openSqliteRegistry({ path: back, ...deps, sealer: () => plainSealer }).close();
});

for (const after of [false, true])
  postgresTest(
    `killed ${after ? "after" : "before"} any statement, a move is run again, there and back`,
    async (t) => {
      const dir = directory(t);
      await furnished(join(dir, "first.db"));
      let path = join(dir, "first.db");
      const whole = storeAt(path);
      const before = sumHere(whole);
      whole.close();
      let deaths = 0;
      for (const n of STATEMENTS) {
        const database = (await testDatabase(t)).open();
        const there = async (asked: Database) => {
          const store = storeAt(path);
          try {
            return await moveThere({ store, database: asked }, systemRandom);
          } finally {
            store.close();
          }
        };
        let moved = await there(dying(database, { left: n, after })).catch(alive);
        if (moved === null) deaths++;
        moved ??= await there(database);
        assert.deepEqual(moved, before, `there, killed at ${n}`);
        const next = join(dir, `${n}.db`);
        const home = (asked: Database) => moveBack(asked, { path: next, ...deps });
        let returned = await home(dying(database, { left: n, after })).catch(alive);
        if (returned === null) deaths++;
        returned ??= await home(database);
        assert.deepEqual(returned, before, `back, killed at ${n}`);
        assert.equal(existsSync(`${next}.moving`), false);
        path = next;
      }
      assert.ok(deaths >= 2 * STATEMENTS.length - 2, `${deaths} deaths`);
    },
  );

postgresTest(
  "a node that stood still while its database was moved to a file stops serving it",
  async (t) => {
    const bench = await nounBench(t);
    const { nodes } = bench.node("n");
    const sign = { url: "", version: "1", draining: false };
    assert.equal(await nodes.join(sign), true);
    const path = join(directory(t), "back.db");
    const back = () => moveBack(bench.database, { path, ...deps });
    await assert.rejects(back, /Nodes serve the database: stop n/);
    assert.equal((await nodes.renew(sign)).kind, "alive");
    await bench.made.turn(11_000);
    await back();
    assert.deepEqual(await nodes.renew(sign), { kind: "replaced" });
  },
);

postgresTest(
  "a node that starts while a move of its database begins stops the move, or is refused",
  async (t) => {
    const bench = await nounBench(t);
    const sign = { url: "", version: "1", draining: false };
    const path = join(directory(t), "back.db");
    const back = () => moveBack(bench.database, { path, ...deps });
    const beside = bench.made.open({ pool: 1 });
    const moving = await beside.transaction(async (tx) => {
      // What `join` writes, with its commit under way.
      await tx.query(
        "INSERT INTO nodes (id, run, version, store_schema, alive_until) VALUES ('n', 'r', '1', 1, now() + interval '10 s')",
      );
      const result = back();
      await bench.waiting(1);
      return { result };
    });
    await assert.rejects(moving.result, /Nodes serve the database: stop n/);
    await bench.database.query("DELETE FROM nodes");
    const { nodes } = bench.node("late");
    await bench.database.query("INSERT INTO meta (key, value) VALUES ('moving', 7)");
    await assert.rejects(nodes.join(sign), /A move of the database to a file was begun/);
    assert.deepEqual(await nodes.renew(sign), { kind: "replaced" });
    await bench.database.query("DELETE FROM meta WHERE key = 'moving'");
    await back();
    await assert.rejects(nodes.join(sign), /was moved to a file/);
    assert.deepEqual(await bench.database.query("SELECT id FROM nodes"), []);
  },
);

postgresTest("summing a large registry may take longer than a node may stand still", async (t) => {
  const dir = directory(t);
  const database = (await testDatabase(t)).open();
  const store = storeAt(join(dir, "small.db"));
  t.after(() => store.close());
  const idle: unknown[] = [];
  const asking: Database = {
    ...database,
    transaction: (work, limits) =>
      database.transaction(async (tx) => {
        const sql = "SELECT setting::int AS ms FROM pg_settings WHERE name = $1";
        const [row] = await tx.query<{ ms: number }>(sql, ["idle_in_transaction_session_timeout"]);
        idle.push(row?.ms);
        return work(tx);
      }, limits),
  };
  await moveThere({ store, database: asking }, systemRandom);
  await moveBack(asking, { path: join(dir, "back.db"), ...deps });
  // In between it asks for live nodes.
  assert.deepEqual(idle, [600_000, 10_000, 600_000]);
});

/** null where it was killed as planned. */
function alive(error: unknown): null {
  for (let one = error; one instanceof Error; one = one.cause)
    if (one instanceof Killed) return null;
  throw error;
}
