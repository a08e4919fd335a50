import assert from "node:assert/strict";
import type { StoreFault } from "../../../src/ground/store/faults.ts";
import { migrations } from "../../../src/ground/store/migrations.ts";
import type { Database } from "../../../src/hosted/registry/postgres/connect.ts";
import { DatabaseAway } from "../../../src/hosted/registry/postgres/database-faults.ts";
import { migrateDatabase } from "../../../src/hosted/registry/postgres/migrate.ts";
import { pgbouncer, pooledUrl } from "../../support/pgbouncer.ts";
import { postgresTest, testDatabase } from "../../support/postgres.ts";
import { waitingFor } from "./nouns.ts";
import { forwarded, LOCALHOST, openTo } from "./wire.ts";

const one = async (database: Database) =>
  (await database.query<{ n: number }>("SELECT 1 AS n", [], { withinMs: 3_000 }))[0]?.n;

const isRefusal = (error: unknown) => error instanceof DatabaseAway && error.isRefusal;

postgresTest("a bigint arrives as a number, and one that is too large is an error", async (t) => {
  const database = (await testDatabase(t)).open();
  const big = (text: string) => database.query<{ n: number }>(`SELECT ${text}::bigint AS n`);
  assert.deepEqual(await big("9007199254740991"), [{ n: 9007199254740991 }]);
  await assert.rejects(big("9007199254740992"), RangeError);
  assert.deepEqual(await big("1"), [{ n: 1 }]);
});

postgresTest(
  "of several hosts the first that accepts writes is used, and the next when it is gone",
  async (t) => {
    const made = await testDatabase(t);
    const [a, b] = [await forwarded(t, made), await forwarded(t, made)];
    const { database } = openTo(
      t,
      made,
      `127.0.0.1:1,%2Fnowhere,localhost:${a.port},127.0.0.1:${b.port}`,
    );
    assert.equal(await one(database), 1);
    a.cut();
    assert.equal(await one(database), 1);
    // A primary that becomes read-only: its connections answer, and accept no write.
    const root = made.open();
    await root.query(`ALTER DATABASE ${made.name} SET default_transaction_read_only = on`);
    a.cut();
    b.cut();
    await assert.rejects(database.query("SELECT 1", [], { withinMs: 300 }), DatabaseAway);
    await root.query(`ALTER DATABASE ${made.name} RESET default_transaction_read_only`);
    assert.equal(await one(database), 1);
  },
);

postgresTest("a host without power leaves the others time, however short the limit", async (t) => {
  const made = await testDatabase(t);
  const { port } = await forwarded(t, made);
  // Nothing says that it isn't there.
  const resolve = () => new Promise<never>(() => {});
  const { database } = openTo(t, made, `dead.test,127.0.0.1:${port}`, { resolve });
  assert.deepEqual(await database.query("SELECT 1 AS n", [], { withinMs: 1_000 }), [{ n: 1 }]);
});

postgresTest("TLS follows the URL, and an untrusted server gets no data", async (t) => {
  const made = await testDatabase(t);
  const [plain, secure] = [await forwarded(t, made), await forwarded(t, made, { tls: true })];
  const ca = LOCALHOST.cert.toString();
  const usesTls = openTo(t, made, `localhost:${secure.port}`, { ca });
  assert.equal(await one(usesTls.database), 1);
  const stranger = openTo(t, made, `localhost:${secure.port}`, { query: "?sslmode=require" });
  await assert.rejects(one(stranger.database), isRefusal);
  const blind = openTo(t, made, `localhost:${secure.port}`, { query: "?sslmode=no-verify" });
  assert.equal(await one(blind.database), 1);
  const without = openTo(t, made, `localhost:${plain.port}`, { ca });
  await assert.rejects(one(without.database), isRefusal);
  const falls = openTo(t, made, `localhost:${plain.port}`, { query: "?sslmode=prefer" });
  assert.equal(await one(falls.database), 1);
  assert.deepEqual(falls.plain, [], "on this machine nobody listens");
});

postgresTest(
  "a connection lost during a statement is replaced, and the statement repeated",
  async (t) => {
    const made = await testDatabase(t);
    const [database, other] = [made.open(), made.open()];
    const slow = database.query<{ n: number }>("SELECT 1 AS n FROM pg_sleep(0.3)");
    while (
      (
        await other.query(
          "SELECT 1 FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND datname = $1",
          [made.name],
        )
      ).length === 0
    );
    await killAll(other, made.name);
    assert.deepEqual(await slow, [{ n: 1 }]);
    await killAll(other, made.name);
    assert.equal(await one(database), 1);
  },
);

postgresTest("two conflicting transactions run one after the other", async (t) => {
  const made = await testDatabase(t);
  const database = made.open();
  await database.query("INSERT INTO meta (key, value) VALUES ('a', 0), ('b', 0)");
  const add = (keys: readonly string[]) =>
    database.transaction(async (tx) => {
      for (const key of keys) {
        await tx.query("UPDATE meta SET value = value + 1 WHERE key = $1", [key]);
        await tx.query("SELECT pg_sleep(0.05)");
      }
    });
  // A deadlock: one of the two is rolled back and repeated.
  await Promise.all([add(["a", "b"]), add(["b", "a"])]);
  assert.deepEqual(
    await database.query("SELECT key, value FROM meta WHERE key IN ('a', 'b') ORDER BY key"),
    [
      { key: "a", value: 2 },
      { key: "b", value: 2 },
    ],
  );
});

postgresTest(
  "a transaction that throws is rolled back, and its connection is used again",
  async (t) => {
    const database = (await testDatabase(t)).open({ pool: 1 });
    const failing = database.transaction(async (tx) => {
      await tx.query("INSERT INTO meta (key, value) VALUES ('x', 1)");
      throw new Error("no");
    });
    await assert.rejects(failing, /^Error: no$/);
    const swallowed = database.transaction(async (tx) => {
      await tx.query("INSERT INTO meta (key, value) VALUES ('x', 1)");
      await tx.query("SELECT nothing").catch(() => {});
    });
    await assert.rejects(swallowed, /went on after/);
    assert.deepEqual(await database.query("SELECT 1 FROM meta WHERE key = 'x'"), []);
  },
);

postgresTest(
  "work that uses every connection leaves those for renewals free, and waiting callers get an error in time",
  async (t) => {
    const made = await testDatabase(t);
    const database = made.open({ pool: 2 });
    const busy = [1, 2].map(() => database.query("SELECT pg_sleep(1)"));
    const waits = database.query("SELECT 1");
    const lane = (name: string) => database.tally.load().lanes.find((one) => one.lane === name);
    const { places, busy: used, waiting } = lane("work") ?? {};
    assert.deepEqual([places, used, waiting], [2, 2, 1]);
    await assert.rejects(database.query("SELECT 1", [], { withinMs: 150 }), DatabaseAway);
    assert.deepEqual(await database.leases.query("SELECT 1 AS n", [], { withinMs: 500 }), [
      { n: 1 },
    ]);
    await Promise.all([...busy, waits]);
    const { statements = 0, seconds = 0, busy: left } = lane("work") ?? {};
    assert.ok(statements === 3 && seconds >= 2 && left === 0, `${statements} in ${seconds} s`);
    assert.equal(lane("leases")?.statements, 1);
    assert.equal(database.tally.load().faults.lost, 1);
    database.close();
    await assert.rejects(database.query("SELECT 1"), DatabaseAway);
  },
);

postgresTest("a statement that takes too long is given up with its connection", async (t) => {
  const database = (await testDatabase(t)).open({ pool: 1 });
  await assert.rejects(database.query("SELECT pg_sleep(5)", [], { withinMs: 150 }), DatabaseAway);
  assert.equal(await one(database), 1);
});

postgresTest("a statement that a node gave up ends at the server by its time limit", async (t) => {
  const made = await testDatabase(t);
  const [database, other] = [made.open(), made.open()];
  await database.query("INSERT INTO meta (key, value) VALUES ('a', 0)");
  const add = "UPDATE meta SET value = value + 1 WHERE key = 'a'";
  await other.transaction(async (tx) => {
    await tx.query(add);
    const update = () => database.transaction((waits) => waits.query(add), { withinMs: 300 });
    const given = assert.rejects(update, DatabaseAway);
    await waitingFor(made, 1);
    await given;
    await waitingFor(made, 0);
  });
  const limits = (withinMs: number) => database.query("SHOW statement_timeout", [], { withinMs });
  assert.deepEqual(await limits(3_000), [{ statement_timeout: "5s" }]);
  assert.deepEqual(await limits(60_000), [{ statement_timeout: "1min" }]);
  assert.deepEqual(await limits(3_000), [{ statement_timeout: "5s" }]);
});

postgresTest(
  "after locking a row the latest commit is read, whatever isolation the database defaults to",
  async (t) => {
    const made = await testDatabase(t);
    const root = made.open();
    await root.query(
      `ALTER ROLE hand IN DATABASE ${made.name} SET default_transaction_isolation = 'repeatable read'`,
    );
    const database = made.open();
    await database.query("INSERT INTO meta (key, value) VALUES ('a', 0)");
    const isolation = database.transaction((tx) => tx.query("SHOW transaction_isolation"));
    assert.deepEqual(await isolation, [{ transaction_isolation: "read committed" }]);
    const sum = () =>
      database.transaction(async (tx) => {
        await tx.query("SELECT 1");
        await tx.query("SELECT 1 FROM meta WHERE key = 'a' FOR UPDATE");
        const [count] = await tx.query<{ n: number }>("SELECT count(*)::int AS n FROM migrations");
        await tx.query("INSERT INTO migrations (number, name) VALUES ($1, 'x')", [
          100 + (count?.n ?? 0),
        ]);
      });
    // Each one counts the others.
    await Promise.all([sum(), sum(), sum(), sum()]);
  },
);

postgresTest("a statement that the server ended for its time may be repeated later", async (t) => {
  const made = await testDatabase(t);
  const [database, other] = [made.open({ pool: 1 }), made.open()];
  await other.query("INSERT INTO meta (key, value) VALUES ('a', 0)");
  await other.query(`ALTER ROLE hand IN DATABASE ${made.name} SET lock_timeout = '50ms'`);
  const add = "UPDATE meta SET value = value + 1 WHERE key = 'a'";
  await other.transaction(async (tx) => {
    await tx.query(add);
    await assert.rejects(database.query(add), DatabaseAway);
    await assert.rejects(
      database.transaction((waits) => waits.query(add)),
      DatabaseAway,
    );
  });
  await database.query(add);
  const cancelled = assert.rejects(database.query("SELECT pg_sleep(5)"), DatabaseAway);
  const cancel = "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'PgSleep'";
  while ((await other.query(`${cancel} AND datname = current_database()`)).length === 0);
  await cancelled;
  assert.deepEqual(await database.query("SELECT value FROM meta WHERE key = 'a'"), [{ value: 2 }]);
});

postgresTest("a pooler that passes on no settings is used without them", async (t) => {
  if (pgbouncer === null) return t.skip("no PgBouncer");
  const made = await testDatabase(t);
  const database = made.open({ by: await pooledUrl(t, made) });
  assert.equal(await one(database), 1);
  const limit = database.transaction((tx) => tx.query("SHOW statement_timeout"));
  assert.deepEqual(await limit, [{ statement_timeout: "5s" }]);
});

postgresTest("when one connection is silently dead the other idle ones aren't tried", async (t) => {
  const made = await testDatabase(t);
  const way = await forwarded(t, made);
  const { database } = openTo(t, made, `127.0.0.1:${way.port}`);
  await Promise.all([database.query("SELECT pg_sleep(0.1)"), one(database)]);
  way.freeze();
  await assert.rejects(database.query("SELECT 1", [], { withinMs: 200 }), DatabaseAway);
  assert.equal(await one(database), 1);
});

postgresTest("several nodes that start at once migrate once", async (t) => {
  const made = await testDatabase(t, { empty: true });
  const nodes = [1, 2, 3, 4].map(() => made.open());
  await Promise.all(nodes.map((node) => migrateDatabase(node)));
  const rows = await made.open().query("SELECT number, name FROM migrations ORDER BY number");
  assert.deepEqual(
    rows,
    migrations("postgres").map(({ number, name }) => ({ number, name })),
  );
});

postgresTest(
  "a database that can't store every character, or commits before the disk has it, is refused",
  async (t) => {
    const made = await testDatabase(t, { empty: true });
    const root = made.open();
    const isMisconfigured = (words: RegExp) => (error: StoreFault) =>
      error.kind === "misconfigured" && words.test(error.message);
    const narrow = `${made.name}_latin`;
    await root.query(`CREATE DATABASE ${narrow} TEMPLATE template0 ENCODING 'LATIN1' LOCALE 'C'`);
    const latin = made.open({ by: made.url.replace(made.name, narrow) });
    await assert.rejects(migrateDatabase(latin), isMisconfigured(/encoding is LATIN1/));
    latin.close();
    await root.query(`DROP DATABASE ${narrow} WITH (FORCE)`);
    await root.query(`ALTER DATABASE ${made.name} SET synchronous_commit = off`);
    const hasty = made.open();
    await assert.rejects(migrateDatabase(hasty), isMisconfigured(/synchronous_commit is off/));
    await root.query(`ALTER DATABASE ${made.name} RESET synchronous_commit`);
    await migrateDatabase(made.open());
  },
);

postgresTest("a program serves on a newer schema if that schema allows it", async (t) => {
  const made = await testDatabase(t, { empty: true });
  const database = made.open();
  const [start] = migrations("postgres");
  assert.ok(start !== undefined);
  const next = (number: number, least: number) => ({
    number,
    name: `000${number}_next`,
    sql: `-- least: ${least}\nCREATE TABLE next${number} (a int);`,
  });
  await migrateDatabase(database, [start]);
  await migrateDatabase(database, [start, next(2, 1)]);
  await migrateDatabase(database, [start]);
  const broken = { ...next(3, 2), sql: "-- least: 2\nCREATE TABLE next3 (a int); SELECT nothing;" };
  await assert.rejects(migrateDatabase(database, [start, next(2, 1), broken]));
  await migrateDatabase(database, [start]);
  await migrateDatabase(database, [start, next(2, 1), next(3, 2)]);
  await assert.rejects(
    migrateDatabase(database, [start]),
    ({ kind }: StoreFault) => kind === "newer",
  );
  await migrateDatabase(database, [start, next(2, 1)]);
});

/** Ends every connection to a database but the caller's. */
async function killAll(database: Database, name: string): Promise<void> {
  await database.query(
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1 AND pid <> pg_backend_pid()",
    [name],
  );
}
