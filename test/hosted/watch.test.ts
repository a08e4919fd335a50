import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { PushResult } from "../../src/hosted/apns-answer.ts";
import { checkSilence, LOOK_EVERY_SECONDS } from "../../src/hosted/watch.ts";
import { deviceToken, type HostedBench, hostedBench, pairedBox, relay } from "../support/hosted.ts";

const LOOK_MS = LOOK_EVERY_SECONDS * 1000;

async function watched(t: TestContext, people = 2) {
  const bench = hostedBench(t);
  const box = await pairedBox(bench, people);
  const say = (event: string, fields: object = {}) =>
    relay(bench, box, { event, alert_id: "", project: "", ...fields });
  /** Looks as the running service does, for `seconds`; returns the titles of the pushes, in order. */
  const look = async (seconds: number, each?: () => Promise<unknown>) => {
    for (let passed = 0; passed < seconds; passed += LOOK_EVERY_SECONDS) {
      await bench.clock.turn(LOOK_MS);
      await each?.();
      await checkSilence(bench);
    }
    return titles(bench);
  };
  return { bench, box, say, look };
}

function titles(bench: HostedBench): string[] {
  return bench.pusher.sent.splice(0).map((push) => JSON.parse(push.payload).aps.alert.title);
}

test("a box silent for more than five minutes is paged once, and once when it is back", async (t) => {
  const { look, say, bench } = await watched(t);
  await say("box.heartbeat");
  await checkSilence(bench);
  assert.deepEqual(await look(300), []);
  assert.deepEqual(await look(15), ["Box is silent", "Box is silent"]);
  assert.deepEqual(await look(3600), []);
  await say("box.heartbeat");
  assert.deepEqual(await look(15), ["Box is back", "Box is back"]);
  assert.deepEqual(await look(285), []);
  assert.deepEqual(await look(15), ["Box is silent", "Box is silent"]);
});

test("a box that reports every minute, or never has, causes no page", async (t) => {
  const { look, say, bench } = await watched(t);
  assert.deepEqual(await look(900), []);
  let n = 0;
  const beat = async () => (n++ % 4 === 0 ? say("box.heartbeat") : undefined);
  assert.deepEqual(await look(3600, beat), []);
  assert.deepEqual(bench.pusher.sent, []);
});

test("a planned stop isn't silence until the next heartbeat", async (t) => {
  const { look, say } = await watched(t);
  await say("box.heartbeat");
  await say("box.goodbye");
  assert.deepEqual(await look(3600), []);
  await say("box.heartbeat");
  assert.deepEqual((await look(330)).length, 2);
});

test("a late heartbeat from before a planned stop doesn't cancel it", async (t) => {
  const { look, say, bench } = await watched(t);
  const at = Math.floor(bench.clock.now() / 1000);
  await say("box.heartbeat", { timestamp: at - 60 });
  await say("box.goodbye", { timestamp: at });
  await say("box.heartbeat", { timestamp: at - 1 });
  assert.deepEqual(await look(900), []);
  await say("box.heartbeat", { timestamp: at + 900 });
  await say("box.goodbye", { timestamp: at + 2 });
  assert.equal((await look(330)).length, 2);
});

test("a tenant can set another time of silence, or none", async (t) => {
  const { look, say, bench, box } = await watched(t);
  await say("box.heartbeat");
  await checkSilence(bench);
  await bench.registry.tenants.set(box.tenantId, { watchSeconds: 0 });
  assert.deepEqual(await look(900), []);
  await say("box.heartbeat");
  await bench.registry.tenants.set(box.tenantId, { watchSeconds: 60 });
  assert.deepEqual(await look(60), []);
  assert.equal((await look(15)).length, 2);
});

test("silence counts only between looks", async (t) => {
  const { look, say, bench } = await watched(t);
  await say("box.heartbeat");
  await checkSilence(bench);
  await bench.clock.turn(3_600_000);
  await bench.reopen();
  await checkSilence(bench);
  assert.deepEqual(titles(bench), []);
  assert.deepEqual(await look(300), []);
  assert.equal((await look(15)).length, 2);
});

test("setting the clock forward or back pages nobody", async (t) => {
  const { look, say, bench } = await watched(t);
  await say("box.heartbeat");
  await checkSilence(bench);
  for (const hours of [5, -9]) {
    bench.clock.setWall(bench.clock.now() + hours * 3_600_000);
    assert.deepEqual(await look(315), [], `${hours}`);
    assert.deepEqual(await look(15), ["Box is silent", "Box is silent"], `${hours}`);
    await say("box.heartbeat");
    assert.deepEqual(await look(15), ["Box is back", "Box is back"], `${hours}`);
  }
});

test("a page that could not be sent is tried at the next look, for those it missed", async (t) => {
  const { look, say, bench } = await watched(t);
  const busy: PushResult = { kind: "retry", why: "busy", retryAfter: null };
  await say("box.heartbeat");
  await checkSilence(bench);
  await look(300);
  bench.pusher.script(deviceToken(1), busy);
  assert.equal((await look(15)).length, 2);
  assert.equal((await look(15)).length, 1);
  assert.deepEqual(await look(60), []);
});

test("a page that is owed when the process dies is sent after the restart", async (t) => {
  const { look, say, bench } = await watched(t);
  await say("box.heartbeat");
  await checkSilence(bench);
  await look(300);
  bench.pusher.script(deviceToken(0), new Promise(() => {}));
  await bench.clock.turn(LOOK_MS);
  void checkSilence(bench);
  while (bench.pusher.sent.length < 2) await new Promise((done) => setImmediate(done));
  titles(bench);
  await bench.reopen();
  assert.ok((await look(15)).includes("Box is silent"));
  assert.deepEqual(await look(60), []);
});

test("a page of a silent box is tried for a day, of a box that is back for an hour", async (t) => {
  const { look, say, bench } = await watched(t, 1);
  const failing = (times: number) => {
    const fault: PushResult = { kind: "misconfigured", why: "no key" };
    bench.pusher.script(deviceToken(0), ...Array.from({ length: times }, () => fault));
  };
  const triedAfter = async (seconds: number) => {
    await bench.clock.turn(seconds * 1000);
    await checkSilence(bench);
    return titles(bench);
  };
  await say("box.heartbeat");
  await checkSilence(bench);
  await look(300);
  failing(480);
  assert.equal((await look(7200)).length, 480);
  assert.deepEqual(await look(60), ["Box is silent"], "it still is");
  await say("box.heartbeat");
  failing(2);
  assert.deepEqual(await look(15), ["Box is back"]);
  assert.deepEqual(await triedAfter(3600), ["Box is back"]);
  assert.deepEqual(await look(60), []);
  failing(3);
  assert.deepEqual(await look(255), ["Box is silent"]);
  assert.deepEqual(await triedAfter(86_100), ["Box is silent"]);
  assert.deepEqual(await triedAfter(600), ["Box is silent"]);
  assert.deepEqual(await look(60), []);
});

test("the page of a silent box names it and the time, and may sound", async (t) => {
  const { look, say, bench, box } = await watched(t, 1);
  const accountId = box.accounts[0] ?? "";
  const device = { accountId, token: deviceToken(0), platform: "ios", criticalAlerts: true };
  await bench.registry.devices.put(device);
  await bench.registry.tenants.set(box.tenantId, { boxUrl: "https://box.example:8443/x" });
  await say("box.heartbeat");
  await checkSilence(bench);
  await look(300);
  await bench.clock.turn(LOOK_MS);
  await checkSilence(bench);
  const { aps } = JSON.parse(bench.pusher.sent[0]?.payload ?? "{}");
  assert.match(aps.alert.body, /^box\.example:8443 has sent no report since 2026-01-05 09:00 UTC/);
  assert.equal(aps["interruption-level"], "critical");
});
