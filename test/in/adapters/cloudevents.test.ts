import assert from "node:assert/strict";
import { test } from "node:test";
import { testBox } from "../../support/box.ts";
import { cloudEvent } from "./hook-samples.ts";

test("CloudEvents are read in each of their three forms, and a repeated event counts once", async (t) => {
  const box = await testBox();
  t.after(() => box.stop());
  await box.project("p");
  await box.api("POST", "/v1/projects/p/rules", { name: "all", match: {} });
  const source = { name: "broker", kind: "cloudevents" };
  const { token } = (await box.api("POST", "/v1/projects/p/sources", source)).body;
  const url = `${box.url}/v1/in/cloudevents/${token}`;
  const post = async (body: unknown, headers: Record<string, string>) => {
    const answer = await fetch(url, { method: "POST", body: JSON.stringify(body), headers });
    return [answer.status, await answer.json()];
  };
  const type = (text: string) => ({ "content-type": text });
  const alert = async () => (await box.api("GET", "/v1/alerts")).body.alerts[0];

  for (let i = 0; i < 2; i++)
    assert.deepEqual(await post(cloudEvent, type("application/cloudevents+json")), [
      200,
      { accepted: 1 },
    ]);
  const first = await alert();
  assert.deepEqual(
    [first.last_message, first.level, first.count],
    ["Order 17 failed", 500, 1],
    "the second was the same event",
  );
  const bad = { id: "9", specversion: "1.0", source: "/shop" };
  const over = { ...cloudEvent, id: "8", data: { ...cloudEvent.data, status: "resolved" } };
  const batch = await post([bad, over], type("application/cloudevents-batch+json"));
  assert.deepEqual(batch, [200, { accepted: 1 }]);
  assert.equal((await alert()).state, "resolved");

  const binary = {
    "ce-specversion": "1.0",
    "ce-id": "10",
    "ce-source": "/shop",
    "ce-type": "a.b",
    "ce-subject": "Euro%20%E2%82%AC",
  };
  assert.equal((await post({ order: 18 }, { ...type("application/json"), ...binary }))[0], 200);
  assert.equal((await alert()).last_message, "a.b Euro €");
  const deep = { ...binary, "ce-id": "11" };
  const data = { order: { id: 18, reason: "card declined" } };
  assert.equal((await post(data, { ...type("application/json"), ...deep }))[0], 200);
  assert.equal((await alert()).last_message, "card declined");
  assert.equal((await post(bad, type("application/cloudevents+json")))[0], 400);

  const asked = await fetch(`${box.url}/v1/in/cloudevents`, { method: "OPTIONS" });
  assert.deepEqual([asked.status, asked.headers.get("webhook-allowed-origin")], [200, "*"]);
});
