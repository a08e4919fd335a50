import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, test } from "node:test";
import type { BoxFlags } from "../../src/app/config.ts";
import { ServiceError } from "../../src/ground/kit/errors.ts";
import { type TestBox, testBox } from "../support/box.ts";
import { configureRelay, testProject } from "../support/channels.ts";
import {
  answer,
  type Behaviour,
  drip,
  flood,
  hang,
  hangInBody,
  hangUp,
  type Receiver,
  raw,
  redirect,
  reset,
  resetInBody,
  startReceiver,
} from "../support/receiver.ts";
import { busy, pass, settle, through } from "../support/until.ts";

let box: TestBox;
let receiver: Receiver;
beforeEach(async () => {
  receiver = await startReceiver();
});
afterEach(async () => {
  await receiver.close();
  await through(box, box.stop());
});

async function start(flags: BoxFlags = {}) {
  box = await testBox(flags);
  return testProject(box, "shop");
}

const seconds = () => Math.round(box.clock.mono() / 1000);
const eventOf = (body: string) => JSON.parse(body) as Record<string, unknown>;
const told = () => receiver.received.map(({ body }) => eventOf(body));
const alertsTold = (from = 0) =>
  told()
    .slice(from)
    .map(({ alert_id }) => alert_id);

test("what was under way when the box stopped goes out again, the same bytes, and is recorded", async () => {
  const shop = await start();
  const id = await shop.webhook(receiver.url);
  receiver.once(hang);
  await shop.fire(1);
  await busy(box, () => receiver.received.length === 1, "the first attempt arrives");
  await through(box, box.restart());
  await settle(box);
  const [first, second] = receiver.received;
  assert.equal(receiver.received.length, 2);
  assert.equal(second?.body, first?.body);
  assert.equal(second?.headers["webhook-id"], first?.headers["webhook-id"]);
  const [row] = await shop.deliveries(id);
  assert.deepEqual([row?.status, row?.attempts], ["delivered", 1]);
});

test("every kind of refusal is a failed attempt with its reason, at its time; then it gets through", async (t) => {
  const shop = await start();
  const id = await shop.webhook(receiver.url);
  const elsewhere = await startReceiver();
  t.after(() => elsewhere.close());
  const wait = (s: number) => [s * 0.8, s * 1.2 + 1] as const;
  const cases: [Behaviour, string, readonly [number, number]][] = [
    [answer(500), "http 500", [0, 0]],
    [answer(404), "http 404", wait(2)],
    [answer(429, "", { "retry-after": "7" }), "http 429", wait(5)],
    [redirect(elsewhere.url), "http 302: redirect not followed", wait(15)],
    [reset, "reset", wait(30)],
    [hang, "timeout", wait(60)],
    [answer(503, "", { "retry-after": "300" }), "http 503", wait(120)],
  ];
  receiver.once(...cases.map(([behaviour]) => behaviour));
  await shop.fire(1);
  let last = seconds();
  for (const [i, [behaviour, error, [least, most]]] of cases.entries()) {
    if (i === 0) await settle(box);
    while (receiver.received.length === i) {
      await box.clock.turn(1000);
      await (behaviour === hang ? busy(box, () => true, "a tick") : settle(box));
      if (behaviour === hang && box.tenant.outbox.deliveries.inFlight > 0)
        await busy(box, () => receiver.received.length > i, "the attempt that hangs arrives");
      assert.ok(seconds() - last < 400, `attempt ${i} comes`);
    }
    const waited = seconds() - last;
    last = seconds();
    assert.ok(waited >= least && waited <= most, `attempt ${i} after ${waited} s`);
    if (behaviour === hang) {
      // It began within the last second.
      await box.clock.turn(8999);
      assert.equal(box.tenant.outbox.deliveries.inFlight, 1);
      await box.clock.turn(1001);
      await settle(box);
      last = seconds();
    }
    const [row] = await shop.deliveries(id);
    assert.deepEqual([row?.status, row?.attempts, row?.last_error], ["pending", i + 1, error]);
    const endpoint = await shop.integration(id);
    assert.deepEqual([endpoint.consecutive_failures, endpoint.last_error], [i + 1, error]);
  }
  await pass(box, 299, 13);
  assert.equal(receiver.received.length, cases.length, "Retry-After is obeyed");
  await pass(box, 70, 5);
  const [row] = await shop.deliveries(id);
  assert.deepEqual([row?.status, row?.last_error, row?.next_attempt_at], ["delivered", null, null]);
  assert.deepEqual((await shop.integration(id)).consecutive_failures, 0);
  assert.equal(elsewhere.received.length, 0);
  const bodies = new Set(receiver.received.map(({ body }) => body));
  assert.equal(bodies.size, 1);
});

test("whatever a receiver does is one word in last_error, and everything arrives once it is well", async (t) => {
  const shop = await start();
  const secure = await startReceiver({ tls: "self-signed" });
  t.after(() => secure.close());
  const cases: Record<string, [Behaviour, string | null]> = {
    silent: [hang, "timeout"],
    halting: [hangInBody(), "body_too_slow"],
    dripping: [drip(), "body_too_slow"],
    flooding: [flood(), null],
    rude: [resetInBody(), "reset"],
    polite: [hangUp, "closed"],
    babbling: [raw("hello\r\n\r\n"), "bad_response"],
    moved: [redirect("http://169.254.169.254/latest"), "http 302: redirect not followed"],
    busy: [answer(503, "", { "retry-after": "-5" }), "http 503"],
    asking: [answer(503, "", { "retry-after": "99999999999999" }), "http 503"],
  };
  const ids = new Map<string, string>();
  for (const name of Object.keys(cases))
    ids.set(name, await shop.webhook(`${receiver.url}/${name}`));
  const untrusted = await shop.webhook(secure.url);
  receiver.always((response, socket, request) =>
    cases[request.path.slice(1)]?.[0](response, socket, request),
  );
  await shop.fire(1);
  const { deliveries } = box.tenant.outbox;
  await busy(box, () => deliveries.inFlight === 3, "all but those that don't end are over");
  await box.clock.turn(10_000);
  await settle(box);
  for (const [name, [, error]] of Object.entries(cases)) {
    const [row] = await shop.deliveries(ids.get(name) ?? "");
    assert.deepEqual(
      [row?.status, row?.last_error],
      error === null ? ["delivered", null] : ["pending", error],
      name,
    );
  }
  assert.equal((await shop.deliveries(untrusted))[0]?.last_error, "tls: self_signed");
  assert.equal(secure.received.length, 0);
  receiver.always(answer(204));
  await pass(box, 3700, 60);
  for (const [name, id] of ids)
    assert.equal((await shop.deliveries(id))[0]?.status, "delivered", name);
});

test("the signed timestamp stays for four minutes of attempts, then it is fresh", async () => {
  const shop = await start();
  await shop.webhook(receiver.url);
  receiver.always(answer(500));
  await shop.fire(1);
  await settle(box);
  // The eighth attempt comes 532 s after the first, or a fifth later.
  await pass(box, 700, 5);
  const stamps = receiver.received.map(({ headers }) => Number(headers["x-service-timestamp"]));
  const first = stamps[0] ?? 0;
  assert.ok(stamps.length >= 8);
  for (const stamp of stamps) assert.ok(stamp === first || stamp - first >= 240, `${stamps}`);
  assert.ok((stamps.at(-1) ?? 0) > first);
});

test("a gap in the network eats no page: all go out on return, in order", async () => {
  const shop = await start();
  const id = await shop.webhook(receiver.url);
  const { port } = receiver;
  await receiver.close();
  for (let k = 0; k < 5; k++) await shop.fire(k);
  await pass(box, 90);
  assert.ok((await shop.deliveries(id)).every(({ status }) => status === "pending"));
  assert.equal((await shop.integration(id)).last_error, "refused");
  receiver = await startReceiver({ port });
  await pass(box, 60);
  assert.ok((await shop.deliveries(id)).every(({ status }) => status === "delivered"));
  const order = told().map((event) => event["alert_id"]);
  // The first to get through is the one that was tried; the rest of the backlog follows in order.
  assert.deepEqual(order.slice(1), [...order.slice(1)].sort());
  assert.equal(new Set(order).size, 5);
});

test("events of one alert reach an endpoint in order, whatever fails between", async () => {
  const shop = await start();
  await shop.webhook(receiver.url);
  receiver.once(answer(500), answer(500));
  await shop.fire(1);
  await settle(box);
  await box.api("POST", "/v1/alerts/1/ack");
  await settle(box);
  await box.api("POST", "/v1/alerts/1/resolve");
  await pass(box, 30);
  assert.deepEqual(
    told().map((event) => event["event"]),
    [...Array(3).fill("alert.opened"), "alert.acknowledged", "alert.resolved"],
  );
});

test("410 fails the delivery and disables the endpoint; the others are told", async (t) => {
  const shop = await start();
  const other = await startReceiver();
  t.after(() => other.close());
  const id = await shop.webhook(receiver.url, { name: "gone" });
  await shop.webhook(other.url, { events: ["integration.disabled"] });
  receiver.once(answer(410));
  await shop.fire(1);
  await settle(box);
  const [row] = await shop.deliveries(id);
  assert.deepEqual([row?.status, row?.last_error], ["failed", "http 410"]);
  const endpoint = await shop.integration(id);
  assert.equal(endpoint.enabled, false);
  assert.match(endpoint.last_error ?? "", /http 410/);
  const notice = eventOf((await other.next()).body);
  assert.deepEqual([notice["event"], notice["alert_id"]], ["integration.disabled", ""]);
  assert.deepEqual(notice["integration"], {
    id,
    name: "gone",
    type: "webhook",
    reason: endpoint.last_error,
  });
  await shop.fire(2);
  await settle(box);
  assert.equal((await shop.deliveries(id)).length, 1, "no rows for a disabled endpoint");
  const ready = await box.api("GET", "/readyz");
  assert.equal(ready.body.status, "degraded");
  assert.match(JSON.stringify(ready.body), /shop: gone \(webhook/);
  await shop.post(`/integrations/${id}/disable`);
  const calm = await box.api("GET", "/readyz", undefined, null);
  const { ok } = calm.body.checks.find(({ name }: { name: string }) => name === "breakers");
  assert.equal(ok, true, "what a person disabled is as it should be");
});

describe("the breaker", () => {
  test("needs failures and time; enabling sends what waited in order, but not what is too old", async () => {
    const shop = await start({ breakerFailures: "5", breakerHours: "1" });
    const id = await shop.webhook(receiver.url);
    receiver.always(answer(500));
    await shop.fire("old");
    await settle(box);
    await pass(box, 3500, 20);
    const before = await shop.integration(id);
    assert.equal(before.enabled, true, "an hour isn't over");
    assert.ok(before.consecutive_failures >= 5);
    // The first attempt after that hour may be as late as 7,919 s: jitter can put the one before just inside of it.
    await pass(box, 5000, 60);
    const shut = await shop.integration(id);
    assert.deepEqual([shut.enabled, shut.last_error?.endsWith("http 500")], [false, true]);
    assert.equal((await shop.deliveries(id))[0]?.status, "pending");

    receiver.always(answer(204));
    assert.equal(await shop.post(`/integrations/${id}/enable`), 200);
    const seen = receiver.received.length;
    await settle(box);
    assert.deepEqual(
      told()
        .slice(seen)
        .map((event) => event["event"]),
      ["alert.opened"],
    );
    assert.equal((await shop.integration(id)).last_error, null);
  });

  test("a count alone does not open it", async () => {
    const shop = await start({ breakerFailures: "3", breakerHours: "24" });
    const id = await shop.webhook(receiver.url);
    receiver.always(answer(500));
    for (let k = 0; k < 10; k++) await shop.fire(k);
    await settle(box);
    await pass(box, 600, 10);
    const endpoint = await shop.integration(id);
    assert.ok(endpoint.consecutive_failures > 20);
    assert.equal(endpoint.enabled, true);
  });
});

test("disable keeps what waits; enable releases it in order, one at a time", async () => {
  const shop = await start();
  const id = await shop.webhook(receiver.url);
  receiver.always(answer(500));
  for (let k = 0; k < 20; k++) await shop.fire(k);
  await settle(box);
  await shop.post(`/integrations/${id}/disable`);
  await pass(box, 120, 30);
  const seen = receiver.received.length;
  await pass(box, 600, 60);
  assert.equal(receiver.received.length, seen, "a disabled endpoint is not called");
  let most = 0;
  receiver.always((response) => {
    most = Math.max(most, box.tenant.outbox.deliveries.inFlight);
    response.writeHead(204).end();
  });
  await shop.post(`/integrations/${id}/enable`);
  await settle(box);
  const order = told()
    .slice(seen)
    .map((event) => Number(event["alert_id"]));
  assert.deepEqual(
    order,
    Array.from({ length: 20 }, (_, i) => i + 1),
  );
  assert.equal(most, 1);
});

test("what is older than a day has failed: where it waits, and on enable", async () => {
  const shop = await start();
  const id = await shop.webhook(receiver.url);
  const age = (alert: number, hours: number) =>
    box.tenant.store.write((tx) =>
      tx
        .sql("UPDATE deliveries SET created_at = created_at - ? WHERE alert_id = ?")
        .run(hours * 3600, alert),
    );
  receiver.always(answer(500));
  for (const k of ["older", "old", "new"]) await shop.fire(k);
  await settle(box);
  await shop.post(`/integrations/${id}/disable`);
  age(1, 25);
  await pass(box, 120, 60);
  const [, , first] = await shop.deliveries(id);
  assert.deepEqual([first?.status, first?.last_error], ["failed", "http 500"]);
  age(2, 25);
  age(3, 23);
  receiver.always(answer(204));
  const seen = receiver.received.length;
  await shop.post(`/integrations/${id}/enable`);
  await settle(box);
  assert.deepEqual(alertsTold(seen), ["3"]);
  const rows = await shop.deliveries(id);
  assert.deepEqual(
    rows.map(({ status }) => status),
    ["delivered", "failed", "failed"],
  );
  assert.equal(rows[1]?.last_error, "not delivered within 24 h");
});

test("an ack withdraws the relay's pages and nothing else", async () => {
  const shop = await start();
  const relay = configureRelay(box, "shop", `${receiver.url}/relay`);
  const hook = await shop.webhook(`${receiver.url}/hook`);
  receiver.always(answer(500));
  for (let k = 0; k < 3; k++) await shop.fire(k);
  await settle(box);
  await box.api("POST", "/v1/alerts/2/ack");
  receiver.always(answer(204));
  const seen = receiver.received.length;
  await pass(box, 60);
  const rows = await shop.deliveries(relay);
  assert.deepEqual(
    rows.map(({ alert_id, status }) => [alert_id, status]),
    [
      ["3", "delivered"],
      ["2", "dropped"],
      ["1", "delivered"],
    ],
  );
  assert.ok((await shop.deliveries(hook)).every(({ status }) => status === "delivered"));
  const pages = receiver.received
    .slice(seen)
    .filter(({ path }) => path === "/relay")
    .map(({ body }) => eventOf(body))
    .filter(({ event }) => event === "alert.opened");
  assert.deepEqual(pages.map(({ alert_id }) => alert_id).sort(), ["1", "3"]);
});

test("a rotated relay key is named, and a clock that is off by how much", async () => {
  const shop = await start();
  const relay = configureRelay(box, "shop", `${receiver.url}/relay`);
  receiver.once(answer(401));
  const test = () => box.api("POST", `/v1/projects/shop/integrations/${relay}/test`);
  assert.match((await test()).body.error, /rotated or revoked/);
  assert.equal((await box.api("GET", "/readyz", undefined, null)).body.status, "degraded");
  const date = new Date(box.clock.now() - 600_000).toUTCString();
  receiver.once(answer(400, "", { date }));
  assert.equal((await test()).body.error, "http 400: this box's clock is 600 s ahead");
  receiver.once(answer(200, { relayed: true, duplicate: true }));
  assert.deepEqual((await test()).body, { ok: true });
  void shop;
});

test("an apns row of a box says who pushes, and holds nothing up", async () => {
  const shop = await start();
  const { body } = await box.api("POST", "/v1/projects/shop/integrations", { type: "apns" });
  await shop.fire(1);
  await settle(box);
  const [row] = await shop.deliveries(body.id);
  assert.deepEqual(
    [row?.status, row?.attempts, row?.last_error],
    ["dropped", 0, "not pushed: no hosted relay is configured"],
  );
  configureRelay(box, "shop", receiver.url);
  await shop.fire(2);
  await settle(box);
  assert.match(
    (await shop.deliveries(body.id))[0]?.last_error ?? "",
    /pushed by the hosted service/,
  );
  assert.equal((await shop.integration(body.id)).last_error, null);
});

test("a row that can't be sent blocks neither its endpoint nor the others", async () => {
  const shop = await start();
  const { body } = await box.api("POST", "/v1/projects/shop/integrations", {
    type: "slack",
    webhook_url: `${receiver.url}/slack`,
  });
  box.tenant.store.write((tx) =>
    tx.sql("UPDATE integrations SET enabled = 0 WHERE id = ?").run(body.id),
  );
  await shop.post(`/integrations/${body.id}/enable`);
  receiver.once(answer(500));
  await shop.fire("poison");
  await settle(box);
  box.tenant.store.write((tx) => tx.sql("UPDATE events SET body = '{'").run());
  await pass(box, 3);
  for (let k = 0; k < 3; k++) await shop.fire(k);
  await pass(box, 10);
  const rows = await shop.deliveries(body.id);
  assert.deepEqual(
    rows.map(({ status }) => status),
    [...Array(3).fill("delivered"), "pending"],
  );
  assert.equal(rows.at(-1)?.last_error, "could not be sent: see the log");
  assert.equal((await shop.integration(body.id)).consecutive_failures, 0);
});

test("a project deleted while its requests are under way leaves the others going", async (t) => {
  const shop = await start();
  const other = await testProject(box, "other");
  const elsewhere = await startReceiver();
  t.after(() => elsewhere.close());
  await shop.webhook(receiver.url);
  await box.api("POST", "/v1/projects/shop/actions", {
    name: "a",
    method: "POST",
    url: receiver.url,
  });
  const id = await other.webhook(elsewhere.url);
  let release: (() => void)[] = [];
  receiver.always((response) => release.push(() => response.writeHead(204).end()));
  await shop.fire(1);
  await busy(box, () => receiver.received.length === 2, "both requests arrive");
  assert.equal((await box.api("DELETE", "/v1/projects/shop")).status, 200);
  for (const go of release.splice(0)) go();
  release = [];
  await other.fire(1);
  await settle(box);
  assert.equal((await other.deliveries(id))[0]?.status, "delivered");
});

test("an attempt that a full disk kept from being written is not made twice", async () => {
  const shop = await start();
  const id = await shop.webhook(receiver.url);
  const { store } = box.tenant;
  const write = store.write;
  let refused = 0;
  receiver.once((response) => {
    store.write = () => {
      refused++;
      throw new ServiceError("storage_full", "The disk is full.");
    };
    response.writeHead(204).end();
  });
  await shop.fire(1);
  await busy(box, () => refused > 0, "the outcome is refused");
  assert.equal(box.tenant.outbox.deliveries.inFlight, 1);
  store.write = write;
  await box.clock.turn(1000);
  await settle(box);
  assert.equal(receiver.received.length, 1);
  assert.equal((await shop.deliveries(id))[0]?.status, "delivered");
});

test("what each attempt came to stands in the alert's history", async () => {
  const shop = await start();
  await shop.webhook(receiver.url, { name: "ops" });
  receiver.once(answer(500), answer(500));
  await shop.fire(1);
  await settle(box);
  await pass(box, 20);
  const { body } = await box.api("GET", "/v1/alerts/1/timeline");
  const lines = body.timeline.filter(({ kind }: { kind: string }) => kind.startsWith("deliver"));
  assert.deepEqual(
    lines.map((line: { kind: string; detail: { integration: string; attempts: number } }) => [
      line.kind,
      line.detail.integration,
      line.detail.attempts,
    ]),
    [
      ["delivery_delayed", "ops", 1],
      ["delivered", "ops", 3],
    ],
  );
});

test("Telegram and Slack get words; a group that moved is followed and remembered", async () => {
  const shop = await start({ telegramApi: receiver.url });
  const make = (body: object) => box.api("POST", "/v1/projects/shop/integrations", body);
  await make({ type: "telegram", token: "1:tok", chat_id: "-5" });
  await make({ type: "slack", webhook_url: `${receiver.url}/slack` });
  const chats: string[] = [];
  receiver.always((response, _socket, { path, body }) => {
    if (path === "/slack") return void response.writeHead(200).end("ok");
    const { chat_id } = JSON.parse(body);
    chats.push(chat_id);
    const moved = { ok: false, parameters: { migrate_to_chat_id: -1005 } };
    if (chat_id === "-5") return void response.writeHead(400).end(JSON.stringify(moved));
    response.writeHead(200).end('{"ok":true}');
  });
  await shop.fire(1);
  await settle(box);
  await shop.fire(2);
  await settle(box);
  assert.deepEqual(chats, ["-5", "-1005", "-1005"]);
  const slack = receiver.received.filter(({ path }) => path === "/slack");
  assert.match(slack[0]?.body ?? "", /ERROR shop: it is down/);
  assert.ok(receiver.received.some(({ path }) => path === "/bot1:tok/sendMessage"));
});

test("the operator's lists decide what may be called, at write and at send", async () => {
  const shop = await start({ egressDeny: ["127.0.0.1/32"], egressAllow: ["127.0.0.0/8"] });
  const body = { type: "webhook", url: receiver.url };
  const refused = await box.api("POST", "/v1/projects/shop/integrations", body);
  assert.equal(refused.body.error.code, "address_refused");
  const id = await shop.webhook(`http://127.0.0.2:${receiver.port}/`);
  box.tenant.store.write((tx) =>
    tx.sql("UPDATE integrations SET url = ? WHERE id = ?").run(receiver.url, id),
  );
  await shop.fire(1);
  await settle(box);
  assert.equal((await shop.deliveries(id))[0]?.last_error, "address_refused");
  assert.equal(receiver.received.length, 0);
});

test("what the address before answers says nothing of the one that the channel has meanwhile", async () => {
  const shop = await start();
  const id = await shop.webhook(receiver.url);
  const moved = await startReceiver();
  try {
    for (const late of [answer(410), answer(500)]) {
      const asked = receiver.received.length;
      let end = () => {};
      receiver.once((...request) => {
        end = () => void late(...request);
      });
      await shop.fire(asked);
      await busy(box, () => receiver.received.length > asked, "the old address is asked");
      const path = `/v1/projects/shop/integrations/${id}`;
      assert.equal((await box.api("PUT", path, { url: moved.url })).status, 200);
      end();
      await settle(box);
      await pass(box, 3);
      const { enabled, consecutive_failures, last_error } = (await box.api("GET", path)).body;
      assert.deepEqual([enabled, consecutive_failures, last_error], [true, 0, null]);
      const sent = moved.received.at(-1);
      assert.equal(eventOf(sent?.body ?? "{}")["event_id"], told().at(-1)?.["event_id"]);
      await box.api("PUT", path, { url: receiver.url });
    }
  } finally {
    await moved.close();
  }
});
