import assert from "node:assert/strict";
import { after, afterEach, beforeEach, test } from "node:test";
import { gotifyMessage, sendGotify } from "../../../../src/out/services/gotify/room.ts";
import { boxEgress } from "../../../support/egress.ts";
import { eventBody, inWords } from "../../../support/events.ts";
import { bodyOf, GOTIFY_TOKEN, gotifyServer } from "../../../support/pushes.ts";
import { answer, type Receiver, startReceiver } from "../../../support/receiver.ts";
import { hostileTexts } from "../../../support/rooms.ts";

const egress = boxEgress();
after(() => egress.close());

let receiver: Receiver;
beforeEach(async () => {
  receiver = await startReceiver();
  receiver.always(gotifyServer());
});
afterEach(() => receiver.close());

const send = (changes = {}, { path = "", token = GOTIFY_TOKEN } = {}) =>
  sendGotify({
    egress,
    now: 0,
    credentials: { server: receiver.url + path, token },
    event: eventBody(changes),
    words: inWords(eventBody(changes)),
  });

test("the event as plain text, which opens the alert when it is touched", () => {
  const facts =
    "error · rule Payments failing · 12 events · 2026-01-05 03:00 to 03:12 UTC · alert 7";
  assert.deepEqual(gotifyMessage(eventBody(), inWords(eventBody(), "https://box.example/a/7")), {
    title: "ERROR shop: Payment 42 failed for bob",
    message: `host = web-1\n${facts}`,
    priority: 8,
    extras: {
      "client::display": { contentType: "text/plain" },
      "client::notification": { click: { url: "https://box.example/a/7" } },
    },
  });
});

test("a server at the root and one below a path take it, whatever the log holds", async () => {
  for (const path of ["", "/", "/gotify", "/gotify/"])
    assert.deepEqual((await send({}, { path })).verdict, { kind: "delivered", status: 200 });
  for (const text of hostileTexts)
    for (const event of ["alert.opened", "integration.disabled"]) {
      const names = { project: text.slice(0, 128), rule: text.slice(0, 128) };
      const { verdict } = await send({ event, last_message: text, identifiers: {}, ...names });
      assert.equal(verdict.kind, "delivered");
      const { title, message } = bodyOf(receiver.received.at(-1));
      assert.ok([...title].length <= 140 && [...message].length < 2_000);
      assert.ok(message.isWellFormed());
    }
});

test("how loud it is follows from what happened", () => {
  const table = [
    ["alert.opened", 500, 10],
    ["alert.opened", 400, 8],
    ["alert.opened", 300, 5],
    ["alert.escalated", 300, 8],
    ["alert.renotified", 500, 10],
    ["alert.acknowledged", 500, 2],
    ["alert.resolved", 500, 2],
    ["alert.test", 500, 5],
    ["integration.disabled", 0, 8],
  ] as const;
  for (const [event, level, expected] of table) {
    const { priority } = gotifyMessage(
      eventBody({ event, level }),
      inWords(eventBody({ event, level })),
    ) as { priority: number };
    assert.equal(priority, expected, `${event} ${level}`);
  }
});

test("a refusal is told by its name without the token, and tried again", async () => {
  assert.deepEqual((await send({}, { token: "wrong-canary" })).verdict, {
    kind: "later",
    error: "http 401: Unauthorized",
  });
  receiver.once(answer(410, { error: "Gone" }));
  assert.deepEqual((await send()).verdict, {
    kind: "never",
    error: "http 410: Gone",
    disable: true,
  });
});

test("what another answers in the server's place, a portal that wants its terms accepted, is no success", async () => {
  receiver.once(answer(200, "<html>Welcome!"), answer(200, { ok: true }));
  for (let i = 0; i < 2; i++)
    assert.deepEqual((await send()).verdict, { kind: "later", error: "http 200: not accepted" });
});
