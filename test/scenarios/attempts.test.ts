import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";
import type { DeliveryDetail } from "../../src/out/outbox/delivery-detail.ts";
import { type TestBox, testBox } from "../support/box.ts";
import { configureRelay, testProject } from "../support/channels.ts";
import { answer, type Receiver, reset, startReceiver } from "../support/receiver.ts";
import { pass, settle, through } from "../support/until.ts";

let box: TestBox;
let receiver: Receiver;
beforeEach(async () => {
  receiver = await startReceiver();
  box = await testBox({ telegramApi: receiver.url });
});
afterEach(async () => {
  await receiver.close();
  await through(box, box.stop());
});

/** The channel's newest delivery, whole. */
async function newest(project: string, iid: string): Promise<DeliveryDetail> {
  const at = `/v1/projects/${project}/integrations/${iid}/deliveries`;
  const [row] = (await box.api("GET", at)).body.deliveries;
  const { status, body } = await box.api("GET", `${at}/${row.id}`);
  assert.equal(status, 200, JSON.stringify(body));
  return body;
}

test("a delivery says what was sent, byte for byte, and how its last five attempts ended", async () => {
  const shop = await testProject(box, "shop");
  const id = await shop.webhook(receiver.url, { secret: "hush-hush-hush" });
  receiver.once(answer(503, "upstream down"), reset, answer(404, "x".repeat(900)));
  receiver.once(reset, answer(500, "a"), answer(500, "b"), answer(200, "thanks"));
  await shop.fire(1);
  await settle(box);
  const first = await newest("shop", id);
  assert.deepEqual(
    first.tries.map(({ status_code, error, answer: said }) => [status_code, error, said]),
    [[503, "http 503", "upstream down"]],
  );
  assert.equal(first.request?.headers["webhook-id"], receiver.received[0]?.headers["webhook-id"]);
  await pass(box, 320, 5);
  const { tries, request, attempts, id: delivery } = await newest("shop", id);
  assert.equal(attempts, 7);
  // Nothing of it is kept twice.
  const kept = box.tenant.store.sql<[string], string>(
    "SELECT request FROM deliveries WHERE id = ?",
  );
  assert.equal(kept.pluck().get(delivery), "");
  assert.deepEqual(
    tries.map(({ status_code, error, answer: { length } }) => [status_code, error, length]),
    [
      [404, "http 404", 512],
      [null, "reset", 0],
      [500, "http 500", 1],
      [500, "http 500", 1],
      [200, null, 6],
    ],
  );
  for (const [i, each] of tries.entries()) {
    assert.ok(each.at >= (tries[i - 1]?.at ?? first.created_at), "in order");
    assert.ok(each.duration_ms >= 0);
  }
  const arrived = receiver.received.at(-1);
  assert.ok(request && arrived);
  assert.deepEqual([request.method, request.url], ["POST", receiver.url]);
  assert.equal(request.body, arrived.body);
  assert.deepEqual(request.headers, {
    "Content-Type": "application/json",
    "X-Service-Timestamp": arrived.headers["x-service-timestamp"],
    "X-Service-Signature": "[sealed]",
    "webhook-id": arrived.headers["webhook-id"],
    "webhook-timestamp": arrived.headers["webhook-timestamp"],
    "webhook-signature": "[sealed]",
  });
});

test("a room's request is shown in its own words, with neither its bot's token nor its chat", async () => {
  const shop = await testProject(box, "shop");
  const made = await box.api("POST", "/v1/projects/shop/integrations", {
    type: "telegram",
    token: "112233:bot-token-secret",
    chat_id: "-100999888777",
  });
  receiver.always((response, _, request) => {
    response.end(JSON.stringify({ ok: true, echo: request.path + request.body }));
  });
  await shop.fire("k1");
  await settle(box);
  const shown = await newest("shop", made.body.id);
  assert.equal(shown.status, "delivered");
  assert.match(shown.request?.body ?? "", /it is down/);
  assert.match(shown.request?.body ?? "", /"chat_id":"\[sealed\]"/);
  assert.match(shown.tries[0]?.answer ?? "", /bot\[sealed\]\/sendMessage/);
  assert.doesNotMatch(JSON.stringify(shown), /bot-token-secret|100999888777/);
});

test("before the first attempt there is none; a stranger's delivery is 404; how many phones the relay paged is kept", async () => {
  const shop = await testProject(box, "shop");
  await testProject(box, "other");
  const relay = configureRelay(box, "shop", receiver.url);
  receiver.always(answer(200, '{"devices":2}'));
  await shop.fire(1);
  await settle(box);
  assert.equal((await newest("shop", relay)).tries[0]?.devices, 2);

  const id = await shop.webhook(receiver.url);
  receiver.always(answer(500));
  await shop.fire(2);
  await settle(box);
  await shop.fire(3);
  const waits = await newest("shop", id);
  assert.deepEqual([waits.tries, waits.request, waits.attempts], [[], null, 0]);
  for (const at of [
    `shop/integrations/${relay}/deliveries/${waits.id}`,
    `other/integrations/${id}/deliveries/${waits.id}`,
    `shop/integrations/${id}/deliveries/x`,
  ])
    assert.equal((await box.api("GET", `/v1/projects/${at}`)).status, 404, at);
});

test("what was dropped is not sent again, and why is said", async () => {
  const shop = await testProject(box, "shop", { escalations: [] });
  const id = await shop.webhook(receiver.url);
  receiver.always(answer(500));
  await shop.fire(1);
  await settle(box);
  const { id: did } = await newest("shop", id);
  box.tenant.store.write((tx) =>
    tx
      .sql("UPDATE deliveries SET status = 'dropped', last_error = 'withdrawn' WHERE id = ?")
      .run(did),
  );
  const again = await box.api(
    "POST",
    `/v1/projects/shop/integrations/${id}/deliveries/${did}/resend`,
  );
  assert.deepEqual([again.status, again.body.error.code], [409, "delivery_not_resendable"]);
  assert.match(again.body.error.message, /dropped on purpose \(withdrawn\)/);
  await pass(box, 2);
});

test("a channel's health follows what happens to it, and who looks is told of each turn", async () => {
  await through(box, box.stop());
  box = await testBox({ breakerFailures: "3", breakerHours: "1" });
  const shop = await testProject(box, "shop");
  const id = await shop.webhook(receiver.url);
  const at = `/v1/projects/shop/integrations/${id}`;
  const health = async () => (await box.api("GET", at)).body.health;
  const topics: string[] = [];
  let since = box.tenant.changes.after(null).next;
  const told = () => {
    const page = box.tenant.changes.after(since);
    since = page.next;
    topics.push(...page.topics);
    return page.topics.includes(`deliveries:${id}`);
  };
  assert.equal((await health()).state, "never_tried");

  receiver.always(answer(503, "upstream down"));
  await shop.fire(1);
  told();
  await settle(box);
  assert.ok(told(), "that it was tried, and failed");
  const failing = await health();
  const now = Math.floor(box.clock.now() / 1000);
  assert.deepEqual(
    [failing.state, failing.failures, failing.since, failing.error, failing.waiting],
    ["failing", 1, now, "http 503", 1],
  );
  assert.equal(failing.turns_off_at, now + 3600);
  assert.ok(failing.next_try_at > now && failing.next_try_at <= now + 3, "about two seconds on");

  receiver.always(answer(200));
  assert.deepEqual((await box.api("POST", `${at}/test`)).body, { ok: true });
  assert.ok(told(), "a passed test clears it");
  assert.equal((await health()).state, "works");
  await settle(box);
  assert.deepEqual(
    (await shop.deliveries(id)).map(({ status }) => status),
    ["delivered"],
    "and what waited goes out at once",
  );

  receiver.always(answer(500));
  await shop.fire(2);
  // The first attempt after an hour of failures may be as late as 7,919 s: jitter can put the one before just inside of it.
  await pass(box, 8500, 60);
  const broken = await health();
  assert.deepEqual([broken.state, broken.off_by, broken.off_by_account], ["off", "breaker", null]);
  assert.match(broken.text, /^Off since .* UTC: it turned itself off .*http 500/);
  assert.ok(broken.since > now);

  receiver.always(answer(200));
  await box.api("POST", `${at}/enable`);
  await settle(box);
  assert.equal((await health()).state, "works");
  receiver.always(answer(410, "<b>gone</b>"));
  await shop.fire(3);
  await settle(box);
  assert.equal((await health()).off_by, "receiver");
  await box.api("POST", `${at}/enable`);
  await box.api("POST", `${at}/disable`);
  const off = await health();
  assert.deepEqual([off.off_by, off.off_by_account], ["person", box.owner.accountId]);
  const { integrations } = (await box.api("GET", "/v1/projects/shop/integrations")).body;
  assert.deepEqual(integrations[0].health, off);
});
