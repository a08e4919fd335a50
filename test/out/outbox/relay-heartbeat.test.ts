import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { type TestContext, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { type TestBox, testBox } from "../../support/box.ts";
import { answer, type Received, type Receiver, startReceiver } from "../../support/receiver.ts";

const SECRET = "s".repeat(43);

async function told(t: TestContext): Promise<{ box: TestBox; relay: Receiver }> {
  const relay = await startReceiver();
  relay.always(answer(200, { relayed: false, devices: 0 }));
  const box = await testBox();
  t.after(async () => {
    await box.stop();
    await relay.close();
  });
  return { box, relay };
}

async function pass(box: TestBox, seconds: number, step = 5): Promise<void> {
  for (let left = seconds; left > 0; left -= step) {
    await box.clock.turn(Math.min(step, left) * 1000);
    while (box.tenant.scheduler.running > 0) await pause(1);
  }
}

const put = (box: TestBox, relay: Receiver, more: object = {}) =>
  box.api("PUT", "/v1/relay", { relay_url: relay.url, relay_secret: SECRET, ...more });

const kinds = (relay: Receiver) => relay.received.map(({ body }) => JSON.parse(body).event);

const known = { hosted_tenant_id: "t1", box_public_url: "https://box.example" };

function checkSigned({ headers, body }: Received): void {
  const stamp = headers["x-service-timestamp"];
  const wanted = createHmac("sha256", SECRET).update(`${stamp}.${body}`).digest("hex");
  assert.equal(headers["x-service-signature"], wanted);
}

test("the address is announced at once and daily, a heartbeat goes each minute, and the stop says goodbye", async (t) => {
  const { box, relay } = await told(t);
  await put(box, relay, known);
  await pass(box, 5);
  assert.deepEqual(kinds(relay), ["box.announced", "box.heartbeat"]);
  relay.received.forEach(checkSigned);
  const announced = JSON.parse(relay.received[0]?.body ?? "");
  assert.deepEqual(announced, {
    event: "box.announced",
    event_id: announced.event_id,
    alert_id: "",
    project: "",
    timestamp: Math.floor(box.clock.now() / 1000) - 5,
    tenant_id: box.tenant.id,
    ...known,
  });
  await pass(box, 300, 15);
  assert.deepEqual(kinds(relay).slice(2), Array(5).fill("box.heartbeat"));
  const { store } = box.tenant;
  const next = Number(store.sql("SELECT announce_at FROM relay").pluck().get());
  const day = next - announced.timestamp;
  assert.ok(day >= 86_400 && day < 86_410, `again after ${day} s`);
  store.write((tx) => tx.sql("UPDATE relay SET announce_at = ?").run(tx.at + 20));
  await pass(box, 80);
  assert.equal(kinds(relay).filter((kind) => kind === "box.announced").length, 2);
  const before = relay.received.length;
  await box.restart();
  await pass(box, 5);
  assert.deepEqual(kinds(relay).slice(before), ["box.goodbye", "box.heartbeat"]);
});

test("without a hosted id there is a heartbeat and no announcement; without a relay nothing is said", async (t) => {
  const { box, relay } = await told(t);
  await pass(box, 300, 15);
  assert.deepEqual(kinds(relay), []);
  await put(box, relay);
  await pass(box, 5);
  assert.deepEqual(kinds(relay), ["box.heartbeat"]);
});

test("an announcement that failed is made again within the minute; a changed address at once", async (t) => {
  const { box, relay } = await told(t);
  relay.once(answer(503));
  await put(box, relay, known);
  await pass(box, 120, 15);
  assert.equal(kinds(relay).filter((kind) => kind === "box.announced").length, 2);
  const before = relay.received.length;
  await put(box, relay, { ...known, box_public_url: "https://new.example" });
  await pass(box, 5);
  const [next] = relay.received.slice(before);
  assert.equal(JSON.parse(next?.body ?? "").box_public_url, "https://new.example");
});

test("a clock set back keeps heartbeats and announcements coming", async (t) => {
  const { box, relay } = await told(t);
  await put(box, relay, known);
  await pass(box, 60);
  box.clock.setWall(box.clock.now() - 86_400_000);
  const before = relay.received.length;
  await pass(box, 300, 15);
  const later = kinds(relay).slice(before);
  const beats = later.filter((kind) => kind === "box.heartbeat");
  assert.ok(beats.length >= 4, `${beats.length} heartbeats`);
  assert.ok(later.includes("box.announced"));
});

test("readiness says how far the clock is off, and when the relay was last heard", async (t) => {
  const { box, relay } = await told(t);
  const check = async () => {
    const { body } = await box.api("GET", "/readyz");
    return body.checks.find(({ name }: { name: string }) => name === "relay");
  };
  assert.match((await check()).detail, /no hosted relay/);
  const at = (seconds: number) => ({
    date: new Date(box.clock.now() + seconds * 1000).toUTCString(),
  });
  relay.once(answer(200, {}, at(0)));
  await put(box, relay);
  await pass(box, 5);
  assert.deepEqual(
    [(await check()).ok, /last answer at/.test((await check()).detail)],
    [true, true],
  );
  relay.once(answer(400, {}, at(1060)));
  await pass(box, 60);
  const bad = await check();
  assert.equal(bad.ok, false);
  assert.match(bad.detail, /this box's clock is 10\d\d s behind/);
  relay.once(answer(200, {}, at(-120)));
  await pass(box, 60);
  assert.match((await check()).detail, /s ahead of the relay's/);
});

test("a relay that is removed or replaced is told goodbye, and the next one is greeted at once", async (t) => {
  const { box, relay } = await told(t);
  const next = await startReceiver();
  t.after(() => next.close());
  next.always(answer(200, { relayed: false, devices: 0 }));
  await put(box, relay);
  await pass(box, 5);
  await put(box, next);
  await pass(box, 5);
  assert.deepEqual(kinds(relay), ["box.heartbeat", "box.goodbye"]);
  assert.deepEqual(kinds(next), ["box.heartbeat"]);
  assert.equal((await box.api("DELETE", "/v1/relay")).status, 200);
  await pass(box, 300, 15);
  assert.deepEqual(kinds(next), ["box.heartbeat", "box.goodbye"]);
  relay.received.forEach(checkSigned);
  next.received.forEach(checkSigned);
  const { body } = await box.api("GET", "/readyz");
  const check = body.checks.find(({ name }: { name: string }) => name === "relay");
  assert.match(check.detail, /no hosted relay/);
});
