import assert from "node:assert/strict";
import { cpSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { type TestHosted, testHosted } from "../support/hosted-role.ts";

/** A stranger who knows a hosted tenant's id can't get its store opened, and no valid token is ever refused. */

const SECRET = "x".repeat(43);

interface Keeper {
  tid: string;
  key: string;
}

async function keeper(hosted: TestHosted): Promise<Keeper> {
  return hosted.desk(async (desk) => {
    const { tenant_id: tid } = await desk.addTenant({ kind: "hosted" });
    const email = "ada@example.com";
    return { tid, key: (await desk.addKey({ tenant: tid, email })).api_key };
  });
}

async function hostedFor(t: TestContext): Promise<TestHosted> {
  const hosted = await testHosted();
  t.after(() => hosted.stop());
  return hosted;
}

/** Waits until every tenant is closed and its closing is written. */
async function atRest(hosted: TestHosted): Promise<void> {
  for (let i = 0; i < 200 && hosted.role.tenants.stats().open > 0; i++) {
    await hosted.clock.turn(15_000);
    await pause(5);
  }
  assert.equal(hosted.role.tenants.stats().open, 0);
}

const withKey = async (hosted: TestHosted, key: string) =>
  (await hosted.call("GET", "/v1/projects", { token: key })).status;

const withToken = async (hosted: TestHosted, token: string) =>
  (await hosted.call("POST", "/v1/ingest", { token, body: { message: "m" } })).status;

const made = async (hosted: TestHosted, { key: token }: Keeper, path: string, body: object) => {
  const answer = await hosted.call("POST", `/v1/projects${path}`, { token, body });
  assert.ok(answer.status < 300, JSON.stringify(answer.body));
  return answer.body;
};

/** Foreign tokens of both kinds that name the tenant are refused, and open nothing. */
async function refusesStrangers(hosted: TestHosted, { tid }: Keeper): Promise<void> {
  const before = hosted.role.tenants.stats().opened;
  assert.equal(await withKey(hosted, `ptk_${tid}_${SECRET}`), 401);
  assert.equal(await withToken(hosted, `pti_${tid}_${SECRET}`), 401);
  assert.equal(hosted.role.tenants.stats().opened, before);
}

test("a closed tenant is opened by its own keys and tokens only", async (t) => {
  const hosted = await hostedFor(t);
  const ada = await keeper(hosted);
  await refusesStrangers(hosted, ada);
  await made(hosted, ada, "", { name: "shop" });
  const { token } = await made(hosted, ada, "/shop/sources", { name: "app" });
  await atRest(hosted);
  await refusesStrangers(hosted, ada);
  assert.equal(await withToken(hosted, token), 202);
  await atRest(hosted);
  assert.equal(await withKey(hosted, ada.key), 200);
  await atRest(hosted);
  await hosted.stopServing();
  await hosted.serveAgain();
  await atRest(hosted);
  await refusesStrangers(hosted, ada);
  assert.equal(await withKey(hosted, ada.key), 200);
});

test("a token that was rotated away opens nothing once the tenant is closed", async (t) => {
  const hosted = await hostedFor(t);
  const ada = await keeper(hosted);
  await made(hosted, ada, "", { name: "shop" });
  const { token } = await made(hosted, ada, "/shop/sources", { name: "app" });
  const next = await made(hosted, ada, "/shop/sources/app/rotate-token", {});
  await atRest(hosted);
  const { opened } = hosted.role.tenants.stats();
  assert.equal(await withToken(hosted, token), 401);
  assert.equal(hosted.role.tenants.stats().opened, opened);
  assert.equal(await withToken(hosted, next.token), 202);
});

test("a key that the operator makes counts at once, whether the tenant is open or closed", async (t) => {
  const hosted = await hostedFor(t);
  const ada = await keeper(hosted);
  const another = () =>
    hosted.desk((desk) => desk.addKey({ tenant: ada.tid, email: "ben@example.com" }));
  await made(hosted, ada, "", { name: "shop" });
  const { api_key: whileOpen } = await another();
  await atRest(hosted);
  assert.equal(await withKey(hosted, whileOpen), 200);
  await atRest(hosted);
  const { api_key: whileClosed } = await another();
  await refusesStrangers(hosted, ada);
  assert.equal(await withKey(hosted, whileClosed), 200);
});

test("a restored store is opened by the tokens in it, not by those in the registry", async (t) => {
  const hosted = await hostedFor(t);
  const ada = await keeper(hosted);
  const stores = join(hosted.data, "tenants");
  const kept = join(hosted.data, "kept");
  await made(hosted, ada, "", { name: "shop" });
  const { token } = await made(hosted, ada, "/shop/sources", { name: "app" });
  await hosted.stopServing();
  cpSync(stores, kept, { recursive: true, preserveTimestamps: true });
  await hosted.serveAgain();
  const next = await made(hosted, ada, "/shop/sources/app/rotate-token", {});
  await hosted.stopServing();
  rmSync(stores, { recursive: true });
  cpSync(kept, stores, { recursive: true, preserveTimestamps: true });
  await hosted.serveAgain();
  assert.equal(await withToken(hosted, token), 202);
  assert.equal(await withToken(hosted, next.token), 401);
});

test("tokens made just before the process dies work after the restart", async (t) => {
  const hosted = await hostedFor(t);
  const ada = await keeper(hosted);
  await made(hosted, ada, "", { name: "shop" });
  await atRest(hosted);
  await refusesStrangers(hosted, ada);
  const { token } = await made(hosted, ada, "/shop/sources", { name: "app" });
  // The disk as a kill would leave it.
  const image = `${hosted.data}-image`;
  cpSync(hosted.data, image, { recursive: true, preserveTimestamps: true });
  t.after(() => rmSync(image, { recursive: true, force: true }));
  await hosted.stopServing();
  for (const name of readdirSync(hosted.data))
    rmSync(join(hosted.data, name), { recursive: true, force: true });
  cpSync(image, hosted.data, { recursive: true, preserveTimestamps: true });
  await hosted.serveAgain();
  assert.equal(await withToken(hosted, token), 202);
  assert.equal(await withKey(hosted, ada.key), 200);
});
