import assert from "node:assert/strict";
import { test } from "node:test";
import type { PushResult } from "../../src/hosted/apns-answer.ts";
import { openPusher } from "../../src/hosted/pusher.ts";
import { relayEvent } from "../../src/hosted/relay.ts";
import { accountPairingRoutes } from "../../src/hosted/routes/pairings.ts";
import { startFakeApns } from "../support/apns.ts";
import {
  deviceToken,
  eventBody,
  type HostedBench,
  hostedBench,
  type PairedBox,
  pairedBox,
  relay,
  signed,
} from "../support/hosted.ts";

const pushed = (devices: number) => ({ kind: "relayed", relayed: true, devices, duplicate: false });

/** Holds the next push of a device until its result is given. */
function heldPush(bench: HostedBench, n: number): (result: PushResult) => void {
  let answer = (_: PushResult) => {};
  bench.pusher.script(
    deviceToken(n),
    new Promise((resolve) => {
      answer = resolve;
    }),
  );
  return answer;
}

/** Turns the clock in small steps, with time for writes to the disk between them. */
async function pass(bench: HostedBench, ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 100) {
    await bench.clock.turn(Math.min(100, left));
    await new Promise((done) => setImmediate(done));
  }
}

async function untilPushed(bench: HostedBench, count: number): Promise<void> {
  while (bench.pusher.sent.length < count) await new Promise((done) => setImmediate(done));
}

test("setting the clock during a push frees no hold", async (t) => {
  const bench = hostedBench(t);
  const box = await pairedBox(bench, 1);
  const timestamp = Math.floor(bench.clock.now() / 1000);
  for (const [n, jump] of [-1000, -3_600_000, 3_600_000].entries()) {
    const answer = heldPush(bench, 0);
    const first = relay(bench, box, { alert_id: `${n}`, timestamp });
    await untilPushed(bench, 1);
    bench.clock.setWall(bench.clock.now() + jump);
    const second = relay(bench, box, { alert_id: `${n}`, timestamp });
    await new Promise((done) => setImmediate(done));
    answer({ kind: "delivered" });
    assert.deepEqual(await first, pushed(1));
    assert.equal((await second).kind, "in_flight", `${jump}`);
    assert.equal(bench.pusher.take().length, 1);
  }
});

test("storing the reached phones is tried again after an error, and none rings twice", async (t) => {
  const bench = hostedBench(t);
  const box = await pairedBox(bench, 2);
  bench.pusher.script(deviceToken(1), { kind: "retry", why: "busy", retryAfter: null });
  const { claims } = bench.registry;
  const { settle } = claims;
  let failures = 1;
  claims.settle = async (...args) => {
    if (failures-- > 0) throw new Error("the disk is full");
    return settle(...args);
  };
  const timestamp = Math.floor(bench.clock.now() / 1000);
  const first = relay(bench, box, { timestamp }).catch((error: Error) => error.message);
  await untilPushed(bench, 2);
  await pass(bench, 1_000);
  await first;
  bench.pusher.take();
  await bench.clock.turn(15_000);
  assert.equal((await relay(bench, box, { timestamp })).kind, "relayed");
  assert.deepEqual(bench.pusher.take(), [deviceToken(1)]);
});

test("a node that gets the hold or the recipients too late releases the hold and rings nobody", async (t) => {
  const bench = hostedBench(t);
  const box = await pairedBox(bench, 1);
  const { claims, devices } = bench.registry;
  const [take, recipients] = [claims.take, devices.recipients];
  const slow = <Args extends unknown[], R>(ask: (...args: Args) => Promise<R>, ms: number) => {
    return async (...args: Args) => {
      const answer = await ask(...args);
      await bench.clock.turn(ms);
      return answer;
    };
  };
  claims.take = slow(take, 5_001);
  assert.deepEqual(await relay(bench, box), { kind: "late", retryAfter: 2 });
  claims.take = slow(take, 2_500);
  devices.recipients = slow(recipients, 2_501);
  assert.deepEqual(await relay(bench, box), { kind: "late", retryAfter: 2 });
  assert.deepEqual(bench.pusher.sent, []);
  devices.recipients = slow(recipients, 2_400);
  assert.deepEqual(await relay(bench, box), pushed(1));
});

test("a key that is rotated before the page is claimed rings nobody, although its signature was valid", async (t) => {
  const bench = hostedBench(t);
  const box = await pairedBox(bench, 1);
  const { relayKeys, heartbeats } = bench.registry;
  const find = relayKeys.find;
  // The request has read its key when the rotation begins.
  relayKeys.find = async (id) => {
    const found = await find(id);
    await relayKeys.rotate({ tenantId: box.tenantId, by: box.accounts[0] ?? "" });
    return found;
  };
  assert.deepEqual(await relay(bench, box), { kind: "unauthorized" });
  assert.deepEqual(bench.pusher.sent, []);
  for (const event of ["box.heartbeat", "box.goodbye"])
    assert.deepEqual(await relay(bench, box, { event, alert_id: "", project: "" }), {
      kind: "unauthorized",
    });
  const announced = { event: "box.announced", alert_id: "", project: "", tenant_id: "b" };
  const said = await relay(bench, box, { ...announced, box_public_url: "https://b.example" });
  assert.deepEqual(said, { kind: "unauthorized" });
  assert.equal((await bench.registry.tenants.get(box.tenantId))?.boxUrl, null);
  assert.equal((await heartbeats.look(120)).watched, 0);
});

/** A route of pairings, called as the session's account. */
function called(bench: HostedBench, box: PairedBox, name: string, n = 0) {
  const routes = accountPairingRoutes({
    ...bench,
    redeemReceipt: async () => ({ kind: "refused" }),
    publicUrl: () => "https://pager.example",
  });
  const route = routes.find((one) => one.name === name);
  const params = { tid: box.tenantId, aid: box.accounts[n] };
  const call = { account: { id: box.accounts[0] }, params, body: undefined };
  return route?.handle(call as never) as Promise<unknown>;
}

test("revoking and rotating are answered when the running pages are over", async (t) => {
  const bench = hostedBench(t);
  const box = await pairedBox(bench, 2);
  for (const name of ["revokePairing", "rotateRelayKey"]) {
    const answer = heldPush(bench, 0);
    const page = relay(bench, box, { alert_id: name });
    await untilPushed(bench, 1);
    let isAnswered = false;
    const change = called(bench, box, name, 1).then(() => {
      isAnswered = true;
    });
    await pass(bench, 1_000);
    assert.equal(isAnswered, false, name);
    answer({ kind: "delivered" });
    await page;
    await pass(bench, 200);
    await change;
    bench.pusher.take();
  }
});

test("revoking waits six seconds at most, for no other tenant's pages and no later ones", async (t) => {
  const bench = hostedBench(t);
  const box = await pairedBox(bench, 2);
  const other = await pairedBox(bench, 1);
  const answers = [heldPush(bench, 0), heldPush(bench, 0)];
  const pages = [relay(bench, other)];
  await untilPushed(bench, 1);
  await called(bench, box, "revokePairing", 1);
  pages.push(relay(bench, box));
  await untilPushed(bench, 2);
  let isAnswered = false;
  const change = called(bench, box, "rotateRelayKey").then(() => {
    isAnswered = true;
  });
  await pass(bench, 5_800);
  assert.equal(isAnswered, false);
  await pass(bench, 400);
  await change;
  for (const answer of answers) answer({ kind: "delivered" });
  await Promise.all(pages);
});

test("a restart uses the stored provider token, because APNs counts new ones", async (t) => {
  const bench = hostedBench(t);
  const box = await pairedBox(bench, 1);
  const fake = await startFakeApns({ now: () => bench.clock.now() });
  t.after(() => fake.close());
  const { keyId, teamId, topic, endpoint, ca, key } = fake;
  await bench.registry.apns.set({ keyId, teamId, topic, endpoint, ca, key });
  const runs = [];
  for (let n = 0; n < 3; n++) {
    const pusher = openPusher({ apns: bench.registry.apns, clock: bench.clock });
    const deps = { ...bench, pusher };
    const body = eventBody(bench.clock, { alert_id: `${n}` });
    runs.push((await relayEvent(deps, signed(bench, box.credential, body))).kind);
    pusher.close();
    await bench.clock.turn(60_000);
    await bench.reopen();
  }
  assert.deepEqual(runs, ["relayed", "relayed", "relayed"]);
  assert.equal(fake.providerTokens.size, 1);
});

test("the time in which a process stood still is an outage; a clock that was set makes none", async (t) => {
  const bench = hostedBench(t);
  const { uptime } = bench.registry;
  await uptime.begin();
  await bench.clock.turn(10_000);
  await uptime.beat();
  const from = Math.floor(bench.clock.now() / 1000);
  await bench.clock.turn(600_000);
  assert.deepEqual(await uptime.beat(), { from, to: from + 600 });
  bench.clock.setWall(bench.clock.now() + 3_600_000);
  await bench.clock.turn(10_000);
  assert.equal(await uptime.beat(), null);
  await bench.reopen();
  assert.deepEqual(
    (await bench.registry.uptime.begin()).map(({ to }) => to),
    [from + 600],
  );
});
