import assert from "node:assert/strict";
import { test } from "node:test";
import { testBox } from "../support/box.ts";
import {
  bodyOf,
  GOTIFY_TOKEN,
  gotifyServer,
  PUSHOVER_TOKEN,
  PUSHOVER_USER,
  pushoverServer,
} from "../support/pushes.ts";
import { startReceiver } from "../support/receiver.ts";
import { settle } from "../support/until.ts";

test("a phone with the Gotify app is rung, and its token is never read again", async () => {
  const server = await startReceiver();
  server.always(gotifyServer());
  const box = await testBox();
  try {
    const token = await box.project("shop");
    await box.api("POST", "/v1/projects/shop/rules", { name: "errors", match: { min_level: 400 } });
    const path = "/v1/projects/shop/integrations";
    const bad = await box.api("POST", path, { type: "gotify", server: server.url, token: "a\nb" });
    assert.deepEqual([bad.status, bad.body.error.details[0].field], [400, "/token"]);
    const write = { type: "gotify", server: `${server.url}/gotify/`, token: GOTIFY_TOKEN };
    const { id } = (await box.api("POST", path, write)).body;
    const read = (await box.api("GET", `${path}/${id}`)).body;
    assert.equal(read.url, server.url);
    assert.equal(JSON.stringify(read).includes(GOTIFY_TOKEN), false);
    assert.deepEqual((await box.api("POST", `${path}/${id}/test`)).body, { ok: true });

    await box.ingest(token, { message: "payment 4711 failed", level: 500 });
    await settle(box);
    const { title, message, priority } = bodyOf(server.received[1]);
    assert.match(title, /^CRITICAL shop: payment 4711 failed/);
    assert.match(message, /rule errors/);
    assert.equal(priority, 10);
  } finally {
    await box.stop();
    await server.close();
  }
});

test("an emergency rings by Pushover until it is acknowledged here", async () => {
  const server = await startReceiver();
  const { behaviour, ringing } = pushoverServer();
  server.always(behaviour);
  const box = await testBox({ pushoverApi: server.url });
  try {
    const token = await box.project("shop");
    await box.api("POST", "/v1/projects/shop/rules", { name: "errors", match: { min_level: 400 } });
    const path = "/v1/projects/shop/integrations";
    const bad = await box.api("POST", path, { type: "pushover", token: "short", user: "" });
    assert.deepEqual([bad.status, bad.body.error.details[0].field], [400, "/token"]);
    const write = { type: "pushover", token: PUSHOVER_TOKEN, user: PUSHOVER_USER };
    const { id } = (await box.api("POST", path, write)).body;
    const read = (await box.api("GET", `${path}/${id}`)).body;
    assert.equal(JSON.stringify(read).includes("canary"), false);
    assert.deepEqual((await box.api("POST", `${path}/${id}/test`)).body, { ok: true });

    await box.ingest(token, { message: "payment 4711 failed", level: 500 });
    await settle(box);
    assert.equal(ringing.size, 1);
    await box.api("POST", "/v1/alerts/1/ack");
    await settle(box);
    assert.equal(ringing.size, 0);
  } finally {
    await box.stop();
    await server.close();
  }
});
