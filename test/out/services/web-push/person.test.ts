import assert from "node:assert/strict";
import { after, afterEach, beforeEach, test } from "node:test";
import { browser } from "../../../../src/app/prove/browser.ts";
import { type Random, systemRandom } from "../../../../src/ground/kit/random.ts";
import {
  encryptPush,
  LONGEST_PAYLOAD,
  mintVapidKeys,
} from "../../../../src/out/services/web-push/encryption.ts";
import { sendWebPush } from "../../../../src/out/services/web-push/person.ts";
import { pushService } from "../../../support/browsers.ts";
import { codeMessage, directMessage, hostileMessages } from "../../../support/direct.ts";
import { boxEgress } from "../../../support/egress.ts";
import { eventBody } from "../../../support/events.ts";
import { answer, type Receiver, reset, startReceiver } from "../../../support/receiver.ts";

const egress = boxEgress();
after(() => egress.close());

const NOW = Date.UTC(2026, 0, 5, 3, 12);
const vapid = mintVapidKeys(systemRandom);
const phone = browser();
let receiver: Receiver;
let service: ReturnType<typeof pushService>;
beforeEach(async () => {
  receiver = await startReceiver();
  service = pushService(() => receiver.url, vapid.public_key, NOW / 1_000);
  receiver.always(service.behaviour);
});
afterEach(() => receiver.close());

const send = (message = directMessage(), more: object = {}) =>
  sendWebPush(
    { egress, now: NOW },
    {
      gateway: { ...vapid, subject: "mailto:ann@example.org" },
      subscription: phone.subscription(`${receiver.url}/push/canary-subscription`),
      message,
      random: systemRandom,
      receipt: "r3c31pt",
      base: "https://box.example",
      device: { lockScreen: "all", zone: "Europe/Berlin" },
      ...more,
    },
  );
const shown = () => JSON.parse(phone.open(service.taken.at(-1)?.bytes ?? Buffer.alloc(0)));

/** Gives what it is told to, in order. */
const planned = (...values: string[]): Random => ({
  bytes: () => Buffer.from(values.shift() ?? "", "base64url"),
  fraction: () => 0,
});

test("AC-23.1 the standard's own example comes out byte for byte (RFC 8291, section 5)", () => {
  const random = planned("DGv6ra1nlYgDCS1FRnbzlw", "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw");
  const keys = {
    p256dh:
      "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
    auth: "BTBZMqHH6r4Tts7J_aSIgg",
  };
  const plain = Buffer.from("When I grow up, I want to be a watermelon");
  assert.equal(
    encryptPush(plain, keys, random).toString("base64url"),
    "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN",
  );
});

test("a number that is no key is drawn again", () => {
  const one = Buffer.alloc(32).fill(1, 31).toString("base64url");
  const { public_key, private_key } = mintVapidKeys(
    planned(
      Buffer.alloc(32).toString("base64url"),
      Buffer.alloc(32, 0xff).toString("base64url"),
      one,
    ),
  );
  // The generator of P-256.
  assert.equal(
    Buffer.from(public_key, "base64url").toString("hex").slice(0, 18),
    "046b17d1f2e12c4247",
  );
  assert.equal(private_key, one);
});

test("a page reaches the browser with all that its button needs, urgent, and gone in an hour", async () => {
  assert.deepEqual(await send(), { verdict: { kind: "delivered", status: 201 } });
  const { title, body, tag, data } = shown().notification;
  assert.deepEqual(
    [title, body, tag],
    ["ERROR shop: Payment 42 failed for bob", "12 × since 04:00", "alert-7"],
  );
  assert.deepEqual(
    [data.ack, data.receipt, data.server_time],
    ["https://box.example/ack/canary-capability", "r3c31pt", NOW / 1_000],
  );
  const { urgency, ttl } = service.taken[0]?.headers ?? {};
  assert.deepEqual([urgency, ttl], ["high", "3600"]);
  assert.ok(!service.taken[0]?.bytes?.includes("Payment"), "the service can't read it");
});

test("what is told of one alert later takes the page's place; several alerts, or none, have none", async () => {
  const notes = [
    directMessage(),
    directMessage({ purpose: "note" }),
    directMessage({ events: [eventBody(), eventBody({ alert_id: "8" })] }),
    codeMessage,
  ];
  for (const message of notes) assert.equal((await send(message)).verdict.kind, "delivered");
  const [page, note, both, code] = service.taken.map(({ headers }) => headers);
  assert.equal(page?.["topic"]?.length, 32);
  assert.deepEqual([note?.["topic"], note?.["urgency"]], [page?.["topic"], "normal"]);
  assert.deepEqual([both?.["topic"], code?.["topic"]], [undefined, undefined]);
  assert.match(shown().notification.title, /402913/);
});

test("whatever was logged reaches the browser whole words and all", async () => {
  for (const message of hostileMessages()) {
    assert.equal((await send(message)).verdict.kind, "delivered", service.faults.join());
    const { title, body } = shown().notification;
    assert.ok(title.isWellFormed() && body.isWellFormed());
  }
  assert.equal(LONGEST_PAYLOAD, 3_993);
  assert.throws(() => encryptPush(Buffer.alloc(3_994), phone.subscription("x").keys, systemRandom));
});

test("a subscription that is gone is told so for good; a crowded service is tried again", async () => {
  const gone = phone.subscription(`${receiver.url}/push/other`);
  assert.deepEqual((await send(directMessage(), { subscription: gone })).verdict, {
    kind: "never",
    error: "http 410",
    disable: true,
  });
  receiver.once(answer(404), answer(413, "canary"));
  assert.deepEqual((await send()).verdict, { kind: "never", error: "http 404", disable: true });
  assert.deepEqual((await send()).verdict, { kind: "never", error: "http 413" });
  receiver.once(answer(429, "canary", { "retry-after": "20" }), answer(503, "canary"), reset);
  assert.deepEqual((await send()).verdict, {
    kind: "later",
    error: "http 429",
    retryAfterMs: 20_000,
  });
  assert.deepEqual((await send()).verdict, { kind: "later", error: "http 503" });
  assert.equal((await send()).verdict.kind, "later");
  const other = { gateway: { ...mintVapidKeys(systemRandom), subject: "mailto:a@b.example" } };
  assert.deepEqual((await send(directMessage(), other)).verdict, {
    kind: "later",
    error: "http 403",
  });
  assert.deepEqual(service.faults, ["gone", "VapidPkHashMismatch"]);
  const broken = { endpoint: `${receiver.url}/push/x`, keys: { p256dh: "AAAA", auth: "AAAA" } };
  const before = receiver.received.length;
  assert.deepEqual((await send(directMessage(), { subscription: broken })).verdict, {
    kind: "never",
    error: "unusable subscription keys",
    disable: true,
  });
  assert.equal(receiver.received.length, before);
});
