import assert from "node:assert/strict";
import { after, afterEach, beforeEach, test } from "node:test";
import { pushoverMessage, sendPushover } from "../../../../src/out/services/pushover/room.ts";
import { boxEgress } from "../../../support/egress.ts";
import { eventBody, inWords } from "../../../support/events.ts";
import { formOf, PUSHOVER_TOKEN, PUSHOVER_USER, pushoverServer } from "../../../support/pushes.ts";
import { answer, hang, type Receiver, startReceiver } from "../../../support/receiver.ts";
import { hostileTexts } from "../../../support/rooms.ts";

const egress = boxEgress();
after(() => egress.close());

let receiver: Receiver;
let ringing: Set<string>;
beforeEach(async () => {
  receiver = await startReceiver();
  const service = pushoverServer();
  receiver.always(service.behaviour);
  ringing = service.ringing;
});
afterEach(() => receiver.close());

const LINK = "https://box.example/a/7";
const send = (changes = {}, more = {}) =>
  sendPushover({
    egress,
    now: 0,
    settings: { pushoverApi: receiver.url },
    credentials: { token: PUSHOVER_TOKEN, user: PUSHOVER_USER, ...more },
    event: eventBody(changes),
    words: inWords(eventBody(changes), LINK),
  });

const facts = "error · rule Payments failing · 12 events · 2026-01-05 03:00 to 03:12 UTC · alert 7";

test("an alert as the fields of a message", () => {
  const plain = {
    title: "ERROR shop: Payment 42 failed for bob",
    message: `host = web-1\n${facts}`,
    priority: "1",
    timestamp: "1767582721",
    url: LINK,
    url_title: "Open",
  };
  assert.deepEqual(pushoverMessage(eventBody(), inWords(eventBody(), LINK)), plain);
  assert.deepEqual(
    pushoverMessage(eventBody({ level: 500 }), inWords(eventBody({ level: 500 }), LINK)),
    {
      ...plain,
      title: plain.title.replace("ERROR", "CRITICAL"),
      message: plain.message.replace("error", "critical"),
      priority: "2",
      retry: "60",
      expire: "3600",
      tags: "box0123456789abcdefalert7",
    },
  );
});

test("an emergency rings until the box says that somebody has it, or that it is over", async () => {
  for (const event of ["alert.acknowledged", "alert.resolved"]) {
    for (const alert_id of ["7", "8"]) await send({ level: 500, alert_id });
    assert.equal(ringing.size, 2);
    assert.equal((await send({ event, level: 500 })).verdict.kind, "delivered");
    assert.deepEqual([...ringing], ["box0123456789abcdefalert8"]);
    assert.equal(formOf(receiver.received.at(-1))["priority"], "-1");
  }
});

test("while Pushover can't be told to stop ringing, the news waits; what it doesn't know of is no reason to", async () => {
  receiver.once(answer(503));
  assert.deepEqual((await send({ event: "alert.resolved", level: 500 })).verdict, {
    kind: "later",
    error: "http 503",
    retryAfterMs: 5_000,
  });
  assert.equal(receiver.received.length, 1);
  receiver.once(answer(404));
  const { verdict } = await send({ event: "alert.resolved", level: 500 });
  assert.equal(verdict.kind, "delivered");
  assert.equal(receiver.received.length, 3);
  // Below an emergency there is nothing to stop.
  await send({ event: "alert.resolved", level: 400 });
  assert.equal(receiver.received.length, 4);
});

test("whatever was logged fits, and the facts stand below it", async () => {
  for (const text of hostileTexts) {
    const identifiers = { [text.slice(0, 200)]: text, b: text };
    const changes = { last_message: text, identifiers, project: text.slice(0, 128), level: 500 };
    assert.equal((await send(changes)).verdict.kind, "delivered");
    const { message = "" } = formOf(receiver.received.at(-1));
    assert.ok(message.isWellFormed() && message.endsWith("alert 7"));
  }
  assert.equal((await send({ event: "integration.disabled" })).verdict.kind, "delivered");
});

test("a refusal says which of its fields is wrong, never what was in it, and is tried again", async () => {
  const wrong = { token: "canaryx".padEnd(30, "x") };
  assert.deepEqual((await send({}, wrong)).verdict, {
    kind: "later",
    error: "http 400: token invalid",
  });
  receiver.once(answer(429, { status: 0 }, { "retry-after": "60" }), answer(200, "<html>"));
  assert.deepEqual((await send()).verdict, {
    kind: "later",
    error: "http 429",
    retryAfterMs: 60_000,
  });
  assert.deepEqual((await send()).verdict, { kind: "later", error: "http 200: not accepted" });
  receiver.once(answer(410, { status: 0 }));
  assert.deepEqual((await send()).verdict, { kind: "never", error: "http 410", disable: true });
});

test("stopping and telling have one limit between them", async () => {
  receiver.once(hang);
  const event = eventBody({ event: "alert.resolved", level: 500 });
  const { verdict } = await sendPushover({
    egress,
    now: 0,
    timeoutMs: 150,
    settings: { pushoverApi: receiver.url },
    credentials: { token: PUSHOVER_TOKEN, user: PUSHOVER_USER },
    event,
    words: inWords(event),
  });
  assert.deepEqual(verdict, { kind: "later", error: "timeout" });
  assert.equal(receiver.received.length, 1);
});
