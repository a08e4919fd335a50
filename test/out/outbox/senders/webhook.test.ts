import assert from "node:assert/strict";
import { after, afterEach, beforeEach, test } from "node:test";
import { Webhook } from "standardwebhooks";
import { systemClock, unixSeconds } from "../../../../src/ground/kit/clock.ts";
import { systemRandom } from "../../../../src/ground/kit/random.ts";
import {
  isSignedBy,
  mintWebhookSecret,
  readSignatureHeaders,
} from "../../../../src/ground/kit/sign.ts";
import type { Verdict } from "../../../../src/out/outbox/retry.ts";
import { sendWebhook } from "../../../../src/out/outbox/senders/webhook.ts";
import { boxEgress } from "../../../support/egress.ts";
import { eventBody } from "../../../support/events.ts";
import * as receivers from "../../../support/receiver.ts";

const egress = boxEgress();
after(() => egress.close());

const body = JSON.stringify(eventBody({ last_message: "žluť 💥" }));
const secret = mintWebhookSecret(systemRandom);
const timestamp = unixSeconds(systemClock);
const now = systemClock.now();

let receiver: receivers.Receiver;
beforeEach(async () => {
  receiver = await receivers.startReceiver();
});
afterEach(() => receiver.close());

function send(url = receiver.url, timeoutMs = 10_000) {
  const request = { url, secret, eventId: eventBody().event_id, timestamp, body };
  return sendWebhook({ egress, now, timeoutMs }, request);
}

test("the body goes out byte for byte, signed both ways", async () => {
  const { verdict } = await send(`${receiver.url}/hook?a=b`);
  assert.deepEqual(verdict, { kind: "delivered", status: 204 });
  const [request] = receiver.received;
  assert.ok(request !== undefined);
  assert.deepEqual([request.method, request.path, request.body], ["POST", "/hook?a=b", body]);
  assert.equal(request.headers["content-type"], "application/json");
  assert.equal(request.headers["user-agent"], "box/test");
  const headers = readSignatureHeaders(
    request.headers["x-service-timestamp"],
    request.headers["x-service-signature"],
  );
  assert.ok(headers !== null && isSignedBy(secret, headers, request.body));
  assert.deepEqual(new Webhook(secret).verify(request.body, request.headers), JSON.parse(body));
  assert.equal(request.headers["webhook-id"], eventBody().event_id);
});

test("each answer has its verdict", async () => {
  const rows: [receivers.Behaviour, Verdict][] = [
    [receivers.answer(200, "ok"), { kind: "delivered", status: 200 }],
    [receivers.answer(202), { kind: "delivered", status: 202 }],
    [receivers.flood(), { kind: "delivered", status: 200 }],
    [receivers.answer(500), { kind: "later", error: "http 500" }],
    [receivers.answer(404), { kind: "later", error: "http 404" }],
    [receivers.answer(422), { kind: "later", error: "http 422" }],
    [receivers.answer(401), { kind: "later", error: "http 401" }],
    [receivers.answer(410), { kind: "never", error: "http 410", disable: true }],
    [receivers.hangInBody(410), { kind: "never", error: "http 410", disable: true }],
    [
      receivers.redirect("http://169.254.169.254/"),
      { kind: "later", error: "http 302: redirect not followed" },
    ],
    [receivers.unavailable("7"), { kind: "later", error: "http 503", retryAfterMs: 7_000 }],
    [
      receivers.answer(429, "", { "retry-after": "7" }),
      { kind: "later", error: "http 429", retryAfterMs: 7_000 },
    ],
    [
      receivers.unavailable("1000000000"),
      { kind: "later", error: "http 503", retryAfterMs: 3_600_000 },
    ],
    [receivers.unavailable("-1"), { kind: "later", error: "http 503" }],
    [
      receivers.answer(503, "", {
        date: "Mon, 05 Jan 2026 09:00:00 GMT",
        "retry-after": "Mon, 05 Jan 2026 09:00:30 GMT",
      }),
      { kind: "later", error: "http 503", retryAfterMs: 30_000 },
    ],
    [receivers.reset, { kind: "later", error: "reset" }],
    [receivers.hangUp, { kind: "later", error: "closed" }],
    [receivers.hang, { kind: "later", error: "timeout" }],
    [receivers.hangInBody(200), { kind: "later", error: "body_too_slow" }],
    [receivers.drip(20), { kind: "later", error: "body_too_slow" }],
    [receivers.raw("SSH-2.0-x\r\n"), { kind: "later", error: "bad_response" }],
  ];
  for (const [behaviour, verdict] of rows) {
    receiver.once(behaviour);
    assert.deepEqual((await send(receiver.url, 1000)).verdict, verdict);
  }
  assert.equal(receiver.received.length, rows.length);
});

test("nobody there, a refused address and no URL at all are worth another try", async () => {
  const gone = await receivers.startReceiver();
  await gone.close();
  for (const [url, error] of [
    [gone.url, "refused"],
    ["http://169.254.169.254/", "address_refused"],
    ["nonsense", "bad_url"],
  ] as const) {
    assert.deepEqual((await send(url)).verdict, { kind: "later", error });
  }
});

test("the receiver's clock is handed on, where it told", async () => {
  receiver.once(receivers.answer(400, "", { date: "Mon, 05 Jan 2026 09:00:00 GMT" }));
  assert.equal((await send()).serverTime, Date.UTC(2026, 0, 5, 9));
  receiver.once(receivers.answer(400, "", { date: "today" }));
  assert.equal((await send()).serverTime, null);
});

test("a stop ends an attempt under way", async () => {
  receiver.always(receivers.hang);
  const stop = new AbortController();
  const request = { url: receiver.url, secret, eventId: "e", timestamp, body };
  const sending = sendWebhook({ egress, now, signal: stop.signal }, request);
  await receiver.next();
  stop.abort();
  assert.deepEqual((await sending).verdict, { kind: "later", error: "stopped" });
});
