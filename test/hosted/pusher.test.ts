import assert from "node:assert/strict";
import { test } from "node:test";
import { createPushCounts } from "../../src/hosted/push-counts.ts";
import { openPusher } from "../../src/hosted/pusher.ts";
import { relayEvent } from "../../src/hosted/relay.ts";
import { type FakeApns, startFakeApns } from "../support/apns.ts";
import { deviceToken, eventBody, hostedBench, pairedBox, signed } from "../support/hosted.ts";

const settingsOf = (fake: FakeApns) => {
  const { keyId, teamId, topic, endpoint, ca, key } = fake;
  return { keyId, teamId, topic, endpoint, ca, key };
};

test("a signed event reaches a phone over real HTTP/2", async (t) => {
  const bench = hostedBench(t);
  const box = await pairedBox(bench, 3);
  const fake = await startFakeApns({ now: () => bench.clock.now() });
  const pusher = openPusher({ apns: bench.registry.apns, clock: bench.clock });
  t.after(async () => {
    pusher.close();
    await fake.close();
  });
  const deps = { registry: bench.registry, clock: bench.clock, pusher };
  const relay = (fields: object) =>
    relayEvent(deps, signed(bench, box.credential, eventBody(bench.clock, fields)));

  const before = await relay({ alert_id: "1" });
  assert.deepEqual(before, { kind: "unavailable", why: "no APNs key is set" });

  await bench.registry.apns.set(settingsOf(fake));
  const first = await relay({ alert_id: "1" });
  assert.deepEqual(first, { kind: "relayed", relayed: true, devices: 3, duplicate: false });
  assert.deepEqual(fake.delivered().sort(), [0, 1, 2].map(deviceToken));
  assert.deepEqual(fake.received[0]?.body.aps.alert, {
    title: "shop: disk",
    body: "Disk <*> is full (×1)",
  });

  fake.script(deviceToken(0), {
    status: 410,
    reason: "Unregistered",
    timestamp: bench.clock.now(),
  });
  fake.script(deviceToken(1), { status: 503, reason: "ServiceUnavailable" });
  const second = await relay({ alert_id: "2" });
  assert.equal(second.kind, "push_failed");
  const third = await relay({ alert_id: "2" });
  assert.deepEqual(third, { kind: "relayed", relayed: true, devices: 2, duplicate: false });
  assert.equal(fake.sessions, 1);
});

test("new settings are used from the next push on", async (t) => {
  const bench = hostedBench(t);
  const [old, fresh] = [await startFakeApns(), await startFakeApns()];
  const counts = createPushCounts();
  const options = { apns: bench.registry.apns, clock: bench.clock, counted: counts.add };
  const pusher = openPusher(options);
  t.after(async () => {
    pusher.close();
    await Promise.all([old.close(), fresh.close()]);
  });
  const push = (n: number) =>
    pusher.push({ token: deviceToken(n), payload: "{}", collapseId: "x", expiresAt: 1 });
  await bench.registry.apns.set(settingsOf(old));
  await Promise.all([push(1), push(2)]);
  await bench.registry.apns.set(settingsOf(fresh));
  await Promise.all([push(3), push(4)]);
  assert.deepEqual(old.delivered().sort(), [1, 2].map(deviceToken));
  assert.deepEqual(fresh.delivered().sort(), [3, 4].map(deviceToken));
  assert.deepEqual([old.sessions, fresh.sessions], [1, 1]);
  await bench.registry.apns.set({ ...settingsOf(fresh), key: "no key" });
  const why = "the APNs key is no P-256 private key";
  assert.deepEqual(await push(5), { kind: "misconfigured", why });
  pusher.close();
  assert.equal((await push(6)).kind, "retry");
  const away = openPusher({
    ...options,
    apns: { ...options.apns, version: () => Promise.reject(new Error("no")) },
  });
  const lost = { token: deviceToken(7), payload: "{}", collapseId: "x", expiresAt: 1 };
  assert.equal((await away.push(lost)).kind, "retry");
  const ended = counts.all().filter(({ n }) => n > 0);
  assert.deepEqual(ended, [
    { end: "delivered", n: 4 },
    { end: "unset", n: 1 },
    { end: "away", n: 1 },
    { end: "closing", n: 1 },
  ]);
});
