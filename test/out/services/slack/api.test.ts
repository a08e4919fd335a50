import assert from "node:assert/strict";
import { after, afterEach, beforeEach, test } from "node:test";
import { eventKinds } from "../../../../src/out/outbox/event.ts";
import { testMessage } from "../../../../src/out/paging/say.ts";
import { sendSlackDirect } from "../../../../src/out/services/slack/person.ts";
import { postAsApp, slackMessage } from "../../../../src/out/services/slack/room.ts";
import { testBox } from "../../../support/box.ts";
import {
  SLACK_TOKEN,
  type SlackWorkspace,
  slackActs,
  slackWorkspace,
} from "../../../support/chats.ts";
import { boxEgress } from "../../../support/egress.ts";
import { eventBody, inWords } from "../../../support/events.ts";
import { bodyOf } from "../../../support/pushes.ts";
import { answer, type Receiver, startReceiver } from "../../../support/receiver.ts";
import { hostileTexts } from "../../../support/rooms.ts";

const egress = boxEgress();
after(() => egress.close());

let receiver: Receiver;
let workspace: SlackWorkspace;
beforeEach(async () => {
  receiver = await startReceiver();
  workspace = slackWorkspace();
  receiver.always(workspace.behaviour);
});
afterEach(() => receiver.close());

const send = (changes = {}, more = {}) =>
  postAsApp(
    { egress, now: 0 },
    { apiUrl: `${receiver.url}/api`, token: SLACK_TOKEN, channel: "C0OPS", ...more },
    slackMessage(inWords(eventBody(changes), "https://box.example/a/7?x=1&y=2")),
  );

test("an app posts what a webhook would, with its token in a header", async () => {
  assert.deepEqual((await send()).verdict, { kind: "delivered", status: 200 });
  const [request] = receiver.received;
  assert.equal(request?.headers["content-type"], "application/json; charset=utf-8");
  const message = slackMessage(inWords(eventBody(), "https://box.example/a/7?x=1&y=2"));
  assert.deepEqual(bodyOf(request), { channel: "C0OPS", ...message });
});

test("Slack takes whatever logs and names may hold; nobody is called, nothing is a link", async () => {
  for (const text of hostileTexts)
    for (const event of eventKinds) {
      const identifiers = { [text.slice(0, 200)]: text };
      const names = { project: text.slice(0, 128), rule: text.slice(0, 128) };
      const { verdict } = await send({ event, last_message: text, identifiers, ...names });
      assert.equal(verdict.kind, "delivered", workspace.faults.join());
    }
  assert.deepEqual([...workspace.messages.values()].flatMap(slackActs), []);
});

test("a message counts as posted in whatever script: Slack's answer repeats it, in escapes six times as long", async () => {
  // As a channel's own text has it.
  const words = { ...inWords(eventBody()), details: ["Оплата не прошла. ".repeat(190)] };
  const app = { apiUrl: `${receiver.url}/api`, token: SLACK_TOKEN };
  const room = await postAsApp(
    { egress, now: 0 },
    { ...app, channel: "C0OPS" },
    slackMessage({
      ...words,
      people: ["Вызывает: ", ...Array(6).fill("Анна Ивановна, ".repeat(9))],
    }),
  );
  assert.deepEqual(room.verdict, { kind: "delivered", status: 200 });
  const page = await sendSlackDirect({
    egress,
    now: 0,
    gateway: { bot_token: SLACK_TOKEN, url: app.apiUrl },
    fields: { address: "C0OPS" },
    message: { ...testMessage("evt_1"), lines: words.details },
  });
  assert.equal(page.verdict.kind, "delivered");
  assert.equal(workspace.messages.size, 2);
});

test("200 with a no is a refusal: for good where the word says so, else tried again", async () => {
  const never = async (more: object) => (await send({}, more)).verdict;
  assert.deepEqual(await never({ channel: "C0GONE" }), {
    kind: "never",
    error: "slack: channel_not_found",
  });
  assert.deepEqual(await never({ token: "xoxb-canary" }), {
    kind: "never",
    error: "slack: invalid_auth",
  });
  for (const error of ["not_in_channel", "token_revoked"]) {
    receiver.once(answer(200, { ok: false, error }));
    assert.deepEqual((await send()).verdict, { kind: "never", error: `slack: ${error}` });
  }
  const later = [
    [answer(200, { ok: false, error: "ratelimited" }), "slack: ratelimited"],
    [answer(200, { ok: false, error: "internal_error" }), "slack: internal_error"],
    [answer(200, { ok: false, error: `canary ${SLACK_TOKEN}` }), "http 200: not accepted"],
    [answer(200, "<html>canary"), "http 200: not accepted"],
    [answer(503, "canary"), "http 503"],
  ] as const;
  for (const [behaviour, error] of later) {
    receiver.once(behaviour);
    assert.deepEqual((await send()).verdict, { kind: "later", error });
  }
  const limited = { ok: false, error: "ratelimited" };
  receiver.once(answer(429, limited, { "retry-after": "30" }));
  assert.deepEqual((await send()).verdict, {
    kind: "later",
    error: "http 429: ratelimited",
    retryAfterMs: 30_000,
  });
});

test("an integration takes a webhook, or a token with a channel, and says what is missing of what was begun", async () => {
  const box = await testBox({ slackApi: `${receiver.url}/api` });
  try {
    await box.project("shop");
    const path = "/v1/projects/shop/integrations";
    const missing = async (body: object) => {
      const { status, body: said } = await box.api("POST", path, { type: "slack", ...body });
      assert.deepEqual([status, said.error.code], [422, "missing_credential"]);
      return said.error.details.map(({ field }: { field: string }) => field);
    };
    assert.deepEqual(await missing({}), ["/webhook_url"]);
    assert.deepEqual(await missing({ bot_token: SLACK_TOKEN }), ["/channel"]);
    assert.deepEqual(await missing({ channel: "C0OPS" }), ["/bot_token"]);
    const write = { type: "slack", bot_token: SLACK_TOKEN, channel: "C0OPS" };
    const made = await box.api("POST", path, write);
    const read = await box.api("GET", `${path}/${made.body.id}`);
    assert.equal(read.body.url, "slack:C0OPS");
    assert.equal(JSON.stringify(read.body).includes("canary"), false);
    assert.deepEqual((await box.api("POST", `${path}/${made.body.id}/test`)).body, { ok: true });
    assert.equal(workspace.messages.size, 1);
    const hook = { type: "slack", webhook_url: `${receiver.url}/services/T0/B0/x` };
    assert.equal((await box.api("POST", path, hook)).status, 201);
    // The configuration as it was read changes nothing.
    const { body } = await box.api("GET", "/v1/projects/shop/config");
    const again = { version: body.version, config: body.config };
    assert.equal((await box.api("PUT", "/v1/projects/shop/config", again)).status, 200);
    assert.deepEqual((await box.api("POST", `${path}/${made.body.id}/test`)).body, { ok: true });
  } finally {
    await box.stop();
  }
});
