import assert from "node:assert/strict";
import test from "node:test";
import { type TestApp, testApp } from "../../support/app.ts";

const token = (n: number) => n.toString(16).padStart(64, "0");

const register = (app: TestApp, key: string, body: object) =>
  app.call("POST", "/v1/devices", { key, body });

const devices = async (app: TestApp, key: string) =>
  (await app.call("GET", "/v1/devices", { key })).body.devices;

test("a device is registered, read with ISO times, overwritten and removed", async (t) => {
  const app = testApp(t);
  const { key } = app.person("member");
  const upper = "AB".repeat(32);
  const first = { token: upper, platform: "ios", critical_alerts: true };
  const answer = await register(app, key, first);
  assert.deepEqual([answer.status, answer.body], [200, { registered: true }]);
  const created_at = "2026-01-05T09:00:00Z";
  const lower = upper.toLowerCase();
  const kept = { ...first, token: lower, created_at, last_seen_at: created_at };
  assert.deepEqual(await devices(app, key), [kept]);

  await app.clock.turn(90_000);
  assert.equal((await register(app, key, { token: lower, platform: "watch" })).status, 200);
  const anew = { token: lower, platform: "watch", critical_alerts: false };
  const last_seen_at = "2026-01-05T09:01:30Z";
  assert.deepEqual(await devices(app, key), [{ ...anew, created_at, last_seen_at }]);

  const gone = await app.call("DELETE", `/v1/devices/${upper}`, { key });
  assert.deepEqual([gone.status, gone.body], [204, ""]);
  assert.equal(gone.headers.get("content-type"), null);
  assert.equal((await app.call("DELETE", `/v1/devices/${upper}`, { key })).status, 404);
  assert.equal((await app.call("DELETE", "/v1/devices/short", { key })).status, 404);
});

test("a device as it was read can be sent back", async (t) => {
  const app = testApp(t);
  const { key } = app.person("member");
  await register(app, key, { token: token(1), platform: "ios" });
  const [device] = await devices(app, key);
  assert.equal((await register(app, key, device)).status, 200);
});

test("devices are the account's: one handset may be two accounts', and neither sees the other's", async (t) => {
  const app = testApp(t);
  const [a, b] = [app.person("owner"), app.person("member")];
  await register(app, a.key, { token: token(1), platform: "ios" });
  await register(app, b.key, { token: token(1), platform: "ios" });
  await register(app, b.key, { token: token(2), platform: "ios" });
  assert.equal((await devices(app, a.key)).length, 1);
  assert.equal((await app.call("DELETE", `/v1/devices/${token(2)}`, { key: a.key })).status, 404);
  assert.equal((await app.call("DELETE", `/v1/devices/${token(1)}`, { key: a.key })).status, 204);
  assert.equal((await devices(app, b.key)).length, 2);
});

test("an account has twenty devices and can still report each of them anew", async (t) => {
  const app = testApp(t);
  const { key } = app.person("member");
  for (let n = 0; n < 20; n++) {
    assert.equal((await register(app, key, { token: token(n), platform: "ios" })).status, 200);
  }
  const refused = await register(app, key, { token: token(20), platform: "ios" });
  assert.deepEqual([refused.status, refused.body.error.code], [422, "too_many_devices"]);
  assert.equal((await register(app, key, { token: token(7), platform: "tv" })).status, 200);
  assert.equal((await devices(app, key)).length, 20);
  await app.call("DELETE", `/v1/devices/${token(7)}`, { key });
  assert.equal((await register(app, key, { token: token(20), platform: "ios" })).status, 200);
});

test("what is missing or of another type is 400, a token of another form 422", async (t) => {
  const app = testApp(t);
  const { key } = app.person("member");
  const good = { token: token(1), platform: "ios" };
  const cases: [object, number][] = [
    [{ ...good, token: undefined }, 400],
    [{ ...good, platform: undefined }, 400],
    [{ ...good, token: 5 }, 400],
    [{ ...good, platform: "" }, 400],
    [{ ...good, platform: "x".repeat(33) }, 400],
    [{ ...good, critical_alerts: "yes" }, 400],
    [{ ...good, colour: "red" }, 400],
    [{ ...good, token: "" }, 422],
    [{ ...good, token: token(1).slice(1) }, 422],
    [{ ...good, token: `${token(1)}0` }, 422],
    [{ ...good, token: "g".repeat(64) }, 422],
    [{ ...good, token: `${token(1)}\n` }, 422],
    [{ ...good, platform: "x".repeat(32) }, 200],
  ];
  for (const [body, status] of cases) {
    assert.equal((await register(app, key, body)).status, status, JSON.stringify(body));
  }
  assert.equal((await register(app, "ptk_x", good)).status, 401);
});
