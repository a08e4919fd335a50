import assert from "node:assert/strict";
import { copyFileSync, existsSync, readFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { test } from "node:test";
import { moveHosted } from "../../../src/app/offline/hosted-move.ts";
import { storesThere } from "../../../src/app/offline/hosted-move-stores.ts";
import { systemRandom } from "../../../src/ground/kit/random.ts";
import type { Database } from "../../../src/hosted/registry/postgres/connect.ts";
import { realClock } from "../../support/clock.ts";
import { freePort } from "../../support/free-port.ts";
import { ask, type TestHosted, testHosted } from "../../support/hosted-role.ts";
import { onPostgres, testDatabase } from "../../support/postgres.ts";
import { startReceiver } from "../../support/receiver.ts";
import { scratch } from "../../support/scratch.ts";
import { until, untilSo } from "../../support/until.ts";
import { alertsAt, event, type HostedNode, nodesOf, shop } from "./tenant-nodes.ts";

/** Tenants without a box, whose stores are in the nodes' database. */
const postgresTest = onPostgres(test);

postgresTest(
  "a tenant's store is in the database: an empty node has it after the disk is gone",
  async (t) => {
    const made = await testDatabase(t);
    const start = nodesOf(t, made);
    const receiver = await startReceiver();
    t.after(() => receiver.close());
    const one = await start("one");
    const { key, token, tenant } = await shop(one, receiver);
    for (const n of [1, 2, 3]) assert.equal((await event(one.url, token, n)).status, 202);
    const before = await alertsAt(one, key);
    assert.equal(before.length, 3);
    await one.stop();
    assert.ok(!existsSync(one.data));
    const two = await start("two");
    assert.deepEqual(await alertsAt(two, key), before);
    assert.equal((await event(two.url, token, 4)).status, 202);
    await until(() => receiver.received.length >= 4, "each page has come");
    const sql = "SELECT node FROM tenant_epochs WHERE tenant_id = $1";
    assert.deepEqual(await made.open().query(sql, [tenant]), [{ node: "two" }]);
  },
);

postgresTest(
  "tenants of a data directory move to a database and back, byte for byte",
  async (t) => {
    const [made, other] = [await testDatabase(t), await testDatabase(t)];
    const receiver = await startReceiver();
    t.after(() => receiver.close());
    const [data, back] = [scratch(t), scratch(t)];
    const flags = { egressAllow: ["127.0.0.0/8"] };
    const files = async (directory: string, use: (node: TestHosted) => Promise<void>) => {
      const node = await testHosted({ ...flags, data: directory }, realClock());
      await use(node).finally(() => node.stop());
    };
    let its = { tenant: "", key: "", token: "", short: "" };
    await files(data, async (node) => {
      its = await shop(node, receiver);
      for (const n of [1, 2]) assert.equal((await event(node.url, its.token, n)).status, 202);
    });
    const { tenant, key, token } = its;
    const deps = { clock: realClock(), random: systemRandom };
    // Killed before the registry was there: it is served from its files for some time more.
    assert.equal(await storesThere(made.open(), [tenant], { data, ...deps }), 1);
    let before: string[] = [];
    await files(data, async (node) => {
      assert.equal((await event(node.url, token, 3)).status, 202);
      before = await alertsAt(node, key);
    });
    assert.equal(before.length, 3);
    const there = (database: string) => moveHosted({ data, database, ...deps });
    const moved = await there(made.url);
    assert.deepEqual([moved.moved, moved.stores], ["to the database", 1]);
    // Run again, it looks at the stores no more: nodes may have them.
    assert.equal((await there(made.url)).stores, 0);
    await assert.rejects(there(other.url), /moved already, to another database/);

    copyFileSync(join(data, "hosted.key"), join(back, "hosted.key"));
    const returned = await moveHosted({ data: back, database: made.url, ...deps });
    assert.deepEqual([returned.moved, returned.stores], ["to the data directory", 1]);
    const store = join("tenants", `${tenant}.db`);
    assert.ok(readFileSync(join(back, store)).equals(readFileSync(join(data, store))));
    await files(back, async (node) => {
      assert.deepEqual(await alertsAt(node, key), before);
      assert.equal((await event(node.url, token, 4)).status, 202);
      before = await alertsAt(node, key);
    });
    // From there into another database, whose nodes have it all.
    await moveHosted({ data: back, database: other.url, ...deps });
    const hostedKey = join(back, "hosted.key");
    const node = await nodesOf(t, other)("n", { hostedKey });
    assert.deepEqual(await alertsAt(node, key), before);
  },
);

/** Sends an event whose body waits for 100 Continue. */
function whenAsked(url: string, token: string, body: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const asked = request(`${url}/v1/ingest`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${token}`,
        "content-type": "application/json",
        "content-length": Buffer.byteLength(body),
        expect: "100-continue",
      },
    });
    asked.once("continue", () => asked.end(body));
    asked.once("response", (answer) => resolve(answer.resume().statusCode));
    asked.once("error", reject);
    asked.flushHeaders();
  });
}

/** Whatever a node is asked for another one's tenant. */
async function isServedBy(
  b: HostedNode,
  { key, token, short }: Awaited<ReturnType<typeof shop>>,
): Promise<void> {
  const get = (path: string, bearer = key) =>
    ask(b.url + path, { headers: { authorization: `Bearer ${bearer}` } });
  const project = await get("/v1/projects");
  assert.equal(project.status, 200, JSON.stringify(project.body));
  assert.equal((await get("/v1/alerts", `${key}x`)).status, 401);
  assert.equal((await get("/v1/nothing")).status, 404);
  // By the lane, by Node's reader, in pieces, many at once, and two on one connection.
  for (const n of [11, 12]) assert.equal((await event(b.url, token, n)).status, 202);
  const long = { message: "x".repeat(200_000), keys: { n: "13" } };
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const post = (path: string, body: string | ReadableStream, more: object = {}) =>
    ask(b.url + path, {
      method: "POST",
      headers: { ...headers, ...more },
      body,
      duplex: "half",
    } as RequestInit);
  assert.equal(
    (await post("/v1/ingest", JSON.stringify({ ...long, message: long.message.slice(0, 7_000) })))
      .status,
    202,
  );
  const pieces = new Blob([JSON.stringify({ message: "in pieces", keys: { n: "14" } })]).stream();
  assert.equal((await post("/v1/ingest", pieces)).status, 202);
  const lines = ["15", "16"].map((n) => JSON.stringify({ message: "of many", keys: { n } }));
  const many = await post("/v1/ingest", lines.join("\n"), {
    "content-type": "application/x-ndjson",
  });
  assert.equal(many.body.accepted, 2);
  const refused = await post("/v1/ingest", "{");
  assert.equal(refused.body.error.code, "invalid_json");
  assert.equal(
    (await post("/v1/ingest", JSON.stringify({ message: "y".repeat(3_000_000) }))).status,
    413,
  );
  // A body that is sent only when it is asked for.
  assert.equal(await whenAsked(b.url, token, JSON.stringify({ message: "asked for" })), 202);
  // Its token is in the body, which was read before anybody knew whose it is.
  const routed = {
    routing_key: short,
    event_action: "trigger",
    payload: { summary: "db down", source: "db", severity: "error" },
  };
  const inBody = await ask(`${b.url}/v1/in/pagerduty/v2/enqueue`, {
    method: "POST",
    body: JSON.stringify(routed),
  });
  assert.equal(inBody.status, 202, JSON.stringify(inBody.body));
}

postgresTest(
  "a request for another node's tenant is sent on to that node, one hop at most",
  async (t) => {
    const made = await testDatabase(t);
    const start = nodesOf(t, made);
    const receiver = await startReceiver();
    t.after(() => receiver.close());
    const a = await start("a", { clusterListen: "127.0.0.1:0" });
    const its = await shop(a, receiver);
    const link = `127.0.0.1:${await freePort()}`;
    const b = await start("b", { clusterListen: link, metricsOpen: true });
    await isServedBy(b, its);
    const here = await alertsAt(a, its.key);
    assert.deepEqual(await alertsAt(b, its.key), here);
    // A long poll at one node hears of what comes to the other.
    const newest = await b.call("GET", `/v1/pull?cursor=${Number.MAX_SAFE_INTEGER}`, {
      token: its.key,
    });
    assert.equal(newest.status, 200, JSON.stringify(newest.body));
    const wait = `/v1/pull?wait=60&cursor=${newest.body.cursor}`;
    const parked = b.call("GET", wait, { token: its.key });
    assert.equal((await event(a.url, its.token, 17)).status, 202);
    const heard = await parked;
    assert.equal(heard.body.alerts?.length, 1, `${heard.status} ${JSON.stringify(heard.body)}`);
    // A reader who goes away while it waits is no fault of the other node's.
    const leaves = new AbortController();
    const left = ask(`${b.url}/v1/pull?wait=60&cursor=${heard.body.cursor}`, {
      headers: { authorization: `Bearer ${its.key}` },
      signal: leaves.signal,
    });
    const sentOn = async () => {
      const text = String((await b.call("GET", "/metrics")).body);
      return Number(/^box_hosted_forwarded_total (\d+)$/m.exec(text)?.[1]);
    };
    const before = await sentOn();
    await untilSo(async () => (await sentOn()) > before, "it waits at the other node");
    leaves.abort();
    await assert.rejects(left);
    assert.equal((await event(b.url, its.token, 20)).status, 202);
    const owner = async () =>
      (
        await made
          .open()
          .query<{ node: string; epoch: number }>("SELECT node, epoch FROM tenant_stores")
      )[0];
    assert.deepEqual(await owner(), { node: "a", epoch: 1 });
    const metrics = String((await b.call("GET", "/metrics")).body);
    assert.match(metrics, /^box_hosted_forwarded_total [1-9]\d*$/m);
    assert.match(metrics, /^box_hosted_forward_faults_total 0$/m);
    assert.match(metrics, /^box_hosted_tenants_open 0$/m);

    // A node that is told to ask itself asks once.
    const database = made.open();
    const [there] = await database.query<{ address: string }>("SELECT address FROM tenant_epochs");
    const send = (address: string) =>
      database.query("UPDATE tenant_epochs SET address = $1", [address]);
    await send(link);
    await untilSo(async () => {
      const { status, headers } = await b.call("GET", "/v1/projects", { token: its.key });
      return status === 503 && headers.get("retry-after") === "2";
    }, "it asks itself once");
    await send(there?.address ?? "");

    // While it leaves, and from then on, the other refuses nothing.
    await untilSo(
      async () => (await event(b.url, its.token, 18)).status === 202,
      "it knows where to ask again",
    );
    let isGone = false;
    const leaving = a.stop().then(() => {
      isGone = true;
    });
    const answers: number[] = [];
    for (let n = 100; !isGone || answers.length < 20; n++) {
      // One who doesn't wait for the answer.
      const leaves = { signal: AbortSignal.timeout(20) };
      const headers = { authorization: `Bearer ${its.key}` };
      const left = ask(`${b.url}/v1/projects`, { headers, ...leaves }).catch(() => null);
      answers.push((await event(b.url, its.token, n)).status);
      await left;
    }
    await leaving;
    assert.deepEqual([...new Set(answers)], [202]);
    assert.deepEqual(await owner(), { node: "b", epoch: 2 });
  },
);

/** Holds what a statement locks until `end`. */
async function hold(database: Database, lock: string) {
  const [locked, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const locking = database.transaction(
    async ({ query }) => {
      await query(lock);
      locked.resolve();
      await held.promise;
    },
    { withinMs: 60_000, idleMs: 60_000 },
  );
  await locked.promise;
  return {
    end() {
      held.resolve();
      return locking;
    },
  };
}

postgresTest(
  "a node that opens tenants has all of its own for as long as the database's pages need to come, or to go there",
  async (t) => {
    const made = await testDatabase(t);
    const start = nodesOf(t, made);
    const receiver = await startReceiver();
    t.after(() => receiver.close());
    const one = await start("one");
    const served = await shop(one, receiver);
    const tokens: string[] = [];
    // As many as a node has connections for their commits.
    for (let n = 0; n < 4; n++) tokens.push((await shop(one, receiver)).token);
    await one.stop();
    const database = made.open();
    const taken = (url: string, token: string, n: number) =>
      untilSo(async () => (await event(url, token, n)).status === 202, "the event is taken");
    /** Until when the one lives that dies first; 0 until the node has so many. */
    const livesUntil = async (node: string, count: number, only = "true") => {
      const [row] = await database.query<{ until: number }>(
        `SELECT extract(epoch FROM min(alive_until))::float8 AS until FROM tenant_stores
          WHERE node = $1 AND ${only} HAVING count(*) = ${count}`,
        [node],
      );
      return row?.until ?? 0;
    };
    const livesOn = async (until: () => Promise<number>) => {
      const first = await until();
      await untilSo(async () => (await until()) > first + 3, "it says again that they live");
    };

    const two = await start("two");
    const coming = await hold(made.open(), "LOCK TABLE tenant_pages IN ACCESS EXCLUSIVE MODE");
    const sent = tokens.map((token) => taken(two.url, token, 1));
    const all = () => livesUntil("two", 4);
    await untilSo(async () => (await all()) > 0, "it has taken the tenants");
    await livesOn(all);
    await coming.end();
    await Promise.all(sent);
    await two.stop();

    const three = await start("three");
    await taken(three.url, served.token, 1);
    // As after an upgrade the file isn't what the database has: all is compared and mended, which this row holds up.
    const sql =
      "INSERT INTO tenant_pages (tenant_id, page, hash, body) SELECT tenant_id, 1000000, 1, '' FROM tenant_stores WHERE node = 'two'";
    await database.query(sql);
    const going = await hold(
      made.open(),
      "SELECT 1 FROM tenant_pages WHERE page = 1000000 FOR UPDATE",
    );
    const late = tokens.map((token) => taken(three.url, token, 2));
    const waiting =
      "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
    await untilSo(async () => (await database.query(waiting)).length > 1, "mends wait");
    await livesOn(() => livesUntil("three", 1, `tenant_id = '${served.tenant}'`));
    await going.end();
    await Promise.all(late);
  },
);
