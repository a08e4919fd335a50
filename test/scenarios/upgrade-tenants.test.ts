import assert from "node:assert/strict";
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { moveHosted } from "../../src/app/offline/hosted-move.ts";
import { systemClock } from "../../src/ground/kit/clock.ts";
import { systemRandom } from "../../src/ground/kit/random.ts";
import { checkHeader } from "../../src/ground/store/header.ts";
import { migrations } from "../../src/ground/store/migrations.ts";
import { event, shop } from "../hosted/postgres/tenant-nodes.ts";
import { realClock } from "../support/clock.ts";
import { testHosted } from "../support/hosted-role.ts";
import { fill, newer, slowly } from "../support/newer.ts";
import { postgresTest, testDatabase } from "../support/postgres.ts";
import { programFile } from "../support/program.ts";
import { startReceiver } from "../support/receiver.ts";
import { scratch } from "../support/scratch.ts";
import { untilSo } from "../support/until.ts";
import { Node } from "./nodes/node.ts";

/** A newer program that has to change a tenant's large store, while others of the same node are served. */

/** Longer than a node has its tenants after its latest word. */
const SLOW_SECONDS = 20;
const LIFE_MS = 10_000;
/** A store that is upgraded in a thread. */
const MIB = 70;
const FLAGS = { egressAllow: ["127.0.0.0/8"] };

/** A directory with a large tenant and a small one, and their sources' tokens. */
async function twoTenants(t: TestContext, ballast = MIB) {
  const receiver = await startReceiver();
  t.after(() => receiver.close());
  const data = scratch(t);
  const made = await testHosted({ ...FLAGS, data }, realClock());
  const [large, small] = [await shop(made, receiver), await shop(made, receiver)];
  await made.stop();
  for (const [{ tenant }, mib] of [
    [large, ballast],
    [small, 0],
  ] as const)
    fill(join(data, "tenants", `${tenant}.db`), mib);
  return { data, large, small };
}

/** Sends to the small one until the large one has answered; the longest wait, and how long the large one took. */
async function sent(url: string, { large, small }: Awaited<ReturnType<typeof twoTenants>>) {
  const from = performance.now();
  let took: number | null = null;
  const upgraded = event(url, large.token, 0).then(({ status }) => {
    assert.equal(status, 202);
    took = performance.now() - from;
  });
  let longest = 0;
  for (let n = 0; took === null; n++) {
    const asked = performance.now();
    assert.equal((await event(url, small.token, n)).status, 202);
    longest = Math.max(longest, performance.now() - asked);
    await Promise.race([upgraded, pause(200)]);
  }
  return { longest, took };
}

async function started(t: TestContext, words: readonly string[], seconds = SLOW_SECONDS) {
  const [, program] = await newer(scratch(t), slowly(seconds));
  return startedAs(t, program, words);
}

async function startedAs(t: TestContext, program: string, words: readonly string[]) {
  const node = new Node("n", program, [
    "hosted",
    "serve",
    "--egress-allow",
    "127.0.0.0/8",
    ...words,
  ]);
  t.after(() => node.kill());
  await node.start();
  return { node, url: `http://127.0.0.1:${node.port}` };
}

/** What stands in the thread that upgrades a store, until it is mended. */
const LEAK =
  "const all: number[][] = [];\n    for (;;) all.push(Array.from({ length: 1e4 }, Math.random));\n";

test("a tenant whose upgrade needs too much memory is closed alone, and opened when it doesn't", async (t) => {
  const { data, large, small } = await twoTenants(t);
  const directory = scratch(t);
  const [, program] = await newer(directory, "CREATE TABLE later (x);");
  const thread = join(directory, "src/ground/store/upgrade-worker.ts");
  const whole = readFileSync(thread, "utf8");
  const leaking = whole.replace(
    "inspect(",
    `if (path.includes("${large.tenant}")) {${LEAK}}\n    inspect(`,
  );
  assert.notEqual(leaking, whole);
  writeFileSync(thread, leaking);
  const { node, url } = await startedAs(t, program, ["--data", data]);
  const refused = event(url, large.token, 0).then(({ status }) => status);
  for (let n = 0; n < 10; n++) assert.equal((await event(url, small.token, n)).status, 202);
  assert.equal(await refused, 503);
  const path = join(data, "tenants", `${large.tenant}.db`);
  const known = migrations("box").length;
  assert.equal(checkHeader(path, "box").userVersion, known);
  writeFileSync(thread, whole);
  assert.equal((await event(url, large.token, 1)).status, 202);
  assert.equal((await event(url, small.token, 10)).status, 202);
  assert.equal(node.said, "");
});

/** The same tenants in a database, and the words for a node that serves from it. */
async function onDatabase(t: TestContext, { data }: { data: string }) {
  const database = await testDatabase(t, { empty: true });
  const deps = { clock: systemClock, random: systemRandom };
  await moveHosted({ data, database: database.url, ...deps });
  const words = (name: string) => {
    const own = join(scratch(t), name);
    mkdirSync(own, { mode: 0o700 });
    const key = join(own, "hosted.key");
    copyFileSync(join(data, "hosted.key"), key);
    const flags = { data: own, database: database.url, "hosted-key": key, node: name };
    const given = Object.entries({ ...flags, "drain-seconds": "0" });
    return given.flatMap(([flag, value]) => [`--${flag}`, value]);
  };
  return { database, words };
}

function judge({ longest, took }: Awaited<ReturnType<typeof sent>>): void {
  assert.ok(longest < took / 2, `of ${took} ms the other tenant waited ${longest}`);
}

for (const [size, mib] of Object.entries({ large: MIB, small: 1 }))
  test(`a tenant is served while another one's ${size} store is upgraded`, async (t) => {
    const tenants = await twoTenants(t, mib);
    const { url } = await started(t, ["--data", tenants.data]);
    judge(await sent(url, tenants));
  });

postgresTest("a node keeps its tenants while it upgrades a large one's store", async (t) => {
  const tenants = await twoTenants(t);
  const { words, database } = await onDatabase(t, tenants);
  const { url } = await started(t, words("n"));
  const asker = database.open();
  const alive = async () => {
    const sql = `SELECT count(*)::int AS n, bool_and(alive_until > clock_timestamp()) AS "areAlive"
      FROM tenant_stores WHERE node = 'n'`;
    const [row] = await asker.query<{ n: number; areAlive: boolean }>(sql);
    return row;
  };
  const over = new AbortController();
  const lapsed: unknown[] = [];
  const watching = (async () => {
    while (!over.signal.aborted) {
      const row = await alive();
      if (row?.areAlive === false) lapsed.push(row);
      await pause(500);
    }
  })();
  const seen = await sent(url, tenants).finally(() => over.abort());
  await watching;
  judge(seen);
  assert.ok(seen.took > LIFE_MS, `the upgrade took ${seen.took} ms`);
  assert.deepEqual(lapsed, [], "its tenants are its own all the while");
  assert.equal((await alive())?.n, 2);
});

test("a node that is stopped during an upgrade ends, with its other tenants closed", async (t) => {
  const { data, large, small } = await twoTenants(t);
  const { node, url } = await started(t, ["--data", data], 60);
  const refused = event(url, large.token, 0).then(({ status }) => status);
  assert.equal((await event(url, small.token, 0)).status, 202);
  const file = join(data, "tenants", `${small.tenant}.db`);
  assert.ok(existsSync(`${file}-wal`), "it is open");
  const from = performance.now();
  node.signal("SIGTERM");
  assert.equal(await refused, 503);
  await node.ended;
  const took = performance.now() - from;
  assert.ok(took < 15_000, `it took ${took} ms`);
  assert.ok(!existsSync(`${file}-wal`), "it was closed");
});

postgresTest("a node that is stopped during an upgrade gives that tenant back", async (t) => {
  const tenants = await twoTenants(t);
  const { large } = tenants;
  const { words, database } = await onDatabase(t, tenants);
  const { node, url } = await started(t, words("n"), 60);
  const asker = database.open();
  const store = async () => {
    const sql = `SELECT node, clean, alive_until > clock_timestamp() AS "isAlive" FROM tenant_stores
      WHERE tenant_id = $1`;
    return (await asker.query<object>(sql, [large.tenant]))[0];
  };
  const refused = event(url, large.token, 0).then(({ status }) => status);
  const held = { node: "n", clean: false, isAlive: true };
  await untilSo(async () => isDeepStrictEqual(await store(), held), "the node has it");
  node.signal("SIGTERM");
  assert.equal(await refused, 503);
  await node.ended;
  assert.deepEqual(await store(), { node: "n", clean: true, isAlive: false });
  // Half of the upgrade lies in the first node's file, and nowhere else.
  const other = await startedAs(t, await programFile(), words("m"));
  assert.equal((await event(other.url, large.token, 1)).status, 202);
});
