import assert from "node:assert/strict";
import { after, afterEach, beforeEach, test } from "node:test";
import { sendSignal, signalText } from "../../../../src/out/services/signal/room.ts";
import { SIGNAL_NUMBER, signalServer } from "../../../support/chats.ts";
import { boxEgress } from "../../../support/egress.ts";
import { eventBody, inWords } from "../../../support/events.ts";
import { bodyOf } from "../../../support/pushes.ts";
import { answer, type Receiver, startReceiver } from "../../../support/receiver.ts";
import { hostileTexts } from "../../../support/rooms.ts";

const egress = boxEgress();
after(() => egress.close());

let receiver: Receiver;
beforeEach(async () => {
  receiver = await startReceiver();
  receiver.always(signalServer());
});
afterEach(() => receiver.close());

const LINK = "https://box.example/a/7";
const send = (changes = {}, more = {}) =>
  sendSignal({
    egress,
    now: 0,
    credentials: {
      server: receiver.url,
      number: SIGNAL_NUMBER,
      recipient: "+15550002222",
      ...more,
    },
    event: eventBody(changes),
    words: inWords(eventBody(changes), LINK),
  });

test("plain text to one recipient, behind a path, too", async () => {
  const { verdict } = await send(
    {},
    { server: `${receiver.url}/signal/`, recipient: "group.YWJj" },
  );
  assert.deepEqual(verdict, { kind: "delivered", status: 201 });
  const facts =
    "error · rule Payments failing · 12 events · 2026-01-05 03:00 to 03:12 UTC · alert 7";
  assert.deepEqual(bodyOf(receiver.received[0]), {
    message: `ERROR shop: Payment 42 failed for bob\nhost = web-1\n${facts}\n${LINK}`,
    number: SIGNAL_NUMBER,
    recipients: ["group.YWJj"],
    text_mode: "normal",
  });
});

test("whatever was logged fits, cut between characters", async () => {
  for (const text of hostileTexts) {
    const identifiers = { a: text, b: text, c: text, d: text, e: text, f: text };
    const changes = { last_message: text, identifiers, project: text.slice(0, 128) };
    assert.equal((await send(changes)).verdict.kind, "delivered");
    assert.ok(bodyOf(receiver.received.at(-1)).message.isWellFormed());
  }
  const own = { details: ["💥".repeat(2_000)], facts: "" };
  const long = signalText({ ...inWords(eventBody()), ...own });
  assert.ok(long.length >= 1_999 && long.length <= 2_000 && long.endsWith("💥…"));
});

test("a refusal is told by a name of ours, never by its sentence, and tried again", async () => {
  const error = async (more: object) => Object((await send({}, more)).verdict).error;
  const unknown = { recipient: "+15550009999" };
  assert.equal(await error(unknown), "http 400: recipient not registered");
  assert.equal(
    await error({ number: "+15550003333" }),
    "http 400: number not registered at the server",
  );
  const rows = [
    ["Rate Limited! [429] canary", "http 400: rate limit"],
    ["CAPTCHA proof required, token canary", "http 400: a captcha is asked for"],
    ["canary broke", "http 400"],
  ];
  for (const [sentence, told] of rows) {
    receiver.once(answer(400, { error: sentence }));
    assert.deepEqual((await send()).verdict, { kind: "later", error: told });
  }
  receiver.once(answer(200, "<html>"), answer(429, "", { "retry-after": "9" }));
  assert.deepEqual((await send()).verdict, { kind: "later", error: "http 200: not accepted" });
  assert.deepEqual((await send()).verdict, {
    kind: "later",
    error: "http 429",
    retryAfterMs: 9_000,
  });
});
