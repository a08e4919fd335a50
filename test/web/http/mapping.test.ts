import assert from "node:assert/strict";
import { test } from "node:test";
import { testBox } from "../../support/box.ts";

test("a mapping is checked when it is set, tried on what came, and holds from then on", async (t) => {
  const box = await testBox();
  t.after(() => box.stop());
  await box.project("p");
  await box.api("POST", "/v1/projects/p/rules", { name: "all", match: {} });
  const path = "/v1/projects/p/sources";
  const bad = await box.api("POST", path, {
    name: "h",
    kind: "hook",
    options: { mapping: { level: { at: "severity" } } },
  });
  assert.equal(bad.status, 422);
  assert.equal(bad.body.error.code, "invalid_mapping");
  assert.deepEqual(bad.body.error.details, [
    { field: "/options/mapping/level/at", reason: "must be a JSON pointer" },
  ]);
  const { token } = (await box.api("POST", path, { name: "h", kind: "hook" })).body;
  const send = (value: unknown) =>
    fetch(`${box.url}/v1/in/hook/${token}`, { method: "POST", body: JSON.stringify(value) });
  const body = { who: "db-01", what: "is full", sev: 5, key: "k1" };
  for (let i = 0; i < 25; i++) assert.equal((await send({ ...body, i })).status, 200);

  const received = (await box.api("GET", `${path}/h/mapping/received`)).body.received;
  assert.deepEqual([received.length, JSON.parse(received[0].body).i], [20, 24]);
  await send({ text: "mine", secret: token });
  const [latest] = (await box.api("GET", `${path}/h/mapping/received`)).body.received;
  assert.equal(latest.body, '{"text":"mine","secret":"***"}', "a sender's key is nobody's to read");
  const member = box.person("member").key;
  const asked = await box.api("GET", `${path}/h/mapping/received`, undefined, member);
  assert.equal(asked.status, 403);

  const mapping = {
    message: { text: "{/who} {/what}" },
    level: { at: "/sev", map: { 5: 500 }, else: 300 },
    dedup_key: { at: "/key" },
  };
  const tried = await box.api("POST", `${path}/h/mapping/try`, { mapping, body: received[0].body });
  const [event] = tried.body.events;
  assert.deepEqual([event.message, event.level, event.dedup_key], ["db-01 is full", 500, "k1"]);
  const faulty = { mapping: { each: 7 }, body: {} };
  assert.equal((await box.api("POST", `${path}/h/mapping/try`, faulty)).status, 422);
  assert.equal((await box.api("POST", `${path}/h/mapping/try`, { body: "{" })).status, 400);

  const set = { retain_logs: false, options: { mapping } };
  assert.equal((await box.api("PUT", `${path}/h`, set)).status, 200);
  await send(body);
  const [alert] = (await box.api("GET", "/v1/alerts")).body.alerts;
  assert.deepEqual([alert.last_message, alert.level], ["db-01 is full", 500]);
  const wrong = { retain_logs: false, options: { mapping: "pigeon" } };
  assert.equal((await box.api("PUT", `${path}/h`, wrong)).status, 422);
});

test("the configuration file brings a mapping, and refuses a bad one by its place", async (t) => {
  const box = await testBox();
  t.after(() => box.stop());
  await box.project("p");
  const { version } = (await box.api("GET", "/v1/projects/p/config")).body;
  const put = (mapping: unknown) =>
    box.api("PUT", "/v1/projects/p/config", {
      config: { sources: [{ name: "h", kind: "hook", options: { mapping } }] },
      version,
    });
  const refused = await put("pigeon");
  assert.deepEqual(
    [refused.status, refused.body.error.details?.[0]?.field],
    [422, "/config/sources/0/options/mapping"],
  );
});
