import assert from "node:assert/strict";
import { after, afterEach, beforeEach, test } from "node:test";
import { readPushoverReceipt } from "../../../../src/out/services/pushover/answers.ts";
import {
  pushoverDirectFields,
  sendPushoverDirect,
  stopPushover,
} from "../../../../src/out/services/pushover/person.ts";
import { codeMessage, directMessage, hostileMessages } from "../../../support/direct.ts";
import { boxEgress } from "../../../support/egress.ts";
import { PUSHOVER_TOKEN, PUSHOVER_USER, pushoverServer } from "../../../support/pushes.ts";
import { answer, type Receiver, startReceiver } from "../../../support/receiver.ts";

const egress = boxEgress();
after(() => egress.close());
const via = { egress, now: 1_767_582_721_000 };

let receiver: Receiver;
let service: ReturnType<typeof pushoverServer>;
beforeEach(async () => {
  receiver = await startReceiver();
  service = pushoverServer();
  receiver.always(service.behaviour);
});
afterEach(() => receiver.close());

const way = (more = {}) => ({
  ...via,
  gateway: { token: PUSHOVER_TOKEN, url: receiver.url },
  fields: { address: PUSHOVER_USER },
  message: directMessage(),
  ...more,
});

test("a page of level 500 is an emergency with a receipt; lower ones ring, the rest doesn't", async () => {
  assert.deepEqual(pushoverDirectFields(directMessage(), 0), {
    title: "ALERT: shop · Payments failing",
    message: "Payment 42 failed for bob\ncritical · 12 events",
    url: "https://box.example/ack/canary-capability",
    url_title: "Acknowledge",
    priority: "2",
    timestamp: "0",
    retry: "60",
    expire: "3600",
  });
  const priority = (changes: object) => pushoverDirectFields(directMessage(changes), 0)["priority"];
  assert.deepEqual(
    [priority({ level: 400 }), priority({ purpose: "test" }), priority({ purpose: "note" })],
    ["1", "0", "-1"],
  );
  const { verdict, ref } = await sendPushoverDirect(way());
  assert.deepEqual([verdict.kind, service.receipts.has(ref ?? "")], ["delivered", true]);
  assert.equal((await sendPushoverDirect(way({ message: codeMessage }))).ref, undefined);
});

test("its receipt says who took it there, and ends its ringing; what isn't known any more has ended", async () => {
  const { ref = "" } = await sendPushoverDirect(way());
  assert.deepEqual(await readPushoverReceipt(via, way(), ref), {
    acknowledgedAt: null,
    isOver: false,
  });
  service.receipts.set(ref, 1_795_289_800);
  assert.deepEqual(await readPushoverReceipt(via, way(), ref), {
    acknowledgedAt: 1_795_289_800,
    isOver: true,
  });
  assert.equal((await stopPushover(way(), ref)).verdict.kind, "delivered");
  assert.equal(service.receipts.size, 0);
  assert.equal((await stopPushover(way(), ref)).verdict.kind, "delivered");
  assert.equal(await readPushoverReceipt(via, way(), ref), null);
  receiver.once(answer(503), answer(200, "null"), answer(200, "<html>"));
  assert.deepEqual((await stopPushover(way(), ref)).verdict, {
    kind: "later",
    error: "http 503",
    retryAfterMs: 5_000,
  });
  for (let i = 0; i < 2; i++) assert.equal(await readPushoverReceipt(via, way(), ref), null);
});

test("whatever was logged fits; a person that isn't one is refused for good, an application isn't", async () => {
  for (const message of hostileMessages()) {
    const { verdict } = await sendPushoverDirect(way({ message }));
    assert.equal(verdict.kind, "delivered");
  }
  const wrong = { fields: { address: "canaryx".padEnd(30, "x") } };
  assert.deepEqual((await sendPushoverDirect(way(wrong))).verdict, {
    kind: "never",
    error: "http 400: user invalid",
  });
  const other = { gateway: { token: "canaryy".padEnd(30, "y"), url: receiver.url } };
  assert.deepEqual((await sendPushoverDirect(way(other))).verdict, {
    kind: "later",
    error: "http 400: token invalid",
  });
  receiver.once(answer(429, { status: 0 }, { "retry-after": "60" }));
  assert.deepEqual((await sendPushoverDirect(way())).verdict, {
    kind: "later",
    error: "http 429",
    retryAfterMs: 60_000,
  });
});
