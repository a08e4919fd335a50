import assert from "node:assert/strict";
import { after, afterEach, beforeEach, test } from "node:test";
import { eventKinds } from "../../../../src/out/outbox/event.ts";
import { matrixMessage, sendMatrix } from "../../../../src/out/services/matrix/room.ts";
import {
  type Homeserver,
  homeserver,
  MATRIX_ROOM,
  MATRIX_TOKEN,
  matrixActs,
} from "../../../support/chats.ts";
import { boxEgress } from "../../../support/egress.ts";
import { eventBody, inWords } from "../../../support/events.ts";
import fc from "../../../support/property.ts";
import { answer, type Receiver, reset, startReceiver } from "../../../support/receiver.ts";
import { hostileTexts } from "../../../support/rooms.ts";

const egress = boxEgress();
after(() => egress.close());

let receiver: Receiver;
let server: Homeserver;
beforeEach(async () => {
  receiver = await startReceiver();
  server = homeserver();
  receiver.always(server.behaviour);
});
afterEach(() => receiver.close());

const LINK = "https://box.example/a/7?x=1&y=2";
const send = (changes = {}, more = {}, eventId = "evt_1") =>
  sendMatrix({
    egress,
    now: 0,
    credentials: {
      homeserver: receiver.url,
      access_token: MATRIX_TOKEN,
      room_id: MATRIX_ROOM,
      ...more,
    },
    message: { eventId },
    event: eventBody(changes),
    words: inWords(eventBody(changes), LINK),
  });

test("an alert as text and as HTML; what is over makes no sound", () => {
  const facts =
    "error · rule Payments failing · 12 events · 2026-01-05 03:00 to 03:12 UTC · alert 7";
  const event = eventBody({ last_message: "a < b" });
  assert.deepEqual(matrixMessage(event, inWords(event, LINK)), {
    msgtype: "m.text",
    body: `ERROR shop: a < b\nhost = web-1\n${facts}\n${LINK}`,
    format: "org.matrix.custom.html",
    formatted_body: [
      "<strong>ERROR shop: a &lt; b</strong>",
      "<pre><code>host = web-1</code></pre>",
      facts,
      '<a href="https://box.example/a/7?x=1&amp;y=2">Open</a>',
    ].join("<br>"),
    "m.mentions": {},
  });
  for (const event of ["alert.acknowledged", "alert.resolved"] as const)
    assert.equal(
      Object(matrixMessage(eventBody({ event }), inWords(eventBody({ event })))).msgtype,
      "m.notice",
    );
});

test("however often it is tried, the room has one message, behind a path and whatever the ids hold", async () => {
  // The server took it; the answer is lost.
  receiver.once((_response, socket, request) => {
    const nobody = { writeHead: () => ({ end: () => undefined }) };
    server.behaviour(nobody as never, socket, request);
    socket.resetAndDestroy();
  });
  const more = { homeserver: `${receiver.url}/hs/` };
  const once = () => send({}, more, "evt/ä?#1");
  assert.equal((await once()).verdict.kind, "later");
  assert.deepEqual((await once()).verdict, { kind: "delivered", status: 200 });
  await send({}, more, "evt_2");
  assert.equal(receiver.received.length, 3);
  assert.equal(server.events.size, 2);
});

test("the server takes whatever logs and names may hold; no markup of theirs acts, and nobody is called", async () => {
  for (const [i, text] of hostileTexts.entries())
    for (const event of eventKinds) {
      const identifiers = { [text.slice(0, 200)]: text };
      const names = { project: text.slice(0, 128), rule: text.slice(0, 128) };
      const changes = { event, last_message: text, template: text, identifiers, ...names };
      const { verdict } = await send(changes, {}, `${event}${i}`);
      assert.equal(verdict.kind, "delivered", server.faults.join());
    }
  assert.deepEqual(
    [...server.events.values()].flatMap(({ content }) => matrixActs(content)),
    [],
  );
});

test("any event stays far below the size of an event", () => {
  const text = fc
    .tuple(fc.constantFrom("a", "<", "'", "💥", "\n", "\u0001", "&", "@room "), fc.nat(6_000))
    .map(([filler, length]) => filler.repeat(length));
  const events = fc.record({
    event: fc.constantFrom(...eventKinds),
    project: text,
    rule: text,
    last_message: text,
    identifiers: fc.dictionary(text, text, { maxKeys: 8 }),
  });
  fc.assert(
    fc.property(events, (changes) => {
      const content = matrixMessage(eventBody(changes), inWords(eventBody(changes), LINK));
      assert.ok(Buffer.byteLength(JSON.stringify(content)) < 60_000);
      assert.deepEqual(matrixActs({ ...content }), []);
    }),
    { numRuns: 40 },
  );
});

test("who may not write there is told so for good; a crowded or broken server is tried again", async () => {
  assert.deepEqual((await send({}, { room_id: "!other:example.org" })).verdict, {
    kind: "never",
    error: "http 403: M_FORBIDDEN",
  });
  assert.deepEqual((await send({}, { access_token: "canary" })).verdict, {
    kind: "never",
    error: "http 401: M_UNKNOWN_TOKEN",
  });
  const limited = { errcode: "M_LIMIT_EXCEEDED", error: "canary", retry_after_ms: 2_500 };
  const told = "http 429: M_LIMIT_EXCEEDED";
  receiver.once(answer(429, limited), answer(429, limited, { "retry-after": "3" }));
  assert.deepEqual((await send()).verdict, { kind: "later", error: told, retryAfterMs: 2_500 });
  assert.deepEqual((await send()).verdict, { kind: "later", error: told, retryAfterMs: 3_000 });
  receiver.once(answer(429, { ...limited, retry_after_ms: 1e12 }));
  assert.deepEqual((await send()).verdict, { kind: "later", error: told, retryAfterMs: 3_600_000 });
  const rows = [
    answer(403, "<html>canary"),
    answer(502, "canary"),
    answer(200, "<html>"),
    reset,
    answer(429, { ...limited, retry_after_ms: "5" }),
  ];
  for (const behaviour of rows) {
    receiver.once(behaviour);
    const { verdict } = await send();
    assert.deepEqual([verdict.kind, JSON.stringify(verdict).includes("canary")], ["later", false]);
  }
  receiver.once(answer(410, {}));
  assert.equal(Object((await send()).verdict).disable, true);
});
