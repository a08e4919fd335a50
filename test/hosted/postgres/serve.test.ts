import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { existsSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import pino from "pino";
import type { StoreFault } from "../../../src/ground/store/faults.ts";
import { startFakeApns } from "../../support/apns.ts";
import { handClock, realClock } from "../../support/clock.ts";
import { deviceToken } from "../../support/hosted.ts";
import {
  ask,
  signature,
  type TestFlags,
  type TestHosted,
  testHosted,
  useApns,
} from "../../support/hosted-role.ts";
import { long, test } from "../../support/long.ts";
import { onPostgres, type TestDatabase, testDatabase } from "../../support/postgres.ts";
import { scratch } from "../../support/scratch.ts";
import { until } from "../../support/until.ts";

const postgresTest = onPostgres(test);
const longOnPostgres = onPostgres(long);

function keyFile(t: TestContext): string {
  const file = join(scratch(t), "hosted.key");
  writeFileSync(file, randomBytes(32), { mode: 0o600 });
  return file;
}

/** The log of this file's nodes. */
const said: string[] = [];
const log = pino({ level: "trace" }, { write: (line) => void said.push(line) });
const SECRET = "hunter2-of-the-database";

async function nodes(
  t: TestContext,
  made: Pick<TestDatabase, "url">,
  count: number,
  flags: TestFlags = {},
): Promise<TestHosted[]> {
  const database = made.url.replace("@", `:${SECRET}@`);
  const hostedKey = keyFile(t);
  const all: TestHosted[] = [];
  t.after(() => Promise.all(all.map((node) => node.stop())));
  for (let n = 0; n < count; n++)
    all.push(
      await testHosted({ database, hostedKey, node: `n${n}`, ...flags }, realClock(), { log }),
    );
  return all;
}

const LOCK = "LOCK TABLE nodes";

/** A connection to the database that can be cut. */
function wayTo(t: TestContext, made: TestDatabase) {
  const name = ".s.PGSQL.5432";
  // Before the directory is deleted: a node that still waits for its database learns that there is none, and ends.
  t.after(() => mend());
  const directory = scratch(t);
  const mend = () => {
    if (!existsSync(join(directory, name)))
      symlinkSync(join(made.socket, name), join(directory, name));
  };
  mend();
  return {
    url: made.url.replace(encodeURIComponent(made.socket), encodeURIComponent(directory)),
    mend,
    async cut() {
      unlinkSync(join(directory, name));
      // The lock keeps others out until every connection is ended.
      await made.open().query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE datname = $1 AND pid <> pg_backend_pid() AND query <> '${LOCK}'`,
        [made.name],
      );
    },
  };
}

/** A person with a phone and a box, made through one node. */
async function paired(node: TestHosted) {
  const { token, accountId } = await node.person("ada@example.com");
  const tenant = await node.desk((desk) => desk.addTenant({ kind: "box" }));
  const tid = tenant.tenant_id;
  const device = { token: deviceToken(1), platform: "ios", critical_alerts: false };
  assert.equal(
    (await node.call("POST", "/v1/account/devices", { token, body: device })).status,
    200,
  );
  const body = { box_account_id: "box-ada", receipt: "r".repeat(48) };
  const answer = await node.call("POST", `/v1/tenants/${tid}/pair`, { token, body });
  assert.equal(answer.status, 201, JSON.stringify(answer.body));
  const { relay_key_id: keyId, relay_secret: secret } = answer.body.relay;
  return { tid, token, accountId, credential: { keyId, secret } };
}

/** A node's `/metrics`, by name and labels. */
async function metrics(node: TestHosted): Promise<Map<string, number>> {
  const { body } = await node.call("GET", "/metrics");
  const lines = String(body).matchAll(/^(box_\S+) (\S+)$/gm);
  return new Map(Array.from(lines, ([, name = "", value]) => [name, Number(value)]));
}

type Box = Awaited<ReturnType<typeof paired>>;

function send(node: TestHosted, { credential }: Pick<Box, "credential">, fields: object = {}) {
  const event = { event: "alert.opened", alert_id: "1", project: "shop", timestamp: 1, ...fields };
  const body = JSON.stringify(event);
  const headers = signature(node, credential, body);
  return ask(`${node.url}/v1/relay/${credential.keyId}`, { method: "POST", body, headers });
}

postgresTest("two nodes are one service: what is done at one is known at the other", async (t) => {
  const made = await testDatabase(t);
  const [a, b] = (await nodes(t, made, 2, { metricsOpen: true })) as [TestHosted, TestHosted];
  const apns = await startFakeApns();
  t.after(() => apns.close());
  await useApns(a, apns);
  const box = await paired(a);
  const pushed = { relayed: true, devices: 1 };
  assert.deepEqual((await send(b, box)).body, pushed);
  assert.deepEqual((await send(a, box)).body, { ...pushed, duplicate: true });
  assert.deepEqual((await send(a, box, { alert_id: "2" })).body, pushed);
  assert.equal(apns.delivered().length, 2);
  assert.equal(apns.providerTokens.size, 1);
  const many = await Promise.all(
    Array.from({ length: 20 }, (_, n) => send(n % 2 === 0 ? a : b, box, { alert_id: "3" })),
  );
  assert.equal(many.filter(({ body }) => body.devices === 1 && body.duplicate !== true).length, 1);
  assert.equal(apns.delivered().length, 3);

  for (const node of [a, b]) {
    assert.equal((await send(node, box, { event: "box.heartbeat" })).status, 200);
    const ready = await node.call("GET", "/readyz");
    const { checks } = ready.body as { checks: { name: string; ok: boolean }[] };
    const names = ["registry", "apns", "tenants", "boxes", "node", "database", "clock"];
    assert.deepEqual(
      checks.map(({ name }) => name),
      names,
    );
  }
  const of = await Promise.all([a, b].map(metrics));
  const sum = (name: string) => of.reduce((all, one) => all + (one.get(name) ?? Number.NaN), 0);
  assert.equal(sum("box_hosted_ready"), 2);
  assert.equal(sum('box_hosted_leads{job="silence"}'), 1);
  const ended = (end: string) => sum(`box_hosted_pages_total{end="${end}"}`);
  assert.equal(ended("paged"), 3);
  assert.equal(sum('box_hosted_pushes_total{end="delivered"}'), 3);
  assert.equal(ended("duplicate") + ended("in_flight"), 20);
  assert.ok(sum('box_hosted_database_batched_total{ask="take"}') >= 23);
  assert.ok(sum('box_hosted_database_batches_total{ask="take"}') <= 23);
  assert.equal(sum('box_hosted_database_places{lane="leases"}'), 4);
  assert.equal(sum('box_hosted_database_faults_total{kind="failed"}'), 0);
  assert.ok(sum("box_hosted_database_unheard_seconds") < 10);

  // A key that both cached is refused by both after the answer.
  const path = `/v1/tenants/${box.tid}/relay-key`;
  const fresh = await a.call("POST", path, { token: box.token });
  assert.equal(fresh.status, 201);
  for (const node of [b, a]) {
    assert.equal((await send(node, box, { alert_id: "4" })).status, 401);
    assert.equal((await send(node, box, { event: "box.heartbeat" })).status, 401);
  }
  const { relay_key_id: keyId, relay_secret: secret } = fresh.body;
  const next = { credential: { keyId, secret } };
  assert.deepEqual((await send(b, next, { alert_id: "4" })).body, pushed);
  const gone = await b.call("DELETE", `/v1/tenants/${box.tid}/pairings/${box.accountId}`, {
    token: box.token,
  });
  assert.deepEqual(gone.body, { revoked: true });
  assert.deepEqual((await send(a, next, { alert_id: "5" })).body, { relayed: false, devices: 0 });
  assert.equal(apns.delivered().length, 4);
});

longOnPostgres(
  "a pairing revoked at one node is answered when the other's page is over, and a key rotated, too",
  async (t) => {
    const [a, b] = (await nodes(t, await testDatabase(t), 2)) as [TestHosted, TestHosted];
    const apns = await startFakeApns();
    t.after(() => apns.close());
    await useApns(a, apns);
    const box = await paired(a);
    const over = Promise.withResolvers<void>();
    apns.script(deviceToken(1), { until: over.promise, next: { status: 200 } });
    const page = send(a, box);
    await apns.seen(1);
    let answered = 0;
    const path = `/v1/tenants/${box.tid}`;
    const changes = [
      b.call("POST", `${path}/relay-key`, { token: box.token }),
      b.call("DELETE", `${path}/pairings/${box.accountId}`, { token: box.token }),
    ].map((call) =>
      call.then(({ status }) => {
        answered++;
        return status;
      }),
    );
    // Both are committed and wait: the key is already refused.
    while ((await send(a, box, { alert_id: "2" })).status !== 401) assert.equal(answered, 0);
    assert.equal(answered, 0);
    over.resolve();
    assert.equal((await page).status, 200);
    assert.deepEqual(await Promise.all(changes), [201, 200]);
  },
);

longOnPostgres(
  "a rotated key that a node has cached is refused for any request, and uses none of the tenant's budget",
  async (t) => {
    const [a, b] = (await nodes(t, await testDatabase(t), 2, { relayRate: "1" })) as [
      TestHosted,
      TestHosted,
    ];
    const box = await paired(a);
    /** A key that b cached, and that was rotated at a. */
    const rotated = async () => {
      const { credential } = box;
      assert.equal((await send(b, box, { event: "box.heartbeat" })).status, 200);
      const path = `/v1/tenants/${box.tid}/relay-key`;
      const { status, body } = await a.call("POST", path, { token: box.token });
      assert.equal(status, 201);
      box.credential = { keyId: body.relay_key_id, secret: body.relay_secret };
      return { credential };
    };
    for (const odd of [{ event: "box.unheard-of" }, { alert_id: 7 }])
      assert.equal((await send(b, await rotated(), odd)).status, 401, JSON.stringify(odd));
    const old = await rotated();
    // More pages than a minute's budget, which is also the burst.
    for (let n = 0; n < 80; n++) await send(b, old, { alert_id: `${n}` });
    const { body } = await send(b, box);
    assert.equal(body.error.message, "No push can go out: no APNs key is set.");
  },
);

postgresTest(
  "while the database is away a page is 503 with Retry-After, rings nobody, and goes on after",
  async (t) => {
    const way = wayTo(t, await testDatabase(t));
    const [node] = (await nodes(t, way, 1)) as [TestHosted];
    const apns = await startFakeApns();
    t.after(() => apns.close());
    await useApns(node, apns);
    const box = await paired(node);
    assert.equal((await send(node, box)).status, 200);
    await way.cut();
    const [refused, devices] = await Promise.all([
      send(node, box, { alert_id: "2" }),
      node.call("GET", "/v1/account/devices", { token: box.token }),
    ]);
    assert.equal(devices.status, 503);
    assert.equal(refused.status, 503);
    assert.equal(refused.headers.get("retry-after"), "2");
    assert.equal(refused.body.error.code, "relay_unavailable");
    assert.equal(apns.delivered().length, 1);
    // The node has found out that it can't renew.
    const noticed = () => said.some((line) => line.includes("can't record that this node lives"));
    await until(noticed, "the node says that the database is away");
    way.mend();
    assert.equal((await send(node, box, { alert_id: "2" })).status, 200);
    assert.equal(apns.delivered().length, 2);
  },
);

postgresTest("a node is refused without the others' key", async (t) => {
  const made = await testDatabase(t);
  const [node] = (await nodes(t, made, 1)) as [TestHosted];
  await paired(node);
  const other = (hostedKey: string) =>
    assert.rejects(
      testHosted({ database: made.url, hostedKey, node: "other" }, realClock()),
      ({ kind, message }: StoreFault) => kind === "misconfigured" && message.includes(hostedKey),
    );
  await other(keyFile(t));
  await other(join(scratch(t), "none.key"));
  assert.equal((await node.call("GET", "/v1/projects", { token: "ptk_x_y" })).status, 401);
});

longOnPostgres("a node that starts before its database does waits for it", async (t) => {
  const way = wayTo(t, await testDatabase(t));
  await way.cut();
  const starting = nodes(t, way, 1);
  starting.catch(() => {});
  await until(() => said.some((line) => line.includes("it waits for the database")), "it says so");
  way.mend();
  const [node] = (await starting) as [TestHosted];
  assert.equal((await node.call("GET", "/readyz")).status, 200);
});

longOnPostgres(
  "a node whose database is lost in the middle of its start waits for it",
  async (t) => {
    const made = await testDatabase(t);
    const way = wayTo(t, made);
    const before = said.length;
    const locked = Promise.withResolvers<void>();
    const over = Promise.withResolvers<void>();
    const holding = made.open().transaction(async (tx) => {
      await tx.query(LOCK);
      locked.resolve();
      await over.promise;
    });
    await locked.promise;
    const starting = nodes(t, way, 1);
    starting.catch(() => {});
    // It has opened the database, and would take its name.
    const waits = async () => {
      const [row] = await made.open().query<{ waiting: number }>(
        `SELECT count(*)::int AS waiting FROM pg_stat_activity
         WHERE datname = $1 AND wait_event_type = 'Lock' AND query LIKE 'INSERT INTO nodes%'`,
        [made.name],
      );
      return row?.waiting === 1;
    };
    while (!(await waits())) await Promise.race([delay(20), starting]);
    await way.cut();
    over.resolve();
    await holding;
    const isSaid = () =>
      said.slice(before).some((line) => line.includes("it waits for the database"));
    await Promise.race([until(isSaid, "it says so"), starting]);
    way.mend();
    const [node] = (await starting) as [TestHosted];
    assert.equal((await node.call("GET", "/readyz")).status, 200);
  },
);

longOnPostgres(
  "a node whose database reads and commits nothing isn't ready, until it does again",
  async (t) => {
    const made = await testDatabase(t);
    const flags = { database: made.url, hostedKey: keyFile(t) };
    const node = await testHosted(flags, handClock(Date.now()));
    t.after(() => node.stop());
    const { token } = await node.person("ada@example.com");
    const check = async () => {
      const { status, body } = await node.call("GET", "/readyz");
      const { ok } = body.checks.find(({ name }: { name: string }) => name === "database");
      return { status, ok };
    };
    // Its renewal hangs, as every commit does without its standby.
    const held = Promise.withResolvers<void>();
    const over = Promise.withResolvers<void>();
    t.after(() => over.resolve());
    const holding = made.open().transaction(
      async (tx) => {
        await tx.query("SELECT 1 FROM nodes FOR UPDATE");
        held.resolve();
        await over.promise;
      },
      { withinMs: 300_000, idleMs: 300_000 },
    );
    await held.promise;
    /** Its clock turns meanwhile: what is given up is repeated. */
    const reads = async () => {
      let isAnswered = false;
      const answer = node.call("GET", "/v1/account/devices", { token }).finally(() => {
        isAnswered = true;
      });
      let ms = 0;
      for (; !isAnswered; ms += 20) {
        await node.clock.turn(20);
        await delay(10);
      }
      assert.equal((await answer).status, 200);
      return ms;
    };
    const turnUntil = async (isOk: boolean) => {
      let ms = 0;
      for (; (await check()).ok !== isOk; ms += 500) {
        assert.ok(ms < 60_000, "it never comes");
        ms += await reads();
        await node.clock.turn(500);
      }
      return ms;
    };
    assert.deepEqual(await check(), { status: 200, ok: true });
    const away = await turnUntil(false);
    assert.ok(away > 7_000, `${away} ms`);
    assert.equal((await check()).status, 503);
    over.resolve();
    await holding;
    await turnUntil(true);
  },
);

longOnPostgres(
  "a node that a newer program's schema leaves behind isn't ready any more, serves on for a while, and ends",
  async (t) => {
    const made = await testDatabase(t);
    const ended = Promise.withResolvers<StoreFault>();
    const node = await testHosted(
      { database: made.url, hostedKey: keyFile(t), node: "old", drainSeconds: "1" },
      realClock(),
      { log, onFatal: (error) => ended.resolve(error as StoreFault) },
    );
    t.after(() => node.stop());
    assert.equal((await node.call("GET", "/readyz")).status, 200);
    await made.open().query("UPDATE meta SET value = 99 WHERE key = 'least'");
    const seen: number[] = [];
    while (seen.at(-1) !== 503) seen.push((await node.call("GET", "/readyz")).status);
    assert.equal((await node.call("GET", "/v1/version")).status, 200);
    const { kind, message } = await ended.promise;
    assert.deepEqual([kind, /newer program/.test(message)], ["newer", true]);
    await assert.rejects(node.call("GET", "/v1/version"));
  },
);

postgresTest("no log line of a node contains the database's password", () => {
  assert.ok(said.length > 0);
  assert.ok(!said.join("").includes(SECRET));
});

test("a node that is told to stop says so and serves on for a while", async (t) => {
  const node = await testHosted({ drainSeconds: "7" });
  t.after(() => node.stop());
  const names = async () => {
    const { status, body } = await node.call("GET", "/readyz");
    return [status, body.checks.map(({ name }: { name: string }) => name).includes("node")];
  };
  assert.deepEqual(await names(), [200, false]);
  let isOver = false;
  const drained = node.role.drain().then(() => {
    isOver = true;
  });
  assert.deepEqual(await names(), [503, true]);
  await node.clock.turn(6_900);
  assert.equal(isOver, false);
  assert.equal((await node.call("GET", "/v1/version")).status, 200);
  await node.clock.turn(100);
  await drained;
});
