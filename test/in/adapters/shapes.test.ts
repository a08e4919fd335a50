import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { type TestBox, testBox } from "../../support/box.ts";

let box: TestBox;
before(async () => {
  box = await testBox();
  await box.project("p");
  await box.api("POST", "/v1/projects/p/rules", { name: "all", match: {} });
});
after(() => box.stop());

async function source(kind: string) {
  const made = await box.api("POST", "/v1/projects/p/sources", { name: kind, kind });
  assert.equal(made.status, 201, JSON.stringify(made.body));
  return made.body as { token: string; short_token: string };
}

async function call(path: string, init: RequestInit = {}) {
  const answer = await fetch(box.url + path, { method: "POST", ...init });
  return { status: answer.status, text: await answer.text() };
}

async function newest() {
  const [alert] = (await box.api("GET", "/v1/alerts")).body.alerts;
  return alert;
}

const json = (value: unknown) => ({ body: JSON.stringify(value) });

describe("senders that speak to a chat program", () => {
  test("Slack's format: JSON or a form, answered with ok", async () => {
    const { token } = await source("slack");
    const body = {
      text: "*nas-02*: Pool <https://example.com/t|tank> is DEGRADED",
      attachments: [{ color: "danger", title: "Alert", text: "A device has an error" }],
    };
    for (const init of [
      json(body),
      { body: new URLSearchParams({ payload: JSON.stringify(body) }) },
    ]) {
      assert.deepEqual(await call(`/v1/in/slack/${token}`, init), { status: 200, text: "ok" });
      const alert = await newest();
      assert.deepEqual([alert.last_message, alert.level], ["nas-02: Pool tank is DEGRADED", 400]);
    }
  });

  test("Discord's format: without an answer, or with one where the sender asks for it", async () => {
    const { token } = await source("discord");
    const body = { content: "Backup failed", embeds: [{ title: "nas", color: 15_158_332 }] };
    assert.deepEqual(await call(`/v1/in/discord/${token}`, json(body)), { status: 204, text: "" });
    const waited = await call(`/v1/in/discord/${token}?wait=true`, json(body));
    assert.deepEqual(waited, { status: 200, text: '{"id":"1"}' });
    const alert = await newest();
    assert.deepEqual([alert.last_message, alert.level], ["Backup failed", 400]);
    const slack = await call(`/v1/in/discord/${token}/slack`, json({ text: "Pool is *full*" }));
    assert.deepEqual(slack, { status: 200, text: "ok" });
    assert.equal((await newest()).last_message, "Pool is full");
  });

  test("Gotify's format: its version, and a token in its header or in the query", async () => {
    const { short_token } = await source("gotify");
    const key = { "x-gotify-key": short_token };
    const version = await call("/v1/in/gotify/version", { method: "GET", headers: key });
    assert.match(version.text, /^\{"version":"2/);
    const body = { title: "pve1", message: "backup failed", priority: 8 };
    const ways = [
      call("/v1/in/gotify/message", { ...json(body), headers: key }),
      call(`/v1/in/gotify/message?token=${short_token}`, json(body)),
      call(`/v1/in/gotify/${short_token}/message`, json(body)),
    ];
    for (const answer of await Promise.all(ways)) {
      assert.equal(answer.status, 200);
      assert.equal(JSON.parse(answer.text).priority, 8);
    }
    const alert = await newest();
    assert.deepEqual(
      [alert.last_message, alert.level, alert.count],
      ["pve1: backup failed", 500, 3],
    );
    assert.equal((await call(`/v1/in/gotify/${short_token}/message`, json({}))).status, 400);
  });

  test("ntfy's format: a text to a topic with headers, or JSON", async () => {
    const { token } = await source("ntfy");
    const headers = { title: "Disk", priority: "urgent", authorization: `Bearer ${token}` };
    const sent = await call("/v1/in/ntfy/box", { method: "PUT", headers, body: "96 % full" });
    assert.equal(JSON.parse(sent.text).topic, "box");
    assert.deepEqual(
      [(await newest()).last_message, (await newest()).level],
      ["Disk: 96 % full", 500],
    );
    const body = { topic: "box", title: "Disk", message: "97 % full", priority: 4 };
    assert.equal((await call(`/v1/in/ntfy/${token}`, json(body))).status, 200);
    assert.deepEqual(
      [(await newest()).last_message, (await newest()).level],
      ["Disk: 97 % full", 500],
    );
    const raw = Buffer.from("Störung – Büro").toString("latin1");
    await call("/v1/in/ntfy/box", {
      method: "PUT",
      headers: { ...headers, title: raw },
      body: "x",
    });
    assert.equal((await newest()).last_message, "Störung – Büro: x");
  });
});

test("a webhook that fires, repeats and ends is one alert, resolved", async () => {
  const options = { mapping: "uptime-kuma" };
  const made = await box.api("POST", "/v1/projects/p/sources", {
    name: "k",
    kind: "hook",
    options,
  });
  const at = `/v1/in/hook/${made.body.token}`;
  const beat = (status: number, msg: string) =>
    call(at, json({ heartbeat: { status, msg }, monitor: { id: 7, name: "Shop" }, msg }));
  assert.deepEqual(await beat(0, "Shop is down"), { status: 200, text: '{"accepted":1}' });
  await beat(0, "Shop is still down");
  assert.deepEqual(await beat(2, "Shop is pending"), { status: 200, text: '{"accepted":0}' });
  const open = await newest();
  assert.deepEqual([open.state, open.count, open.last_message], ["open", 2, "Shop is still down"]);
  await beat(1, "Shop is up");
  assert.deepEqual([(await newest()).id, (await newest()).state], [open.id, "resolved"]);
});

test("GitLab's secret token is a source's token", async () => {
  const options = { mapping: "gitlab" };
  const made = await box.api("POST", "/v1/projects/p/sources", {
    name: "g",
    kind: "hook",
    options,
  });
  const pipeline = {
    object_kind: "pipeline",
    object_attributes: { status: "failed", ref: "main" },
    project: { path_with_namespace: "a/b" },
  };
  const headers = { "x-gitlab-token": made.body.token };
  assert.equal((await call("/v1/in/hook", { ...json(pipeline), headers })).status, 200);
  assert.equal((await newest()).last_message, "a/b: pipeline on main failed");
  assert.equal((await call("/v1/in/hook", json(pipeline))).status, 401);
});
