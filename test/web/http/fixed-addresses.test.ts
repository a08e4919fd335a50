import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { samples } from "../../in/adapters/samples.ts";
import { type TestBox, testBox } from "../../support/box.ts";

let box: TestBox;
const tokens = new Map<string, { token: string; short: string }>();
before(async () => {
  box = await testBox({ adaptersListen: "127.0.0.1:0" });
  await box.project("p");
  await box.api("POST", "/v1/projects/p/rules", { name: "any" });
  for (const kind of ["prometheus", "pagerduty", "opsgenie", "oncall", "victorops"]) {
    const { body } = await box.api("POST", "/v1/projects/p/sources", { name: kind, kind });
    tokens.set(kind, { token: body.token, short: body.short_token });
  }
});
after(() => box.stop());

/** The first sample of a kind, at its maker's address: path and headers. */
function request(kind: string): [path: string, body: string, headers: Record<string, string>] {
  const { token = "", short = "" } = tokens.get(kind) ?? {};
  const body = samples[kind]?.[0]?.body.toString() ?? "";
  switch (kind) {
    case "prometheus":
      return [
        "/api/v2/alerts",
        JSON.stringify([JSON.parse(body)[0]]),
        { authorization: `Bearer ${token}` },
      ];
    case "pagerduty":
      return ["/v2/enqueue", JSON.stringify({ ...JSON.parse(body), routing_key: short }), {}];
    case "opsgenie":
      return ["/v2/alerts", body, { authorization: `GenieKey ${short}` }];
    case "oncall":
      return [`/integrations/v1/formatted_webhook/${token}/`, body, {}];
    default:
      return [`/integrations/generic/20131114/alert/${short}/storage`, body, {}];
  }
}

async function send(base: string, kind: string): Promise<number> {
  const [path, body, headers] = request(kind);
  const answer = await fetch(base + path, { method: "POST", body, headers });
  await answer.arrayBuffer();
  return answer.status;
}

describe("addresses that senders insist on", () => {
  test("are served at a listener of their own, and not on the box's own port", async () => {
    for (const kind of tokens.keys()) {
      assert.ok([200, 202].includes(await send(box.adaptersUrl, kind)), kind);
      assert.equal(await send(box.url, kind), 404, kind);
    }
    const { alerts } = (await box.api("GET", "/v1/alerts")).body;
    assert.equal(alerts.length, 5);
  });

  test("that listener serves nothing of the box's own, and no address without a token", async () => {
    const get = async (path: string, init: RequestInit = {}) =>
      (await fetch(box.adaptersUrl + path, init)).status;
    const key = { headers: { authorization: `Bearer ${box.owner.key}` } };
    for (const path of ["/", "/v1/alerts", "/v1/me", "/readyz", "/metrics", "/v1/openapi.json"])
      assert.equal(await get(path, key), 404, path);
    assert.equal(await get("/v2/alerts", { method: "POST", body: "{}" }), 401);
    assert.equal(await get("/integrations/v1/webhook/nonsense/", { method: "POST" }), 401);
    assert.equal(await get("/api/v2/alerts", key), 200, "amtool and karma read there too");
  });

  test("are served on the box's own port where that is asked for", async () => {
    const open = await testBox({ adaptersHere: true });
    try {
      const refused = await fetch(`${open.url}/v2/alerts`, { method: "POST", body: "{}" });
      assert.equal(refused.status, 401);
      assert.equal((await fetch(`${open.url}/v2/nothing`)).status, 404);
      assert.equal((await open.api("DELETE", "/v1/me")).status, 405);
    } finally {
      await open.stop();
    }
  });
});
