import assert from "node:assert/strict";
import { test } from "node:test";
import { contactKindList } from "../../src/out/services/list.ts";
import { answerStory } from "../support/answers.ts";
import { startFakeApns } from "../support/apns.ts";
import { SLACK_APP_TOKEN, SLACK_TOKEN } from "../support/chats.ts";
import { handGate } from "../support/gate.ts";
import { testHosted, useApns } from "../support/hosted-role.ts";
import type { Behaviour } from "../support/receiver.ts";
import { contactService, serviceNames } from "../support/services.ts";
import { startTalkServer } from "../support/talk-server.ts";
import { BOT_TOKEN, telegramBot } from "../support/telegram-bot.ts";
import { busy, pass, settle, until } from "../support/until.ts";

/** What leaves a tenant, while its commits are not yet in the second place where they have to be. */

test("no delivery, page, action or test leaves before the gate is opened, and all leave then", async (t) => {
  const gate = handGate();
  // Before the box is stopped: what still waits would hold its stop.
  t.after(() => gate.open());
  const { box, receiver, ann, contact } = await answerStory(t, undefined, {
    durable: gate.durable,
  });
  await contact(ann, "webhook", `${receiver.url}/person`);
  for (const [path, body] of [
    ["webhooks", { url: `${receiver.url}/room` }],
    ["actions", { name: "act", method: "POST", url: `${receiver.url}/action` }],
  ] as const) {
    const made = await box.api("POST", `/v1/projects/shop/${path}`, body);
    assert.equal(made.status, 201, JSON.stringify(made.body));
  }
  const { actions } = (await box.api("GET", "/v1/projects/shop/actions")).body;
  const { tenant } = box;
  const before = receiver.received.length;
  const seen = () => receiver.received.slice(before).map(({ path }) => path);
  const token = (await box.api("POST", "/v1/projects/shop/sources", { name: "b" })).body.token;
  gate.shut();
  const event = { message: "ann is needed", level: 500, keys: { n: "1" } };
  const sent = box.ingest(token, event);
  const alerts = () => Number(tenant.store.sql("SELECT count(*) FROM alerts").pluck().get());
  await busy(box, () => alerts() === 1, "the alert is open");
  const run = box.api("POST", `/v1/alerts/1/actions/${actions[0].id}/run`);
  const asked = gate.asked;
  const heard = () => gate.asked > asked + 3 || seen().length > 0;
  await busy(box, heard, "its messages wait");
  for (let i = 0; i < 20; i++) await box.clock.turn(10);
  assert.deepEqual(seen(), []);
  gate.open();
  await pass(box, 5);
  assert.equal((await sent).status, 202);
  assert.ok((await run).status < 300, JSON.stringify((await run).body));
  await busy(box, () => new Set(seen()).size === 3, "room, person and action are told");
});

test("no kind of contact is paged before the gate is opened", async (t) => {
  const gate = handGate();
  t.after(() => gate.open());
  const flags = () => ({ publicUrl: "https://box.example" });
  const told = await answerStory(t, flags, { durable: gate.durable });
  const { box, ann } = told;
  const walked = new Set<string>();
  for (const name of serviceNames) {
    const service = await contactService(t, name, box.clock.now());
    const { kind, gateway } = service;
    walked.add(kind);
    box.tenant.store.write((tx) => tx.sql("DELETE FROM contacts").run());
    if (gateway !== null) {
      const set = await box.api("PUT", `/v1/gateways/${gateway}`, service.settings);
      assert.equal(set.status, 200, JSON.stringify(set.body));
    }
    await told.contact(ann, kind, service.contact);
    const before = service.shown().length;
    // Who has no rules of their own is called a while later.
    const rest = contactKindList.find(kind)?.restSeconds ?? 0;
    if (rest > 0) {
      await told.page(ann);
      await pass(box, rest - 1, 20);
    }
    gate.shut();
    const asked = gate.asked;
    if (rest === 0) void told.page(ann).catch(() => {});
    else await box.clock.turn(2_000);
    const { pages } = box.tenant.outbox;
    const isHeld = () => pages.inFlight > 0 && gate.asked > asked;
    const isShown = () => service.shown().length > before;
    await busy(box, () => isHeld() || isShown(), `${name}: the page waits`);
    for (let i = 0; i < 20; i++) await box.clock.turn(10);
    assert.equal(service.shown().length, before, name);
    gate.open();
    await busy(box, isShown, `${name}: the page is shown`);
    await settle(box);
  }
  assert.deepEqual([...walked].sort(), contactKindList.kinds.map(({ kind }) => kind).sort());
});

test("a press at Telegram is told to nobody before it is durable, and the next isn't asked for", async (t) => {
  const gate = handGate();
  t.after(() => gate.open());
  const told = await answerStory(t, undefined, { durable: gate.durable });
  const { box, receiver, ann } = told;
  const bot = telegramBot();
  receiver.always(bot.behaviour);
  await told.gateway("telegram", { token: BOT_TOKEN });
  await told.contact(ann, "telegram", "4711");
  await busy(box, bot.isHeard, "presses are asked for");
  const alert = await told.page(ann);
  gate.shut();
  const id = bot.press(4711, [...bot.messages.keys()].at(-1) ?? 0);
  const state = () =>
    box.tenant.store.sql("SELECT state FROM alerts WHERE id = ?").pluck().get(alert);
  await busy(box, () => state() === "acknowledged", "the press is written");
  for (let i = 0; i < 50; i++) await box.clock.turn(10);
  assert.deepEqual([bot.isHeard(), bot.answered.has(id)], [false, false]);
  gate.open();
  await busy(box, () => bot.isHeard() && bot.answered.has(id), "both follow");
});

test("a press at Slack is confirmed when it is durable, and after 2.5 s in any case", async (t) => {
  const gate = handGate();
  t.after(() => gate.open());
  const { box, receiver, gateway } = await answerStory(t, undefined, { durable: gate.durable });
  const server = await startTalkServer();
  t.after(() => server.close());
  receiver.always(((response, _socket, request) => {
    const isLine = request.path === "/api/apps.connections.open";
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ ok: true, ...(isLine && { url: `${server.url}/link/` }) }));
  }) satisfies Behaviour);
  const bot = { bot_token: SLACK_TOKEN, app_token: SLACK_APP_TOKEN };
  await gateway("slack", { ...bot, url: `${receiver.url}/api` });
  const peer = () => server.peers.find(({ isOpen }) => isOpen);
  await busy(box, () => peer() !== undefined, "the line is open");
  const press = (envelope_id: string) => {
    const actions = [{ action_id: "ack", value: "aaaaaaaaaaaa", type: "button" }];
    const payload = { type: "block_actions", user: { id: "U1" }, channel: { id: "D1" }, actions };
    peer()?.say(JSON.stringify({ envelope_id, type: "interactive", payload }));
  };
  const confirmed = (id: string) =>
    peer()?.heard.filter((text) => text === JSON.stringify({ envelope_id: id })).length;
  for (const [id, opens] of [
    ["e1", true],
    ["e2", false],
  ] as const) {
    gate.shut();
    const asked = gate.asked;
    press(id);
    await busy(box, () => gate.asked > asked, "the press waits");
    await box.clock.turn(2_000);
    assert.equal(confirmed(id), 0, id);
    if (opens) gate.open();
    else await box.clock.turn(500);
    await until(() => confirmed(id) === 1, `${id} is confirmed`);
    gate.open();
    await pass(box, 3);
    assert.equal(confirmed(id), 1, "once");
  }
});

test("a hosted tenant pushes nothing, and answers nothing, before the gate is opened", async (t) => {
  const apns = await startFakeApns();
  t.after(() => apns.close());
  const gate = handGate();
  t.after(() => gate.open());
  const hosted = await testHosted({}, undefined, { durable: gate.durable });
  t.after(() => hosted.stop());
  await useApns(hosted, apns);
  const person = await hosted.person("o@example.org");
  const key = await hosted.desk(async (desk) => {
    const { tenant_id: tenant } = await desk.addTenant({ kind: "hosted" });
    return (await desk.addKey({ tenant, email: "o@example.org", role: "owner" })).api_key;
  });
  const as = (method: string, path: string, body?: unknown) =>
    hosted.call(method, path, { token: key, ...(body === undefined ? {} : { body }) });
  const device = { token: "ab".repeat(32), platform: "ios" };
  const registered = { token: person.token, body: device };
  assert.ok((await hosted.call("POST", "/v1/account/devices", registered)).status < 300);
  await as("POST", "/v1/projects", { name: "p" });
  const { token } = (await as("POST", "/v1/projects/p/sources", { name: "s" })).body;
  await as("POST", "/v1/projects/p/rules", { name: "r" });
  const made = await as("POST", "/v1/projects/p/integrations", { type: "apns", name: "phones" });
  assert.equal(made.status, 201, JSON.stringify(made.body));
  gate.shut();
  let answered = 0;
  const note = () => void answered++;
  const sent = hosted.call("POST", "/v1/ingest", { token, body: { message: "x", level: 500 } });
  const read = as("GET", "/v1/alerts");
  for (const one of [sent, read]) void one.then(note, note);
  const start = gate.asked;
  await until(() => gate.asked >= start + 2, "both wait");
  const asked = gate.asked;
  for (let i = 0; gate.asked <= asked && apns.received.length === 0; i++) {
    assert.ok(i < 5_000, "the push asks no gate");
    await hosted.clock.turn(10);
    await (await fetch(`${hosted.url}/healthz`)).text();
  }
  assert.deepEqual([answered, apns.received.length], [0, 0]);
  gate.open();
  assert.equal((await sent).status, 202);
  await until(() => {
    void hosted.clock.turn(100);
    return apns.received.length === 1;
  }, "the push is sent");
});
