import assert from "node:assert/strict";
import { test } from "node:test";
import { testBox } from "../support/box.ts";
import { answer, startReceiver } from "../support/receiver.ts";
import { settle } from "../support/until.ts";

test("a phone with the ntfy app is rung, and its topic and token are never read again", async () => {
  const server = await startReceiver();
  const box = await testBox();
  try {
    const token = await box.project("shop");
    await box.api("POST", "/v1/projects/shop/rules", { name: "errors", match: { min_level: 400 } });
    const path = "/v1/projects/shop/integrations";
    const bad = await box.api("POST", path, { type: "ntfy", topic: "no spaces" });
    assert.deepEqual([bad.status, bad.body.error.details[0].field], [400, "/topic"]);
    const missing = await box.api("POST", path, { type: "ntfy" });
    assert.deepEqual([missing.status, missing.body.error.code], [422, "missing_credential"]);
    server.always(answer(200, { id: "sPs71M8A2T", event: "message" }));
    const topic = "ops-canary-topic";
    const write = { type: "ntfy", topic, server: server.url, access_token: "tk_canary" };
    const { id } = (await box.api("POST", path, write)).body;
    const read = (await box.api("GET", `${path}/${id}`)).body;
    assert.equal(read.url, server.url);
    assert.equal(JSON.stringify(read).includes("canary"), false);

    await box.ingest(token, { message: "payment 4711 failed", level: 500 });
    await settle(box);
    const [page] = server.received;
    const said = JSON.parse(page?.body ?? "");
    assert.deepEqual([said.topic, said.priority], [topic, 5]);
    assert.match(said.title, /^CRITICAL shop: payment 4711 failed/);
    assert.match(said.message, /rule errors/);
    assert.equal(page?.headers["authorization"], "Bearer tk_canary");

    const fired = (await box.api("POST", `${path}/${id}/test`)).body;
    assert.equal(fired.ok, true);
  } finally {
    await box.stop();
    await server.close();
  }
});
