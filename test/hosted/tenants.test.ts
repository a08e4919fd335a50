import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import type { HostedFlags } from "../../src/app/hosted-config.ts";
import type { Tenant } from "../../src/tenant/tenant.ts";
import { startFakeApns } from "../support/apns.ts";
import { plantWeeks } from "../support/counted-weeks.ts";
import { type TestHosted, testHosted, useApns } from "../support/hosted-role.ts";
import { answer, startReceiver } from "../support/receiver.ts";
import { BOT_TOKEN, telegramBot } from "../support/telegram-bot.ts";

interface Keeper {
  tid: string;
  /** An API key of an owner. */
  key: string;
  accountId: string;
}

async function hostedFor(t: TestContext, flags: HostedFlags = {}): Promise<TestHosted> {
  const hosted = await testHosted(flags);
  t.after(() => hosted.stop());
  return hosted;
}

async function keeper(hosted: TestHosted, email: string, tenant?: string): Promise<Keeper> {
  return hosted.desk(async (desk) => {
    const tid = tenant ?? (await desk.addTenant({ kind: "hosted" })).tenant_id;
    const { api_key: key, account_id: accountId } = await desk.addKey({ tenant: tid, email });
    return { tid, key, accountId };
  });
}

/** Creates a project with a source and a rule; returns its ingest token. */
async function project(hosted: TestHosted, { key: token }: Keeper, rule: object = {}) {
  const post = async (path: string, body: object) => {
    const made = await hosted.call("POST", path, { token, body });
    assert.equal(made.status, 201, `${path}: ${JSON.stringify(made.body)}`);
    return made.body;
  };
  await post("/v1/projects", { name: "shop" });
  await post("/v1/projects/shop/integrations", { type: "apns", name: "phones" });
  await post("/v1/projects/shop/rules", { name: "any", identifier_keys: ["host"], ...rule });
  return (await post("/v1/projects/shop/sources", { name: "app" })).token as string;
}

const fire = async (hosted: TestHosted, token: string, host = "a") => {
  const body = { message: "Disk is full", level: 400, keys: { host } };
  const taken = await hosted.call("POST", "/v1/ingest", { token, body });
  assert.deepEqual([taken.status, taken.body.alerted], [202, true]);
};

const register = (hosted: TestHosted, { key: token }: Keeper, device: string) =>
  hosted.call("POST", "/v1/devices", { token, body: { token: device, platform: "ios" } });

const device = (n: number) => n.toString(16).padStart(64, "0");

const PATIENCE_MS = 30_000;

/** Runs due work until `done`, without turning the clock. */
async function settle(hosted: TestHosted, done: () => boolean): Promise<void> {
  const start = performance.now();
  while (!done()) {
    if (performance.now() - start > PATIENCE_MS) throw new Error(`still not so: ${done}`);
    await hosted.clock.turn(0);
    await pause(1);
  }
}

async function pass(hosted: TestHosted, seconds: number, step = 5): Promise<void> {
  for (let left = seconds; left > 0; left -= step) {
    await hosted.clock.turn(Math.min(step, left) * 1000);
    await settle(hosted, () => hosted.role.scheduler.running === 0);
  }
}

/** With an APNs of its own. */
async function pushing(t: TestContext) {
  const hosted = await hostedFor(t);
  const apns = await startFakeApns();
  t.after(() => apns.close());
  await useApns(hosted, apns);
  return { hosted, apns };
}

const open = ({ role }: TestHosted) => role.tenants.stats().open;

test("an apns row pushes to the phones of the tenant's members, once for each event", async (t) => {
  const { hosted, apns } = await pushing(t);
  const ada = await keeper(hosted, "ada@example.com");
  const ben = await keeper(hosted, "ben@example.com", ada.tid);
  const eve = await keeper(hosted, "eve@example.com");
  for (const [n, who] of [ada, ben, eve].entries()) await register(hosted, who, device(n));
  const token = await project(hosted, ada, {
    escalations: [{ accounts: [ben.accountId], after_minutes: 5 }],
  });
  const second = await hosted.call("POST", "/v1/projects/shop/integrations", {
    token: ada.key,
    body: { type: "apns", name: "again" },
  });
  assert.equal(second.status, 201);
  const list = await hosted.call("GET", "/v1/projects/shop/integrations", { token: ada.key });
  assert.equal(list.body.integrations[0].device_count, 1);

  await fire(hosted, token);
  await settle(hosted, () => apns.delivered().length === 2);
  assert.deepEqual(apns.delivered().sort(), [device(0), device(1)]);
  await pass(hosted, 300, 15);
  await settle(hosted, () => apns.delivered().length === 3);
  assert.equal(apns.delivered()[2], device(1));

  const tested = await hosted.call(
    "POST",
    `/v1/projects/shop/integrations/${second.body.id}/test`,
    { token: ada.key },
  );
  assert.deepEqual([tested.status, tested.body.ok], [200, true]);
  await hosted.call("DELETE", `/v1/accounts/${ben.accountId}`, { token: ada.key });
});

test("somebody removed from the tenant is paged no more", async (t) => {
  const { hosted, apns } = await pushing(t);
  const ada = await keeper(hosted, "ada@example.com");
  const ben = await keeper(hosted, "ben@example.com", ada.tid);
  for (const [n, who] of [ada, ben].entries()) await register(hosted, who, device(n));
  const token = await project(hosted, ada);
  const gone = await hosted.call("DELETE", `/v1/accounts/${ben.accountId}`, { token: ada.key });
  assert.equal(gone.status, 200);
  await fire(hosted, token);
  await settle(hosted, () => apns.received.length > 0);
  await pass(hosted, 10);
  assert.deepEqual(apns.delivered(), [device(0)]);
});

test("whoever has no phone is not waited for", async (t) => {
  const { hosted, apns } = await pushing(t);
  const ada = await keeper(hosted, "ada@example.com");
  const ben = await keeper(hosted, "ben@example.com", ada.tid);
  await register(hosted, ada, device(0));
  const token = await project(hosted, ada, {
    escalations: [
      { accounts: [ben.accountId], after_minutes: 0 },
      { accounts: [ada.accountId], after_minutes: 30 },
    ],
  });
  await fire(hosted, token);
  await settle(hosted, () => apns.delivered().length === 2);
  assert.deepEqual(apns.delivered(), [device(0), device(0)]);
  await register(hosted, ben, device(1));
  await fire(hosted, token, "b");
  await settle(hosted, () => apns.delivered().includes(device(1)));
});

for (const how of ["deleted", "switched off"])
  test(`where a channel of pushes is ${how} while a push waits, others are paged then`, async (t) => {
    const hosted = await hostedFor(t);
    const ada = await keeper(hosted, "ada@example.com");
    const ben = await keeper(hosted, "ben@example.com", ada.tid);
    await register(hosted, ben, device(1));
    const token = await project(hosted, ada, {
      escalations: [{ accounts: [ben.accountId], after_minutes: 0 }],
    });
    const call = async (method: string, path: string, body?: object) => {
      const said = await hosted.call(method, path, { token: ada.key, ...(body && { body }) });
      assert.ok(said.status < 300, `${path}: ${JSON.stringify(said.body)}`);
      return said.body;
    };
    // No APNs key is set, so the push waits.
    await fire(hosted, token);
    await pass(hosted, 30, 15);
    const [{ id }] = (await call("GET", "/v1/alerts")).alerts;
    const kinds = async () =>
      (await call("GET", `/v1/alerts/${id}/timeline`)).timeline.map(
        ({ kind }: { kind: string }) => kind,
      );
    assert.ok(!(await kinds()).includes("fallback"));
    const channels = "/v1/projects/shop/integrations";
    const [phones] = (await call("GET", channels)).integrations;
    // Without any, a shared channel may be everybody's way.
    await call("POST", "/v1/projects", { name: "other" });
    await call("POST", "/v1/projects/other/integrations", { type: "apns" });
    if (how === "deleted") await call("DELETE", `${channels}/${phones.id}`);
    else await call("POST", `${channels}/${phones.id}/disable`);
    assert.ok((await kinds()).includes("fallback"), `${await kinds()}`);
  });

test("an idle tenant is closed, and opened for due work; the time between is no downtime", async (t) => {
  const receiver = await startReceiver();
  t.after(() => receiver.close());
  receiver.always(answer(204));
  const apns = await startFakeApns();
  t.after(() => apns.close());
  const hosted = await hostedFor(t, { egressAllow: ["127.0.0.0/8"] });
  await useApns(hosted, apns);
  const ada = await keeper(hosted, "ada@example.com");
  await register(hosted, ada, device(0));
  const token = await project(hosted, ada, {
    auto_resolve_quiet_minutes: 60,
    escalations: [{ accounts: [ada.accountId], after_minutes: 30 }],
  });
  await hosted.call("POST", "/v1/projects/shop/webhooks", {
    token: ada.key,
    body: { url: receiver.url },
  });
  await fire(hosted, token);
  await settle(hosted, () => receiver.received.length === 1);
  assert.equal(open(hosted), 1);
  await pass(hosted, 11 * 60);
  assert.equal(open(hosted), 0, "closed ten minutes after its last use");
  const started = hosted.role.tenants.stats().opened;
  await pass(hosted, 19 * 60 + 10);
  await settle(hosted, () => receiver.received.length === 2);
  assert.equal(JSON.parse(receiver.received[1]?.body ?? "").event, "alert.escalated");
  assert.equal(hosted.role.tenants.stats().opened, started + 1);
  await pass(hosted, 60);
  assert.equal(open(hosted), 0, "closed again as soon as that was done");
  await pass(hosted, 29 * 60 + 10);
  await settle(hosted, () => receiver.received.length === 3);
  const last = JSON.parse(receiver.received[2]?.body ?? "");
  assert.deepEqual([last.event, last.timestamp - last.first_seen < 3615], ["alert.resolved", true]);
});

test("what no longer comes is missing in time, though its tenant is closed", async (t) => {
  const hosted = await hostedFor(t);
  const ada = await keeper(hosted, "ada@example.com");
  const token = await project(hosted, ada, { missing: true, identifier_keys: [] });
  const call = (path: string) => hosted.call("GET", path, { token: ada.key });
  const { body } = await hosted.call("POST", "/v1/ingest", {
    token,
    body: { message: "backup has ended" },
  });
  await pass(hosted, 11 * 60, 15);
  const hour = Math.floor(hosted.clock.now() / 3_600_000) % 24;
  plantWeeks(
    { clock: hosted.clock, tenant: (await hosted.role.tenants.find(ada.tid)) as Tenant },
    {
      project: "shop",
      template: body.template_id,
      hoursOf: (back) => Array.from({ length: 24 }, (_, at) => (back > 0 || at < hour ? 2 : 0)),
      gap: 1200,
      back: 0,
    },
  );
  const last = Math.floor(hosted.clock.now() / 3_600_000) * 3600 - 1;
  const due = last + 3660;
  const { opened } = hosted.role.tenants.stats();
  await pass(hosted, due - hosted.clock.now() / 1000 - 10, 15);
  assert.equal(open(hosted), 0);
  assert.equal(hosted.role.tenants.stats().opened, opened, "nothing can be missing sooner");
  await pass(hosted, 30);
  const { alerts } = (await call("/v1/alerts")).body;
  assert.deepEqual(
    alerts.map(({ first_seen, opened_at }: Record<string, number>) => [first_seen, opened_at]),
    [[last, due]],
  );
});

test("a tenant stays open while a page can be answered through a service that it polls", async (t) => {
  const hosted = await hostedFor(t, { egressAllow: ["127.0.0.1/32"] });
  const [bot, receiver] = [telegramBot(), await startReceiver()];
  t.after(() => receiver.close());
  receiver.always(bot.behaviour);
  const ada = await keeper(hosted, "ada@example.com");
  const call = (method: string, path: string, body: object) =>
    hosted.call(method, path, { token: ada.key, body });
  const put = await call("PUT", "/v1/gateways/telegram", { token: BOT_TOKEN, url: receiver.url });
  assert.equal(put.status, 200, JSON.stringify(put.body));
  const contacts = "/v1/accounts/me/contacts";
  const made = await call("POST", contacts, { kind: "telegram", address: "4711" });
  await call("POST", `${contacts}/${made.body.id}/verify`, {});
  const code = /\d{3} \d{3}/.exec(bot.messages.get(88)?.text ?? "")?.[0];
  assert.equal((await call("POST", `${contacts}/${made.body.id}/verify`, { code })).status, 200);
  const token = await project(hosted, ada, { escalations: [{ accounts: [ada.accountId] }] });
  await pass(hosted, 900, 15);
  assert.equal(open(hosted), 0);

  await fire(hosted, token);
  await settle(hosted, () => bot.messages.size === 2);
  await pass(hosted, 900, 15);
  assert.equal(open(hosted), 1);
  const press = bot.press(4711, 89);
  await pass(hosted, 60, 1);
  assert.match(bot.answered.get(press)?.text ?? "", /is acknowledged by/);
  await pass(hosted, 900, 15);
  assert.equal(open(hosted), 0);
});

test("the service's downtime doesn't count as quiet for a closed tenant, either", async (t) => {
  const hosted = await hostedFor(t);
  const ada = await keeper(hosted, "ada@example.com");
  const token = await project(hosted, ada, { auto_resolve_quiet_minutes: 60 });
  await fire(hosted, token);
  await pass(hosted, 15 * 60, 15);
  assert.equal(open(hosted), 0);
  await hosted.stopServing();
  await hosted.clock.turn(3_600_000);
  await hosted.serveAgain();
  await pass(hosted, 40 * 60, 15);
  const state = async () =>
    (await hosted.call("GET", "/v1/alerts/1", { token: ada.key })).body.state;
  assert.equal(await state(), "open");
  await pass(hosted, 6 * 60, 15);
  assert.equal(await state(), "resolved");
});

test("a public report's address finds it, with its tenant open or closed, until it is rotated", async (t) => {
  const hosted = await hostedFor(t);
  const ada = await keeper(hosted, "ada@example.com");
  await project(hosted, ada);
  const reports = "/v1/projects/shop/reports";
  const made = await hosted.call("POST", reports, { token: ada.key, body: { title: "Outage" } });
  const page = (uuid: string) => hosted.call("GET", `/public/reports/${uuid}`);
  const { id, public_uuid: uuid } = made.body;
  assert.match((await page(uuid)).body, /Outage/);
  await pass(hosted, 11 * 60, 15);
  assert.equal(open(hosted), 0);
  assert.equal((await page(uuid)).status, 200);
  const rotated = await hosted.call("POST", `${reports}/${id}/rotate-uuid`, { token: ada.key });
  assert.equal((await page(uuid)).status, 404);
  assert.equal((await page(rotated.body.public_uuid)).status, 200);
  assert.equal((await page("00000000-0000-4000-8000-000000000000")).status, 404);
});

test("ingest is limited by plan, and a new plan applies while the tenant is open", async (t) => {
  const hosted = await testHosted({ planRates: true });
  t.after(() => hosted.stop());
  const ada = await keeper(hosted, "ada@example.com");
  const token = await project(hosted, ada);
  const lines = (n: number) =>
    Array.from({ length: n }, (_, i) => `{"message":"m ${i}"}`).join("\n");
  const post = (n: number) =>
    fetch(`${hosted.url}/v1/ingest`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/x-ndjson" },
      body: lines(n),
    });
  const first = await post(500);
  assert.deepEqual(
    [first.status, first.headers.get("ratelimit-policy")],
    [202, '"ingest";q=500;w=10'],
  );
  assert.equal((await post(1)).status, 429);
  await hosted.desk((desk) => desk.setTenant(ada.tid, { plan: "pro" }));
  await pass(hosted, 15);
  assert.equal((await post(1000)).headers.get("ratelimit-policy"), '"ingest";q=10000;w=10');
});

test("at the limit of open tenants a quiet one is closed, else a new one must wait", async (t) => {
  const hosted = await hostedFor(t, { openTenants: "2" });
  const three = [];
  for (const name of ["ada", "ben", "cat"]) three.push(await keeper(hosted, `${name}@example.com`));
  const me = (who: Keeper | undefined) => hosted.call("GET", "/v1/me", { token: who?.key ?? "" });
  const [ada, ben, cat] = three;
  assert.equal((await me(ada)).status, 200);
  await pass(hosted, 60);
  assert.equal((await me(ben)).status, 200);
  const refused = await me(cat);
  assert.deepEqual([refused.status, refused.headers.get("retry-after")], [429, "5"]);
  await pass(hosted, 65);
  assert.equal((await me(cat)).status, 200);
  assert.equal(open(hosted), 2);
  assert.equal((await me(ben)).status, 200, "the one used last stayed");
});

test("tokens of unknown tenants and of box tenants open nothing, and no file is made for them", async (t) => {
  const hosted = await hostedFor(t);
  const box = await hosted.desk(async (desk) => (await desk.addTenant({ kind: "box" })).tenant_id);
  for (const tid of [box, "0123456789abcdef"]) {
    const answers = [
      await hosted.call("GET", "/v1/projects", { token: `ptk_${tid}_${"x".repeat(43)}` }),
      await hosted.call("POST", "/v1/ingest", { token: `pti_${tid}_${"x".repeat(43)}`, body: {} }),
    ];
    assert.deepEqual(
      answers.map(({ status }) => status),
      [401, 401],
    );
  }
  assert.deepEqual(readdirSync(join(hosted.data, "tenants")), []);
  await assert.rejects(
    hosted.desk((desk) => desk.addKey({ tenant: box, email: "a@example.com" })),
    /mints its own keys/,
  );
});

test("a damaged file closes its tenant and no other", async (t) => {
  const hosted = await hostedFor(t);
  const [ada, ben] = [
    await keeper(hosted, "ada@example.com"),
    await keeper(hosted, "ben@example.com"),
  ];
  const path = join(hosted.data, "tenants", `${ada.tid}.db`);
  for (const tail of ["-wal", "-shm"]) if (existsSync(path + tail)) writeFileSync(path + tail, "");
  const bytes = readFileSync(path);
  writeFileSync(path, bytes.fill(0x5a, 0, 4096));
  const me = (who: Keeper) => hosted.call("GET", "/v1/me", { token: who.key });
  assert.deepEqual((await me(ada)).body.error.code, "not_ready");
  assert.equal((await me(ben)).status, 200);
});

test("a secret sealed in one tenant can't be opened in another", async (t) => {
  const hosted = await hostedFor(t);
  const [ada, ben] = [
    await keeper(hosted, "ada@example.com"),
    await keeper(hosted, "ben@example.com"),
  ];
  const of = async (who: Keeper) => (await hosted.role.tenants.find(who.tid)) as Tenant;
  const [a, b] = [await of(ada), await of(ben)];
  const sealed = a.sealer.seal("secret", "integrations.sealed.1");
  assert.equal(a.sealer.open(sealed, "integrations.sealed.1"), "secret");
  assert.equal(b.sealer.open(sealed, "integrations.sealed.1"), null);
});
