import assert from "node:assert/strict";
import { after, afterEach, beforeEach, test } from "node:test";
import type { Egress } from "../../../../src/ground/kit/egress.ts";
import { segmentsOf, sendSms, smsText } from "../../../../src/out/services/twilio/sms.ts";
import { callTwiml, closingTwiml, placeCall } from "../../../../src/out/services/twilio/voice.ts";
import { codeMessage, directMessage, hostileMessages } from "../../../support/direct.ts";
import { boxEgress } from "../../../support/egress.ts";
import { answer, hang, type Receiver, startReceiver } from "../../../support/receiver.ts";
import {
  spokenIn,
  TWILIO_BAD,
  TWILIO_FROM,
  TWILIO_SID,
  TWILIO_STOPPED,
  TWILIO_TOKEN,
  twilioService,
} from "../../../support/twilio.ts";

const egress = boxEgress();
after(() => egress.close());

const NOW = Date.UTC(2026, 10, 20, 10, 12, 13);
let receiver: Receiver;
let service: ReturnType<typeof twilioService>;
beforeEach(async () => {
  receiver = await startReceiver();
  service = twilioService(NOW);
  receiver.always(service.behaviour);
});
afterEach(() => receiver.close());

const gateway = () => ({
  account_sid: TWILIO_SID,
  auth_token: TWILIO_TOKEN,
  from: TWILIO_FROM,
  url: receiver.url,
});
const statusUrl = "https://box.example/v1/in/twilio/status?t=1&u=2";
const keysUrl = "https://box.example/v1/in/twilio/keys?t=1&u=2";
const common = () => ({
  gateway: gateway(),
  to: "+15550002222",
  message: directMessage(),
  statusUrl,
});
const via = (more: object = {}) => ({ egress, now: NOW, ...more });
const text = (more: object = {}, of: object = {}) =>
  sendSms(via(of), { ...common(), takesReplies: true, ...more });
const call = (more: object = {}, of: object = {}) =>
  placeCall(via(of), { ...common(), keysUrl, ...more });

test("a text: what happened, how to answer, where to look; its SID comes back", async () => {
  assert.deepEqual(await text(), {
    verdict: { kind: "delivered", status: 201 },
    ref: service.made[0]?.sid,
  });
  assert.deepEqual(Object.fromEntries(service.made[0]?.form ?? []), {
    To: "+15550002222",
    From: TWILIO_FROM,
    StatusCallback: statusUrl,
    Body: [
      "ALERT: shop - Payments failing\nPayment 42 failed for bob\ncritical - 12 events",
      "Reply: ack k3v9x2m7q4t8",
      "https://box.example/ack/canary-capability",
    ].join("\n"),
  });
  const set = { ...gateway(), from: "", messaging_service_sid: "MG1" };
  await text({ gateway: set, statusUrl: null });
  assert.deepEqual(
    [...(service.made[1]?.form.keys() ?? [])],
    ["To", "MessagingServiceSid", "Body"],
  );
});

test("segments are counted as phones take them: 160 or 153, 70 or 67, and no character is parted", () => {
  const rows: [string, number][] = [
    ...([
      ["", 1],
      ["a".repeat(160), 1],
      ["a".repeat(161), 2],
    ] as [string, number][]),
    ...([
      ["a".repeat(306), 2],
      ["a".repeat(307), 3],
      ["€".repeat(80), 1],
    ] as [string, number][]),
    // The pair that doesn't fit leaves a place at the first segment's end.
    ...([[`${"a".repeat(152)}€${"a".repeat(151)}`, 2]] as [string, number][]),
    ...([[`${"a".repeat(152)}€${"a".repeat(152)}`, 3]] as [string, number][]),
    ...([
      ["ж".repeat(70), 1],
      ["ж".repeat(71), 2],
      ["ж".repeat(134), 2],
    ] as [string, number][]),
    ...([
      ["ж".repeat(135), 3],
      ["💥".repeat(35), 1],
      ["💥".repeat(66), 2],
    ] as [string, number][]),
    ...([
      ["💥".repeat(67), 3],
      ["\u0060", 1],
      ["é".normalize("NFD"), 1],
    ] as [string, number][]),
  ];
  for (const [one, segments] of rows) assert.equal(segmentsOf(one), segments, `${one.length}`);
});

test("whatever was logged, a text is two segments at most and its answer stands whole", async () => {
  for (const message of hostileMessages()) {
    assert.equal((await text({ message })).verdict.kind, "delivered", service.faults.join());
    const body = service.made.at(-1)?.body ?? "";
    assert.ok(segmentsOf(body) <= 2 && body.isWellFormed());
    assert.match(
      body,
      /\nReply: ack k3v9x2m7q4t8(\nhttps:\/\/box\.example\/ack\/canary-capability)?$/,
    );
  }
  const long = `https://box.example/${"x".repeat(400)}`;
  const ack = { url: long, handle: "k3v9x2m7q4t8" };
  const body = smsText(directMessage({ ack, lines: ["y".repeat(500)] }), true);
  assert.ok(body.endsWith("...\nReply: ack k3v9x2m7q4t8") && segmentsOf(body) === 2);
  assert.ok(segmentsOf(`${body}y`) === 3, "as many words as there is room for");
  assert.equal(smsText(directMessage(), false).includes("Reply"), false);
});

test("a call says it digit by digit and asks for a key; without a public address it says it twice", async () => {
  assert.deepEqual(await call(), {
    verdict: { kind: "delivered", status: 201 },
    ref: service.made[0]?.sid,
  });
  const form = service.made[0]?.form;
  const say = "ALERT: shop, Payments failing. Payment 4 2 failed for bob. critical, 1 2 events";
  assert.equal(
    form?.get("Twiml"),
    `<Response><Gather numDigits="1" timeout="10" method="POST" action="https://box.example/v1/in/twilio/keys?t=1&amp;u=2"><Say>${say}</Say><Say>Press 4 to acknowledge, 6 to resolve, 9 to hear this again.</Say></Gather><Say>No key was pressed.</Say></Response>`,
  );
  assert.deepEqual(form?.getAll("StatusCallbackEvent"), [
    "initiated",
    "ringing",
    "answered",
    "completed",
  ]);
  assert.equal(form?.get("Timeout"), "30");
  const twice = `<Response><Say>${say}</Say><Pause length="1"/><Say>${say}</Say></Response>`;
  assert.equal(callTwiml(directMessage(), null), twice);
  assert.equal(callTwiml(directMessage(), `https://box.example/${"x".repeat(1_000)}`), twice);
  const code = "Your code is 4 0 2 9 1 3. Again: 4 0 2 9 1 3";
  assert.deepEqual(spokenIn(callTwiml(codeMessage, keysUrl)), [code, code]);
  assert.equal(
    closingTwiml("Ann & Bob have 17"),
    "<Response><Say>Ann &amp; Bob have 1 7</Say></Response>",
  );
});

test("whatever was logged, a call's TwiML is XML of our own verbs within the limit", async () => {
  for (const message of hostileMessages())
    for (const url of [keysUrl, null]) {
      const { verdict } = await call({ message, keysUrl: url });
      assert.equal(verdict.kind, "delivered", service.faults.join());
    }
  const mean = directMessage({ title: "</Say><Hangup/>\u0000\ud800", lines: ["'\"&".repeat(500)] });
  assert.match(spokenIn(callTwiml(mean, keysUrl))?.[0] ?? "", /^<\/Say><Hangup\/> �\. '"&/);
});

for (const [name, order, other] of [
  ["text", text, call],
  ["call", call, text],
] as const) {
  test(`a ${name} whose answer was lost is found, at once or before another is ordered, and never made twice`, async () => {
    receiver.once(service.lost);
    const found = await order();
    assert.deepEqual([found.verdict.kind, found.ref], ["delivered", service.made[0]?.sid]);
    // Neither the answer nor the list can be had; the next attempt asks first.
    service.made.length = 0;
    receiver.once(service.lost, answer(503));
    assert.equal((await order()).verdict.kind, "later");
    const again = await order({ since: NOW }, { now: NOW + 30_000 });
    assert.deepEqual([again.verdict.kind, again.ref], ["delivered", service.made[0]?.sid]);
    assert.equal(service.made.length, 1);
  });

  test(`a ${name} that was really not made is ordered: an older one, a failed one and another kind aren't it`, async () => {
    await order();
    await other();
    const first = service.made[0];
    if (first) first.date_created = new Date(NOW - 60_000).toUTCString();
    assert.equal((await order({ since: NOW })).ref, service.made[2]?.sid);
    if (service.made[2]) service.made[2].status = "failed";
    assert.equal((await order({ since: NOW })).ref, service.made[3]?.sid);
    // While it can't be looked for, nothing is ordered.
    receiver.once(answer(503));
    assert.deepEqual((await order({ since: NOW })).verdict, { kind: "later", error: "http 503" });
    assert.equal(service.made.length, 4);
    // A key that may order and not look will never be able to.
    if (service.made[3]) service.made[3].status = "canceled";
    receiver.once(answer(403, { code: 70_051, status: 403, message: "canary" }));
    assert.equal((await order({ since: NOW })).ref, service.made[4]?.sid);
    assert.equal(service.made.length, 5);
  });

  test(`a ${name}: numbers that are none, or said stop, are refused for good; the rest is tried again`, async () => {
    const never = (error: string) => ({ verdict: { kind: "never", error } });
    assert.deepEqual(await order({ to: TWILIO_BAD }), never("http 400: code 21211"));
    assert.deepEqual(await order({ to: TWILIO_STOPPED }), never("http 400: code 21610"));
    const wrong = { ...gateway(), auth_token: "canary-wrong" };
    assert.deepEqual((await order({ gateway: wrong })).verdict, {
      kind: "later",
      error: "http 401: code 20003",
    });
    const limited = { code: 20_429, message: "canary", status: 429 };
    receiver.once(answer(429, limited, { "retry-after": "9" }), answer(500, "canary"));
    assert.deepEqual((await order()).verdict, {
      kind: "later",
      error: "http 429: code 20429",
      retryAfterMs: 9_000,
    });
    assert.deepEqual((await order()).verdict, { kind: "later", error: "http 500" });
    receiver.once(answer(200, "<html>canary"));
    assert.deepEqual((await order()).verdict, { kind: "later", error: "http 200: not accepted" });
  });

  test(`a ${name}: asking and looking have one limit between them`, async () => {
    receiver.once(hang, hang);
    const started = performance.now();
    const { verdict } = await order({}, { timeoutMs: 400 });
    assert.deepEqual(verdict, { kind: "later", error: "timeout" });
    assert.ok(performance.now() - started < 2_000);
    assert.deepEqual(
      receiver.received.map(({ method }) => method),
      ["POST", "GET"],
    );
  });
}

test("looking before, asking and looking after are one attempt's time", async () => {
  const limits: number[] = [];
  const slow: Egress = {
    dial: () => Promise.reject(new Error("nothing but HTTP")),
    talk: () => Promise.reject(new Error("nothing but HTTP")),
    async send({ method, timeoutMs = 0 }) {
      limits.push(timeoutMs);
      const nothing = { headers: {}, truncated: false, sent: true, durationMs: timeoutMs };
      return method === "GET"
        ? { ...nothing, error: null, status: 200, body: '{"messages":[]}' }
        : { ...nothing, error: "timeout", status: null, body: "" };
    },
  };
  for (const since of [{}, { since: NOW }]) {
    limits.length = 0;
    const request = { ...common(), takesReplies: false, ...since };
    const { verdict } = await sendSms({ egress: slow, now: NOW }, request);
    assert.deepEqual(verdict, { kind: "later", error: "timeout" });
    const all = limits.reduce((sum, each) => sum + each, 0);
    assert.ok(limits.every(Number.isInteger) && all <= 10_000, limits.join());
  }
});

test("a key of the account's logs in where there is one; the token then never leaves", async () => {
  receiver.once(answer(401, { code: 20_003 }));
  await text({ gateway: { ...gateway(), api_key: "SKcanary", api_secret: "secret" } });
  const [request] = receiver.received;
  const login = Buffer.from("SKcanary:secret").toString("base64");
  assert.equal(request?.headers["authorization"], `Basic ${login}`);
});
