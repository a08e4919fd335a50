import assert from "node:assert/strict";
import test from "node:test";
import { testApp } from "../../support/app.ts";
import { testBox } from "../../support/box.ts";

test("every answer to a limited route says where the caller stands, errors too", async (t) => {
  const app = testApp(t, { rates: { api: 2 } });
  const { key } = app.person("member");
  const calls: [string, string, object | undefined, number][] = [
    ["GET", "/v1/projects", undefined, 200],
    ["GET", "/v1/projects?limit=x", undefined, 400],
    ["GET", "/v1/projects/none/sources", undefined, 404],
    ["DELETE", "/v1/projects/none", undefined, 403],
    ["POST", "/v1/projects", { name: "shop" }, 201],
    ["POST", "/v1/projects", { name: "shop" }, 409],
    ["POST", "/v1/devices", { token: "x", platform: "ios" }, 422],
    ["DELETE", `/v1/devices/${"0".repeat(64)}`, undefined, 404],
    ["HEAD", "/v1/projects", undefined, 200],
    ["GET", "/v1/me", undefined, 200],
    ["GET", "/v1/me", undefined, 429],
  ];
  let left = 10;
  for (const [method, path, body, status] of calls) {
    const answer = await app.call(method, path, { key, body });
    assert.equal(answer.status, status, path);
    left = Math.max(0, left - 1);
    assert.equal(answer.headers.get("ratelimit"), `"api";r=${left};t=1`, `${method} ${path}`);
    assert.equal(answer.headers.get("ratelimit-policy"), '"api";q=10;w=5');
    assert.equal(answer.headers.get("retry-after"), status === 429 ? "1" : null);
    assert.match(answer.headers.get("x-request-id") ?? "", /^[0-9a-f]{16}$/);
  }
});

test("a stranger spends an address's budget, never a key's", async (t) => {
  const app = testApp(t, { rates: { api: 1 } });
  const { key } = app.person("member");
  const unknown = `${key.slice(0, -1)}${key.endsWith("0") ? "1" : "0"}`;
  for (let left = 4; left >= 0; left--) {
    const answer = await app.call("GET", "/v1/me", { key: unknown });
    assert.equal(answer.status, 401);
    assert.equal(answer.headers.get("ratelimit"), `"failures";r=${left};t=1`);
  }
  assert.equal((await app.call("GET", "/v1/me", { key: unknown })).status, 429);
  assert.equal((await app.call("GET", "/v1/me", { key })).status, 200);
});

test("a limit that is off says nothing", async (t) => {
  const app = testApp(t);
  const { headers } = await app.call("GET", "/v1/me", { key: app.person("member").key });
  assert.equal(headers.get("ratelimit"), null);
  assert.equal(headers.get("ratelimit-policy"), null);
});

test("ingest says its rate also where it refuses", async () => {
  const limited = await testBox({ ingestRate: "100", apiRate: "100" });
  try {
    const token = await limited.project("p");
    for (const [key, event] of [
      [token, { message: "x" }],
      [token, { level: 1 }],
      [`pti_${limited.tenant.id}_${"x".repeat(43)}`, { message: "x" }],
      [token, { message: "x".repeat(3 * 1024 * 1024) }],
    ] as const) {
      const answer = await limited.ingest(key, event);
      assert.ok(answer.headers.get("ratelimit-policy"), String(answer.status));
    }
  } finally {
    await limited.stop();
  }
});
