import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import Database from "better-sqlite3";
import pino from "pino";
import type { Log } from "../../src/ground/kit/log.ts";
import { handClock } from "../support/clock.ts";
import { ask, signature, type TestHosted, testHosted } from "../support/hosted-role.ts";
import { until } from "../support/until.ts";

/** A day of the hosted role on which much goes wrong, and its log: every line that concerns a tenant says which. */

type Line = Record<string, unknown> & { msg: string; tenant?: string };

const lines: Line[] = [];
const log: Log = pino(
  { level: "trace", base: null },
  { write: (line) => lines.push(JSON.parse(line)) },
);

/** Lines of the service as a whole. */
const OF_THE_SERVICE = [
  /^too many connections/,
  // Each kind in it names its own where it is known.
  /^requests were refused/,
  /^most boxes send no heartbeat/,
  /^boxes send heartbeats again/,
  /^--lab:/,
];

let hosted: TestHosted;

before(async () => {
  hosted = await testHosted({}, handClock(), { log });
});
after(() => hosted.stop());

const ids = new Set<string | undefined>();

/** The lines that came since the last call: each says whose it is, and the one that is expected is `tenant`'s. */
function take(tenant: string, expected: RegExp): void {
  const taken = lines.splice(0).filter(({ msg }) => !OF_THE_SERVICE.some((of) => of.test(msg)));
  assert.ok(
    taken.some((line) => expected.test(line.msg) && line.tenant === tenant),
    `${expected} in ${JSON.stringify(taken.map(({ msg }) => msg))}`,
  );
  for (const line of taken) assert.ok(ids.has(line.tenant), JSON.stringify(line));
}

async function hostedTenant(): Promise<{ id: string; key: string }> {
  return hosted.desk(async (desk) => {
    const { tenant_id: id } = await desk.addTenant({ kind: "hosted" });
    ids.add(id);
    const { api_key: key } = await desk.addKey({ tenant: id, email: "ada@example.com" });
    return { id, key };
  });
}

/** Turns the clock on by at most `seconds`, until something is so. */
async function pass(seconds: number, isSo: () => boolean): Promise<void> {
  for (let passed = 0; passed < seconds && !isSo(); passed += 15) {
    await hosted.clock.turn(15_000);
    await until(() => hosted.role.scheduler.running === 0, "due work ends");
  }
  assert.ok(isSo());
}

const tenantOf = async (id: string) => {
  const tenant = await hosted.role.tenants.find(id);
  assert.ok(tenant);
  return tenant;
};

test("requests that fail inside", async () => {
  const { id, key } = await hostedTenant();
  await hostedTenant();
  await hosted.call("POST", "/v1/projects", { token: key, body: { name: "p" } });
  const source = await hosted.call("POST", "/v1/projects/p/sources", {
    token: key,
    body: { name: "s" },
  });
  const report = await hosted.call("POST", "/v1/projects/p/reports", {
    token: key,
    body: { title: "t", description: "d" },
  });
  assert.deepEqual([source.status, report.status], [201, 201]);
  lines.splice(0);

  const { store } = await tenantOf(id);
  store.db.exec("ALTER TABLE projects RENAME COLUMN name TO gone");
  assert.equal((await hosted.call("GET", "/v1/projects", { token: key })).status, 500);
  take(id, /^request failed$/);
  store.db.exec("ALTER TABLE projects RENAME COLUMN gone TO name");

  store.db.exec("ALTER TABLE templates RENAME TO gone");
  const event = await hosted.call("POST", "/v1/ingest", {
    token: source.body.token,
    body: { message: "a" },
  });
  assert.equal(event.status, 500);
  take(id, /^request failed$/);
  store.db.exec("ALTER TABLE gone RENAME TO templates");

  store.db.exec("ALTER TABLE report_entries RENAME TO gone");
  const page = await hosted.call("GET", `/public/reports/${report.body.public_uuid}`);
  assert.equal(page.status, 500);
  take(id, /^request failed$/);
  store.db.exec("ALTER TABLE gone RENAME TO report_entries");
});

test("work that fails, a clock that jumps", async () => {
  const { id, key } = await hostedTenant();
  await hosted.call("POST", "/v1/projects", { token: key, body: { name: "p" } });
  const tenant = await tenantOf(id);
  lines.splice(0);

  tenant.store.db.exec("ALTER TABLE log_lines RENAME TO gone");
  await pass(300, () => lines.some(({ msg }) => msg === "job failed"));
  take(id, /^job failed$/);
  tenant.store.db.exec("ALTER TABLE gone RENAME TO log_lines");

  hosted.clock.setWall(hosted.clock.now() + 3_600_000);
  await pass(60, () => lines.some(({ msg }) => /jumped/.test(msg)));
  take(id, /^the clock jumped/);
});

test("data that can't be opened", async () => {
  const { id, key } = await hostedTenant();
  await hosted.stopServing();
  writeFileSync(join(hosted.data, "tenants", `${id}.db`), "no database".repeat(100));
  lines.splice(0);
  await hosted.serveAgain();
  assert.equal((await hosted.call("GET", "/v1/projects", { token: key })).status, 503);
  take(id, /^a tenant's data can't be opened$/);
});

test("the relay and the account plane", async () => {
  const { accountId, token } = await hosted.person("bob@example.com");
  const { registry } = hosted.role;
  const { id } = await registry.tenants.add({ kind: "box" });
  ids.add(id);
  const first = await registry.pairings.first({ tenantId: id, accountId, boxAccountId: "b" });
  assert.ok(first.kind === "paired");
  lines.splice(0);

  const db = new Database(join(hosted.data, "hosted.db"));
  db.exec("ALTER TABLE relay_claims RENAME COLUMN holder TO gone");
  const body = JSON.stringify({ event: "alert.opened", alert_id: "1", project: "p" });
  const relayed = await ask(`${hosted.url}/v1/relay/${first.credential.keyId}`, {
    method: "POST",
    body,
    headers: signature(hosted, first.credential, body),
  });
  assert.equal(relayed.status, 500);
  take(id, /^request failed$/);
  db.exec("ALTER TABLE relay_claims RENAME COLUMN gone TO holder");

  db.exec("ALTER TABLE pairings RENAME COLUMN box_account_id TO gone");
  assert.equal((await hosted.call("GET", `/v1/tenants/${id}/pairings`, { token })).status, 500);
  take(id, /^request failed$/);
  db.exec("ALTER TABLE pairings RENAME COLUMN gone TO box_account_id");
  db.close();

  await registry.heartbeats.beat({
    tenantId: id,
    relayKeyId: first.credential.keyId,
    stamp: Math.floor(hosted.clock.now() / 1000),
  });
  await pass(600, () => lines.some(({ msg }) => /people were notified/.test(msg)));
  take(id, /^a box's people were notified$/);
});
