import assert from "node:assert/strict";
import test from "node:test";
import { signature } from "../../../src/ground/kit/sign.ts";
import { checkEvent } from "../../../src/in/ingest/event.ts";
import { type TestApp, testApp } from "../../support/app.ts";
import fc from "../../support/property.ts";
import { answer, type Behaviour, startReceiver } from "../../support/receiver.ts";

const SECRET = "s".repeat(43);
const URL_1 = "https://relay.example/v1/relay/rk_0123456789abcdef";
const URL_2 = "https://relay.example/v1/relay/rk_fedcba9876543210";

const put = (app: TestApp, key: string, body: object) =>
  app.call("PUT", "/v1/relay", { key, body: { relay_url: URL_1, relay_secret: SECRET, ...body } });

const rows = (app: TestApp) =>
  app.tenant.store
    .sql(
      `SELECT p.name AS project, p.version, count(i.id) AS n, max(i.url) AS url, max(i.event_filter) AS events
       FROM projects p LEFT JOIN integrations i ON i.project_id = p.id AND i.relay = 1
       GROUP BY p.id ORDER BY p.id`,
    )
    .all() as { project: string; version: number; n: number; url: string; events: string }[];

const stored = (app: TestApp) =>
  app.tenant.store
    .sql("SELECT hosted_tenant_id AS tenant, box_public_url AS url, announce_at AS at FROM relay")
    .get();

test("a relay is configured by a manager, read by anyone, and its secret by nobody", async (t) => {
  const app = testApp(t);
  const [owner, member] = [app.person("owner"), app.person("member")];
  const none = { configured: false, name: "hosted-relay", relay_url: "" };
  assert.deepEqual((await app.call("GET", "/v1/relay", { key: member.key })).body, none);
  assert.equal((await put(app, member.key, {})).status, 403);
  assert.equal((await app.call("PUT", "/v1/relay", {})).status, 401);
  assert.deepEqual((await put(app, owner.key, {})).body, { relay_url: URL_1 });
  const read = await app.call("GET", "/v1/relay", { key: member.key });
  assert.deepEqual(read.body, { configured: true, name: "hosted-relay", relay_url: URL_1 });
  const file = app.tenant.store.sql("SELECT sealed_secret FROM relay").pluck().get();
  assert.match(String(file), /^v1\./);
  assert.ok(!String(file).includes(SECRET));
  const back = await put(app, owner.key, read.body);
  assert.equal(back.status, 200, "what was read can be sent back");
});

test("what is no credential, no address or unknown is refused by name", async (t) => {
  const app = testApp(t);
  const { key } = app.person("owner");
  const refused = async (body: object) => {
    const { status, body: answer } = await put(app, key, body);
    return [status, answer.error?.details?.[0]?.field];
  };
  for (const [body, field] of [
    [{ relay_secret: "s".repeat(31) }, "/relay_secret"],
    [{ relay_secret: "s".repeat(129) }, "/relay_secret"],
    [{ relay_secret: undefined }, "/relay_secret"],
    [{ relay_url: "ftp://relay.example" }, "/relay_url"],
    [{ relay_url: "relay.example" }, "/relay_url"],
    [{ hosted_tenant_id: "t".repeat(65) }, "/hosted_tenant_id"],
    [{ box_public_url: "https://user:pw@box.example" }, "/box_public_url"],
    [{ relay_key: "x" }, "/relay_key"],
  ] as const)
    assert.deepEqual(await refused(body), [400, field], JSON.stringify(body));
  assert.deepEqual(await refused({ relay_url: "http://169.254.169.254/" }), [403, "/relay_url"]);
  for (const length of [32, 128])
    assert.equal((await put(app, key, { relay_secret: "s".repeat(length) })).status, 200);
});

test("the box's address is recorded only together with its hosted id, and kept when left out", async (t) => {
  const app = testApp(t);
  const { key } = app.person("owner");
  await put(app, key, { hosted_tenant_id: "t1" });
  assert.deepEqual(stored(app), { tenant: null, url: null, at: null });
  await put(app, key, { box_public_url: "https://box.example" });
  assert.deepEqual(stored(app), { tenant: null, url: null, at: null });
  const at = Math.floor(app.clock.now() / 1000);
  await put(app, key, { hosted_tenant_id: "t1", box_public_url: "https://box.example" });
  const known = { tenant: "t1", url: "https://box.example", at };
  assert.deepEqual(stored(app), known);
  await put(app, key, { hosted_tenant_id: "t2" });
  assert.deepEqual(stored(app), known);
});

test("every project has one relay row from the first PUT on, whatever the order; a new address moves all", async (t) => {
  const app = testApp(t);
  const { key } = app.person("owner");
  let made = 0;
  let configured: string | null = null;
  const step = fc.oneof(
    fc.constant({ do: "create" as const }),
    fc.record({ do: fc.constant("put" as const), url: fc.constantFrom(URL_1, URL_2) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 6 }), async (steps) => {
      for (const one of steps) {
        if (one.do === "put") {
          await put(app, key, { relay_url: one.url });
          configured = one.url;
        } else await app.call("POST", "/v1/projects", { key, body: { name: `p${made++}` } });
      }
      for (const row of rows(app)) {
        const wanted = configured === null ? [0, null] : [1, configured];
        assert.deepEqual([row.n, row.url], wanted, row.project);
        if (configured !== null)
          assert.equal(row.events, "alert.escalated,alert.opened,alert.renotified");
      }
    }),
    { numRuns: 25 },
  );
});

test("a new credential at the same address changes no project's version, a new address does", async (t) => {
  const app = testApp(t);
  const { key } = app.person("owner");
  await app.call("POST", "/v1/projects", { key, body: { name: "shop" } });
  const version = () => rows(app)[0]?.version;
  await put(app, key, {});
  assert.equal(version(), 2);
  await put(app, key, { relay_secret: "z".repeat(43) });
  assert.equal(version(), 2);
  await put(app, key, { relay_url: URL_2 });
  assert.equal(version(), 3);
});

test("a relay row that was disabled stays so", async (t) => {
  const app = testApp(t);
  const { key } = app.person("owner");
  await app.call("POST", "/v1/projects", { key, body: { name: "shop" } });
  await put(app, key, {});
  const list = await app.call("GET", "/v1/projects/shop/integrations", { key });
  const path = `/v1/projects/shop/integrations/${list.body.integrations[0].id}`;
  assert.equal((await app.call("POST", `${path}/disable`, { key })).status, 200);
  await put(app, key, { relay_url: URL_2 });
  const read = await app.call("GET", path, { key });
  assert.deepEqual([read.body.enabled, read.body.url], [false, URL_2]);
  assert.equal((await app.call("DELETE", path, { key })).status, 409);
});

test("a relay is removed by a manager: from every project, with what waited for it, and not from later ones", async (t) => {
  const app = testApp(t);
  const [owner, member] = [app.person("owner"), app.person("member")];
  const remove = (key: string) => app.call("DELETE", "/v1/relay", { key });
  assert.equal((await remove(owner.key)).status, 404, "there is none yet");
  await app.call("POST", "/v1/projects", { key: owner.key, body: { name: "shop" } });
  const { body: source } = await app.call("POST", "/v1/projects/shop/sources", {
    key: owner.key,
    body: { name: "web" },
  });
  await app.call("POST", "/v1/projects/shop/rules", { key: owner.key, body: { name: "any" } });
  await put(app, owner.key, {});
  const version = rows(app)[0]?.version ?? 0;
  const opened = await new Promise((resolve) => {
    const { ingest } = app.tenant;
    const from = ingest.authenticate(source.token);
    assert.ok(from);
    ingest.submit(from, [checkEvent({ message: "disk full", level: 400 }, "")], (_error, answers) =>
      resolve(answers?.[0]),
    );
  });
  assert.equal((opened as { alerted: boolean }).alerted, true);
  assert.equal((await remove(member.key)).status, 403);
  const removed = await remove(owner.key);
  assert.deepEqual([removed.status, removed.body], [200, { deleted: true, dropped_deliveries: 1 }]);
  const none = { configured: false, name: "hosted-relay", relay_url: "" };
  assert.deepEqual((await app.call("GET", "/v1/relay", { key: member.key })).body, none);
  assert.deepEqual([rows(app)[0]?.n, rows(app)[0]?.version], [0, version + 1]);
  const { timeline } = (await app.call("GET", "/v1/alerts/1/timeline", { key: owner.key })).body;
  assert.deepEqual(timeline.at(-1).detail, {
    integration: "hosted-relay",
    type: "webhook",
    event: "alert.opened",
    attempts: 0,
    error: "the relay was removed",
  });
  assert.equal(timeline.at(-1).kind, "delivery_dropped");
  await app.call("POST", "/v1/projects", { key: owner.key, body: { name: "later" } });
  assert.deepEqual(
    rows(app).map(({ n }) => n),
    [0, 0],
  );
  assert.equal((await remove(owner.key)).status, 404, "and there is none any more");
});

test("with test, a relay is wired only once it has answered a signed test", async (t) => {
  const app = testApp(t);
  const { key } = app.person("owner");
  const relay = await startReceiver();
  t.after(() => relay.close());
  const path = "/v1/relay/rk_0123456789abcdef";
  const proved = (more: object = {}) =>
    put(app, key, { relay_url: `${relay.url}${path}`, test: true, ...more });
  const configured = async () => (await app.call("GET", "/v1/relay", { key })).body.relay_url;

  const at = (seconds: number) => ({
    date: new Date(app.clock.now() + seconds * 1000).toUTCString(),
  });
  const refusals: [Behaviour, string, RegExp][] = [
    [answer(401, {}), "/relay_secret", /doesn't know this key/],
    [answer(404, {}), "/relay_url", /http 404/],
    [answer(200, "<p>hello"), "/relay_url", /no relay/],
    [answer(200, { ok: true }), "/relay_url", /no relay/],
    [answer(204), "/relay_url", /no relay/],
    [answer(400, {}, at(1000)), "/relay_url", /clock is 1000 s behind/],
    [answer(503, {}), "/relay_url", /http 503/],
  ];
  for (const [behaviour, field, reason] of refusals) {
    relay.once(behaviour);
    const refused = await proved();
    assert.deepEqual([refused.status, refused.body.error.code], [422, "relay_not_proved"]);
    assert.equal(refused.body.error.details[0].field, field);
    assert.match(refused.body.error.details[0].reason, reason);
    assert.match(refused.body.error.message, /[Nn]othing was changed/);
    assert.equal(await configured(), "");
  }
  const unreachable = await proved({ relay_url: `http://127.0.0.1:9${path}` });
  assert.deepEqual([unreachable.status, await configured()], [422, ""]);

  relay.once(answer(200, { relayed: false, devices: 0 }));
  assert.equal((await proved()).status, 200);
  assert.equal(await configured(), `${relay.url}${path}`);
  const test = relay.received.findLast(({ body }) => JSON.parse(body).event === "box.test");
  assert.ok(test);
  const stamp = test.headers["x-service-timestamp"] ?? "";
  assert.equal(test.headers["x-service-signature"], signature(SECRET, stamp, test.body));

  relay.once(answer(401, {}));
  const wrong = await proved({
    relay_secret: "z".repeat(43),
    relay_url: `${relay.url}/v1/relay/rk_2`,
  });
  assert.equal(wrong.status, 422);
  assert.equal(await configured(), `${relay.url}${path}`, "what was wired before stays");
});

test("on a hosted tenant there is nothing to configure", async (t) => {
  const app = testApp(t, { role: "hosted" });
  const { key } = app.person("owner");
  const read = await app.call("GET", "/v1/relay", { key });
  assert.deepEqual(read.body, { configured: false, name: "", relay_url: "" });
  assert.equal((await put(app, key, {})).status, 404);
  assert.equal((await app.call("DELETE", "/v1/relay", { key })).status, 404);
});
