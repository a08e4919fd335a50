import assert from "node:assert/strict";
import { test } from "node:test";
import { signedIn } from "../../support/console.ts";
import { boxAndReceiver } from "../../support/contacts.ts";
import { answer } from "../../support/receiver.ts";
import { settle } from "../../support/until.ts";

test("an action is run again for an alert, after a question where it ran a short while ago; over the API at once", async (t) => {
  const { box, receiver } = await boxAndReceiver(t);
  const token = await box.project("shop");
  const tab = signedIn(box);
  receiver.always(answer(204, ""));
  const action = { name: "restart", method: "POST", url: `${receiver.url}/run` };
  const { id } = (await box.api("POST", "/v1/projects/shop/actions", action)).body;
  await box.api("POST", "/v1/projects/shop/rules", { name: "errors" });
  await box.ingest(token, { message: "it broke", level: 400 });
  await settle(box);
  assert.equal(receiver.received.length, 1);
  const from = { from: "/a/1" };
  const path = `/a/1/actions/${id}/run`;
  assert.match((await tab.get("/a/1")).text, /aria-label="Run again: restart"/);

  const asked = await tab.post(path, {}, from);
  assert.equal(asked.status, 200);
  assert.match(asked.text, /<strong>restart ran<\/strong>: asked for/);
  await settle(box);
  assert.equal(receiver.received.length, 1, "it is only asked");
  assert.equal((await tab.post(path, { anyway: "1" }, from)).status, 303);
  await settle(box);
  assert.equal(receiver.received.length, 2);
  assert.equal(receiver.received[1]?.body, receiver.received[0]?.body, "the same event");
  await box.clock.turn(601_000);
  assert.equal((await tab.post(path, {}, from)).status, 303);
  await settle(box);
  assert.equal(receiver.received.length, 3);
  assert.match((await tab.get("/a/1")).text, /ran action <strong>restart<\/strong>/);

  const { status, body } = await box.api("POST", `/v1/alerts/1/actions/${id}/run`);
  assert.equal(status, 201);
  await settle(box);
  const runs = (await box.api("GET", `/v1/projects/shop/actions/${id}/executions`)).body.executions;
  assert.deepEqual([runs[0].id, runs[0].status], [body.execution_id, "succeeded"]);
  const { entries } = (await box.api("GET", "/v1/audit?verb=runActionForAlert")).body;
  for (const { target } of entries) assert.deepEqual([target.kind, target.id], ["action", id]);
  assert.deepEqual(entries.map(({ via }: { via: string }) => via).sort(), ["key", "page", "page"]);
});

test("an action isn't run for an alert that is over, nor one that is off, of another project, or with nothing to run on", async (t) => {
  const { box, receiver } = await boxAndReceiver(t);
  const token = await box.project("shop");
  await box.project("other");
  const action = { name: "restart", method: "POST", url: `${receiver.url}/run`, enabled: false };
  const made = async (project: string, body: object) =>
    (await box.api("POST", `/v1/projects/${project}/actions`, body)).body.id;
  const off = await made("shop", action);
  const on = await made("shop", {
    ...action,
    name: "on",
    enabled: true,
    events: ["alert.escalated"],
  });
  const foreign = await made("other", { ...action, enabled: true });
  await box.api("POST", "/v1/projects/shop/rules", { name: "errors" });
  const now = Math.floor(box.clock.now() / 1000);
  const quiet = {
    project: "shop",
    match: {},
    all: true,
    starts_at: now,
    ends_at: now + 600,
    reason: "work",
  };
  assert.equal((await box.api("POST", "/v1/silences", quiet)).status, 201);
  await box.ingest(token, { message: "it broke", level: 400 });
  await settle(box);
  const run = async (id: string) => {
    const { status, body } = await box.api("POST", `/v1/alerts/1/actions/${id}/run`);
    return [status, body.error?.code];
  };
  assert.deepEqual(await run(off), [409, "action_disabled"]);
  assert.deepEqual(await run(foreign), [404, "not_found"]);
  assert.deepEqual(await run(on), [409, "action_not_runnable"]);
  await box.api("POST", "/v1/alerts/1/resolve");
  assert.deepEqual(await run(on), [409, "alert_resolved"]);
  assert.equal(receiver.received.length, 0);
});
