import assert from "node:assert/strict";
import { cpSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import Database from "better-sqlite3";
import { type TestHosted, testHosted } from "../support/hosted-role.ts";

/** A secret that doesn't name its tenant opens the right one, and a wrong secret opens none. */

interface Shop {
  hosted: TestHosted;
  key: string;
  /** Path and query of the job's address. */
  ping: string;
  heartbeat: string;
  short: string;
  /** Calls as the tenant's owner. Fails on a refusal. */
  need(method: string, path: string, body?: object): Promise<Record<string, never>>;
}

async function shopOf(t: TestContext): Promise<Shop> {
  const hosted = await testHosted();
  t.after(() => hosted.stop());
  const { api_key: key } = await hosted.desk(async (desk) => {
    const { tenant_id: tenant } = await desk.addTenant({ kind: "hosted" });
    return desk.addKey({ tenant, email: "ada@example.com" });
  });
  const need: Shop["need"] = async (method, path, body) => {
    const answer = await hosted.call(method, path, { token: key, body });
    assert.ok(answer.status < 300, `${path}: ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  await need("POST", "/v1/projects", { name: "shop" });
  await need("POST", "/v1/projects/shop/rules", { name: "any" });
  const source = { name: "am", kind: "alertmanager" };
  const { short_token: short } = await need("POST", "/v1/projects/shop/sources", source);
  const job = { name: "backup", period_seconds: 3600, grace_seconds: 600 };
  const made = await need("POST", "/v1/projects/shop/heartbeats", job);
  const ping = String(made["ping_url"]).replace(/^.*(?=\/ping\/)/, "");
  return { hosted, key, ping, heartbeat: made["id"] ?? "", short: short ?? "", need };
}

const turn = (hosted: TestHosted) => hosted.clock.turn(0).then(() => pause(2));

/** Waits until every tenant is closed and its closing is written. */
async function atRest(hosted: TestHosted): Promise<void> {
  for (let i = 0; i < 200 && hosted.role.tenants.stats().open > 0; i++) {
    await hosted.clock.turn(15_000);
    await pause(5);
  }
  assert.equal(hosted.role.tenants.stats().open, 0);
}

async function send({ hosted }: Shop, token: string): Promise<number> {
  const startsAt = new Date(hosted.clock.now()).toISOString();
  const labels = { alertname: "DiskFull", severity: "critical" };
  const body = { alerts: [{ status: "firing", labels, startsAt }] };
  return (await hosted.call("POST", `/v1/in/alertmanager/${token}`, { body })).status;
}

const asUuid = (hex: string) => hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");

/** Calls until the index is complete: right after a start the answer is to try again. */
async function settled(hosted: TestHosted, call: () => Promise<number>): Promise<number> {
  for (let i = 0; i < 500; i++) {
    const status = await call();
    if (status !== 503) return status;
    await turn(hosted);
  }
  return 503;
}

test("a short token and a ping's address open their closed tenant, and wrong ones open none", async (t) => {
  const shop = await shopOf(t);
  const { hosted, ping, short, need } = shop;
  assert.equal(await send(shop, short), 200, "known as soon as it was answered");
  await atRest(hosted);
  const { opened } = hosted.role.tenants.stats();
  const wrong = "0".repeat(32);
  assert.equal(await settled(hosted, () => send(shop, wrong)), 401);
  assert.equal((await hosted.call("GET", `/ping/${"a".repeat(22)}`)).status, 404);
  assert.equal((await hosted.call("GET", `/ping/${wrong}/backup?create=1`)).status, 404);
  assert.equal(hosted.role.tenants.stats().opened, opened, "nothing is opened for a stranger");

  assert.equal(await send(shop, asUuid(short).toUpperCase()), 200);
  assert.equal(hosted.role.tenants.stats().opened, opened + 1);
  await atRest(hosted);
  assert.deepEqual((await hosted.call("GET", ping)).body, "OK");
  assert.equal(hosted.role.tenants.stats().opened, opened + 2);
  const { alerts } = await need("GET", "/v1/alerts");
  assert.equal((alerts as unknown[] | undefined)?.length, 1);
});

test("a calendar's address opens its closed tenant, and a replaced address opens none", async (t) => {
  const shop = await shopOf(t);
  const { hosted, need } = shop;
  const make = async () =>
    String((await need("POST", "/v1/accounts/me/calendars", {}))["calendar_url"]).replace(
      /^.*(?=\/calendar\/)/,
      "",
    );
  const [old, now] = [await make(), await make()];
  await atRest(hosted);
  const { opened } = hosted.role.tenants.stats();
  const get = (path: string) =>
    settled(hosted, async () => (await hosted.call("GET", path)).status);
  assert.equal(await get(old), 404);
  assert.equal(hosted.role.tenants.stats().opened, opened, "nothing is opened for a stranger");
  assert.equal(await get(now), 200);
  assert.equal(hosted.role.tenants.stats().opened, opened + 1);
});

test("a rotated or deleted token opens nothing, also after the tenant is closed", async (t) => {
  const shop = await shopOf(t);
  const { hosted, ping, short, heartbeat, need } = shop;
  const next = await need("POST", "/v1/projects/shop/sources/am/rotate-token", {});
  await need("DELETE", `/v1/projects/shop/heartbeats/${heartbeat}`);
  await atRest(hosted);
  const { opened } = hosted.role.tenants.stats();
  assert.equal(await settled(hosted, () => send(shop, short)), 401);
  assert.equal((await hosted.call("GET", ping)).status, 404);
  assert.equal(hosted.role.tenants.stats().opened, opened);
  assert.equal(await send(shop, next["short_token"] ?? ""), 200);
});

test("a slug's first ping makes its heartbeat in the tenant of the token", async (t) => {
  const shop = await shopOf(t);
  const { hosted, need } = shop;
  const { sources } = await need("GET", "/v1/projects/shop/sources");
  const jobs = (sources as unknown as { name: string; kind: string }[]).find(
    ({ kind }) => kind === "heartbeats",
  );
  const path = `/v1/projects/shop/sources/${jobs?.name}/rotate-token`;
  const { short_token: short } = await need("POST", path, {});
  await atRest(hosted);
  assert.equal((await hosted.call("POST", `/ping/${short}/nightly?create=1`)).status, 201);
  assert.equal((await hosted.call("POST", `/ping/${short}/nightly/0`)).status, 200);
});

test("a job that stays silent while its tenant is closed is an alert", async (t) => {
  const { hosted, ping, need } = await shopOf(t);
  assert.equal((await hosted.call("GET", ping)).status, 200);
  await atRest(hosted);
  for (let left = 4500; left > 0; left -= 15) await hosted.clock.turn(15_000);
  const open = async () => {
    const { alerts } = await need("GET", "/v1/alerts");
    return (alerts as unknown as { last_message: string }[]).map(
      ({ last_message }) => last_message,
    );
  };
  for (let i = 0; i < 500 && (await open()).length === 0; i++) await turn(hosted);
  assert.match((await open())[0] ?? "", /^backup: no ping since /);
});

test("an index that is behind its stores asks to try again, never answers not_found, and is rebuilt at the start", async (t) => {
  const shop = await shopOf(t);
  const { hosted, short, ping } = shop;
  // The disk as a kill between a tenant's commit and the index would leave it.
  const image = `${hosted.data}-image`;
  cpSync(hosted.data, image, { recursive: true, preserveTimestamps: true });
  t.after(() => rmSync(image, { recursive: true, force: true }));
  await hosted.stopServing();
  for (const name of readdirSync(hosted.data))
    rmSync(join(hosted.data, name), { recursive: true, force: true });
  cpSync(image, hosted.data, { recursive: true, preserveTimestamps: true });
  const registry = new Database(join(hosted.data, "hosted.db"));
  registry.exec("DELETE FROM sender_links");
  registry.close();
  await hosted.serveAgain();
  assert.equal(await settled(hosted, () => send(shop, short)), 200);
  assert.equal((await hosted.call("GET", ping)).status, 200);
  assert.equal(await settled(hosted, () => send(shop, "0".repeat(32))), 401);
});

test("the tokens in a restored store are known after the next start", async (t) => {
  const shop = await shopOf(t);
  const { hosted, short, need } = shop;
  const stores = join(hosted.data, "tenants");
  const kept = join(hosted.data, "kept");
  await hosted.stopServing();
  cpSync(stores, kept, { recursive: true, preserveTimestamps: true });
  await hosted.serveAgain();
  const next = await need("POST", "/v1/projects/shop/sources/am/rotate-token", {});
  await hosted.stopServing();
  rmSync(stores, { recursive: true });
  cpSync(kept, stores, { recursive: true, preserveTimestamps: true });
  await hosted.serveAgain();
  assert.equal(await settled(hosted, () => send(shop, short)), 200);
  assert.equal(await settled(hosted, () => send(shop, next["short_token"] ?? "")), 401);
});
