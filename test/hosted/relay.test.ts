import assert from "node:assert/strict";
import { test } from "node:test";
import type { PushResult } from "../../src/hosted/apns-answer.ts";
import { type RelayRequest, relayEvent } from "../../src/hosted/relay.ts";
import {
  addDevice,
  deviceToken,
  eventBody,
  hostedBench,
  pairedBox,
  relay,
  signed,
} from "../support/hosted.ts";

const pushed = (devices: number) => ({ kind: "relayed", relayed: true, devices, duplicate: false });
const again = (devices: number) => ({
  kind: "relayed",
  relayed: devices > 0,
  devices,
  duplicate: true,
});
const nobody = { kind: "relayed", relayed: false, devices: 0, duplicate: false };
const unauthorized = { kind: "unauthorized" };
const busy: PushResult = { kind: "retry", why: "busy", retryAfter: null };
const badToken: PushResult = { kind: "bad_token", why: "BadDeviceToken" };

test("a signed event rings every paired person's phone, once", async (t) => {
  const bench = hostedBench(t);
  const box = await pairedBox(bench, 3);
  assert.deepEqual(await relay(bench, box), pushed(3));
  assert.deepEqual(bench.pusher.take(), [0, 1, 2].map(deviceToken));
  assert.deepEqual(await relay(bench, box), again(3));
  assert.deepEqual(bench.pusher.take(), []);
});

test("a push says project, rule, template and count, and ends after an hour", async (t) => {
  const bench = hostedBench(t);
  const box = await pairedBox(bench, 1);
  await relay(bench, box, { count: 7 });
  const [push] = bench.pusher.sent;
  const { aps } = JSON.parse(push?.payload ?? "{}");
  assert.deepEqual(aps.alert, { title: "shop: disk", body: "Disk <*> is full (×7)" });
  assert.equal(push?.collapseId, `${box.tenantId}.1`);
  assert.equal(push?.expiresAt, bench.clock.now() / 1000 + 3600);
});

test("a push ends an hour later by the registry's clock, whatever this node's says", async (t) => {
  const bench = hostedBench(t);
  const { credential } = await pairedBox(bench, 1);
  const atMs = bench.clock.now() + 2 * 3_600_000;
  const { devices } = bench.registry;
  const ahead: typeof devices = {
    ...devices,
    recipients: async (audience) => ({ ...(await devices.recipients(audience)), atMs }),
  };
  const deps = { ...bench, registry: { ...bench.registry, devices: ahead } };
  await relayEvent(deps, signed(bench, credential, eventBody(bench.clock)));
  assert.equal(bench.pusher.sent[0]?.expiresAt, atMs / 1000 + 3600);
});

test("critical only for the device that allows it", async (t) => {
  const bench = hostedBench(t);
  const box = await pairedBox(bench, 2);
  await addDevice(bench, box.accounts[1] ?? "", 1, true);
  await relay(bench, box, { level: 500 });
  const levels = bench.pusher.sent.map((push) => [
    push.token,
    JSON.parse(push.payload).aps["interruption-level"],
  ]);
  assert.deepEqual(levels.sort(), [
    [deviceToken(0), "time-sensitive"],
    [deviceToken(1), "critical"],
  ]);
});

test("a relayed timestamp may differ by 300 s either way, not 301", async (t) => {
  const bench = hostedBench(t);
  const box = await pairedBox(bench, 1);
  const now = Math.floor(bench.clock.now() / 1000);
  for (const skew of [-300, 300]) {
    const body = eventBody(bench.clock, { alert_id: String(skew) });
    assert.deepEqual(await relayEvent(bench, signed(bench, box.credential, body, skew)), pushed(1));
  }
  for (const skew of [-301, 301]) {
    const request = signed(bench, box.credential, eventBody(bench.clock), skew);
    assert.deepEqual(await relayEvent(bench, request), { kind: "skewed", skew, now });
    // A bad signature gets this answer too, because the clock is checked first.
    const forged = { ...request, signatureHeader: "0".repeat(64) };
    assert.deepEqual(await relayEvent(bench, forged), { kind: "skewed", skew, now });
  }
});

test("a timestamp that isn't plain seconds is malformed", async (t) => {
  const bench = hostedBench(t);
  const box = await pairedBox(bench, 1);
  const request = signed(bench, box.credential, eventBody(bench.clock));
  const good = request.timestampHeader ?? "";
  for (const stamp of [
    undefined,
    "",
    `+${good}`,
    ` ${good}`,
    `${good}.0`,
    "-1",
    "1e9",
    "9".repeat(12),
  ]) {
    const result = await relayEvent(bench, { ...request, timestampHeader: stamp });
    assert.equal(result.kind, "malformed", String(stamp));
  }
});

test("unknown key, revoked key and bad signature are one answer", async (t) => {
  const bench = hostedBench(t);
  const box = await pairedBox(bench, 1);
  const body = eventBody(bench.clock);
  const good = signed(bench, box.credential, body);
  const signature = good.signatureHeader ?? "";
  const faults: Partial<RelayRequest>[] = [
    { keyId: "rk_0000000000000000" },
    { keyId: "rk_0" },
    { keyId: "nothing at all" },
    { signatureHeader: undefined },
    { signatureHeader: "" },
    { signatureHeader: signature.slice(1) },
    { signatureHeader: `${signature}0` },
    { signatureHeader: `${signature.slice(0, 62)}zz` },
    { signatureHeader: "0".repeat(64) },
    { rawBody: Buffer.from(`${body} `) },
    { timestampHeader: String(Number(good.timestampHeader) + 1) },
  ];
  for (const fault of faults) {
    assert.deepEqual(await relayEvent(bench, { ...good, ...fault }), unauthorized);
  }
  const by = box.accounts[0] ?? "";
  const rotation = await bench.registry.relayKeys.rotate({ tenantId: box.tenantId, by });
  assert.equal(rotation.kind, "rotated");
  assert.deepEqual(await relayEvent(bench, good), unauthorized);
  assert.deepEqual(bench.pusher.take(), []);
});

test("only a valid signature marks a connection as known, before the page is pushed", async (t) => {
  const bench = hostedBench(t);
  const box = await pairedBox(bench, 1);
  const request = signed(bench, box.credential, eventBody(bench.clock));
  const known = async (change: Partial<RelayRequest>) => {
    const seen: number[] = [];
    const told = () => void seen.push(bench.pusher.sent.length);
    await relayEvent(bench, { ...request, ...change, known: told });
    return seen;
  };
  assert.deepEqual(await known({ signatureHeader: "0".repeat(64) }), []);
  assert.deepEqual(await known({ keyId: "0000000000000000" }), []);
  assert.deepEqual(await known({ timestampHeader: "1" }), []);
  assert.deepEqual(await known({}), [0]);
});

test("the secret used for unknown keys verifies no signature", async (t) => {
  const bench = hostedBench(t);
  await pairedBox(bench, 1);
  const unknown = await bench.registry.relayKeys.find("rk_ffffffffffffffff");
  assert.equal(unknown.tenantId, null);
  const credential = { keyId: "rk_ffffffffffffffff", secret: unknown.secret ?? "" };
  const request = signed(bench, credential, eventBody(bench.clock));
  assert.deepEqual(await relayEvent(bench, request), unauthorized);
});

test("the signature covers the raw bytes, and may be in upper case", async (t) => {
  const bench = hostedBench(t);
  const box = await pairedBox(bench, 1);
  const body = `  ${eventBody(bench.clock).replace("shop", "\\u0073hop")}\n`;
  const request = signed(bench, box.credential, body);
  const signatureHeader = request.signatureHeader?.toUpperCase();
  assert.deepEqual(await relayEvent(bench, { ...request, signatureHeader }), pushed(1));
});

test("a body without the three required fields is malformed; other odd fields are accepted", async (t) => {
  const bench = hostedBench(t);
  const box = await pairedBox(bench, 1);
  const send = (body: string) => relayEvent(bench, signed(bench, box.credential, body));
  const bad = ["", "no json", "[]", "null", "7", "{}", `{"a":${"[".repeat(40)}${"]".repeat(40)}}`];
  for (const field of ["event", "alert_id", "project"]) {
    bad.push(
      eventBody(bench.clock, { [field]: undefined }),
      eventBody(bench.clock, { [field]: 5 }),
    );
  }
  bad.push(eventBody(bench.clock, { alert_id: "x".repeat(257) }));
  for (const body of bad) assert.equal((await send(body)).kind, "malformed", body.slice(0, 50));
  const odd = { rule: 5, template: null, count: "x", level: {}, page_accounts: 7, more: [1] };
  assert.deepEqual(await send(eventBody(bench.clock, odd)), pushed(1));
});

test("an escalation goes to the accounts that it names, through this tenant's live pairings only", async (t) => {
  const bench = hostedBench(t);
  const box = await pairedBox(bench, 3);
  const other = await pairedBox(bench, 1);
  assert.notEqual(other.tenantId, box.tenantId);
  const escalate = (id: string, page_accounts: unknown) =>
    relay(bench, box, { event: "alert.escalated", alert_id: id, page_accounts });
  assert.deepEqual(await escalate("1", ["box-1", "box-2", "box-99"]), pushed(2));
  assert.deepEqual(bench.pusher.take(), [1, 2].map(deviceToken));
  assert.deepEqual(await escalate("2", []), nobody);
  assert.deepEqual(await escalate("3", ["box-99"]), nobody);
  assert.deepEqual(await escalate("4", [box.accounts[0]]), nobody);
  assert.deepEqual(await escalate("5", undefined), pushed(3));
  bench.pusher.take();
  assert.deepEqual(await relay(bench, box, { alert_id: "6", page_accounts: ["box-1"] }), pushed(3));
});

test("a person gets nothing after the revocation, and pages again after a new pairing", async (t) => {
  const bench = hostedBench(t);
  const box = await pairedBox(bench, 2);
  const [, second = ""] = box.accounts;
  const { tenantId } = box;
  await bench.registry.pairings.revoke({ tenantId, accountId: second, by: second });
  assert.deepEqual(await relay(bench, box), pushed(1));
  assert.deepEqual(bench.pusher.take(), [deviceToken(0)]);
  const pairing = { tenantId, accountId: second, boxAccountId: "box-1" };
  await bench.registry.pairings.later({ ...pairing, boxTenantId: "b0b0b0b0b0b0b0b0" });
  assert.deepEqual(await relay(bench, box, { alert_id: "2" }), pushed(2));
});

test("a push that has to wait asks whether its person is still paired", async (t) => {
  const bench = hostedBench(t);
  const box = await pairedBox(bench, 2);
  await relay(bench, box);
  const pushTo = (n: number) => bench.pusher.sent.find((push) => push.token === deviceToken(n));
  const [first, second] = [pushTo(0), pushTo(1)];
  const accountId = box.accounts[1] ?? "";
  await bench.registry.pairings.revoke({ tenantId: box.tenantId, accountId, by: accountId });
  assert.equal(await first?.stillWanted?.(), true);
  assert.equal(await second?.stillWanted?.(), false);
});

test("an event without recipients is answered as such, also when repeated", async (t) => {
  const bench = hostedBench(t);
  const box = await pairedBox(bench, 1);
  await bench.registry.devices.remove(box.accounts[0] ?? "", deviceToken(0));
  assert.deepEqual(await relay(bench, box), nobody);
  assert.deepEqual(await relay(bench, box), again(0));
});

test("a phone of several people gets one push", async (t) => {
  const bench = hostedBench(t);
  const box = await pairedBox(bench, 2);
  await addDevice(bench, box.accounts[1] ?? "", 0, true);
  assert.deepEqual(await relay(bench, box, { level: 500 }), pushed(2));
  assert.deepEqual(bench.pusher.sent.map((push) => push.token).sort(), [0, 1].map(deviceToken));
  const shared = bench.pusher.sent.find((push) => push.token === deviceToken(0));
  assert.match(shared?.payload ?? "", /"critical"/);
});

test("the same page while its push is under way is 409, then a duplicate", async (t) => {
  const bench = hostedBench(t);
  const box = await pairedBox(bench, 1);
  const gate = Promise.withResolvers<PushResult>();
  bench.pusher.script(deviceToken(0), gate.promise);
  const first = relay(bench, box);
  assert.deepEqual(await relay(bench, box), { kind: "in_flight", retryAfter: 2 });
  gate.resolve({ kind: "delivered" });
  assert.deepEqual(await first, pushed(1));
  assert.deepEqual(await relay(bench, box), again(1));
  assert.equal(bench.pusher.sent.length, 1);
});

test("fifty equal requests at once cause one push, and none is called a duplicate before it succeeded", async (t) => {
  const bench = hostedBench(t);
  const box = await pairedBox(bench, 1);
  const gate = Promise.withResolvers<PushResult>();
  bench.pusher.script(deviceToken(0), gate.promise);
  const all = Array.from({ length: 50 }, () => relay(bench, box));
  const losers = await Promise.all(all.slice(1));
  assert.ok(losers.every((result) => result.kind === "in_flight"));
  gate.resolve(busy);
  assert.equal((await all[0])?.kind, "push_failed");
  assert.deepEqual(await relay(bench, box), pushed(1));
});

test("a retry rings only the phones that the first try missed", async (t) => {
  const bench = hostedBench(t);
  const box = await pairedBox(bench, 3);
  bench.pusher.script(deviceToken(1), { kind: "retry", why: "busy", retryAfter: 9 }, busy);
  const failed = { kind: "push_failed", why: "busy", retryAfter: 9 };
  assert.deepEqual(await relay(bench, box), failed);
  assert.deepEqual(bench.pusher.take(), [0, 1, 2].map(deviceToken));
  assert.deepEqual(await relay(bench, box), { ...failed, retryAfter: null });
  assert.deepEqual(bench.pusher.take(), [deviceToken(1)]);
  assert.deepEqual(await relay(bench, box), pushed(3));
  assert.deepEqual(bench.pusher.take(), [deviceToken(1)]);
  assert.deepEqual(await relay(bench, box), again(3));
});

test("a page is identified by tenant, alert, kind and the event's own time", async (t) => {
  const bench = hostedBench(t);
  const box = await pairedBox(bench, 1);
  const other = await pairedBox(bench, 1);
  const at = Math.floor(bench.clock.now() / 1000);
  assert.deepEqual(await relay(bench, box), pushed(1));
  for (const fields of [{ alert_id: "2" }, { event: "alert.renotified" }, { timestamp: at + 1 }]) {
    assert.deepEqual(await relay(bench, box, fields), pushed(1), JSON.stringify(fields));
  }
  assert.deepEqual(await relay(bench, other), pushed(1));
  await bench.clock.turn(1000);
  // Signed again a second later, it is the same page.
  assert.deepEqual(await relay(bench, box, { timestamp: at }), again(1));
  // Without a time of its own, the header's time counts.
  assert.deepEqual(await relay(bench, box, { alert_id: "9", timestamp: undefined }), pushed(1));
  assert.deepEqual(await relay(bench, box, { alert_id: "9", timestamp: undefined }), again(1));
  await bench.clock.turn(1000);
  assert.deepEqual(await relay(bench, box, { alert_id: "9", timestamp: undefined }), pushed(1));
});

test("when a process dies during a push the page is tried again, without the phones already reached", async (t) => {
  const bench = hostedBench(t);
  const box = await pairedBox(bench, 2);
  bench.pusher.script(deviceToken(1), busy, new Promise(() => {}));
  assert.equal((await relay(bench, box)).kind, "push_failed");
  bench.pusher.take();
  void relay(bench, box);
  while (bench.pusher.sent.length === 0) await new Promise((done) => setImmediate(done));
  await bench.reopen();
  assert.deepEqual(bench.pusher.take(), [deviceToken(1)]);
  assert.deepEqual(await relay(bench, box), pushed(2));
  assert.deepEqual(bench.pusher.take(), [deviceToken(1)]);
});

test("a hold expires after 15 s if its push never ends", async (t) => {
  const bench = hostedBench(t);
  const box = await pairedBox(bench, 1);
  const same = { alert_id: "1", timestamp: Math.floor(bench.clock.now() / 1000) };
  bench.pusher.script(deviceToken(0), new Promise(() => {}));
  void relay(bench, box, same);
  while (bench.pusher.sent.length === 0) await new Promise((done) => setImmediate(done));
  await bench.clock.turn(14_999);
  assert.equal((await relay(bench, box, same)).kind, "in_flight");
  await bench.clock.turn(1);
  assert.deepEqual(await relay(bench, box, same), pushed(1));
});

test("a node that lost its hold ends nothing, but its reached phones count", async (t) => {
  const bench = hostedBench(t);
  const box = await pairedBox(bench, 2);
  const at = Math.floor(bench.clock.now() / 1000);
  const slow = Promise.withResolvers<PushResult>();
  bench.pusher.script(deviceToken(0), slow.promise, busy);
  bench.pusher.script(deviceToken(1), { kind: "delivered" }, busy);
  const first = relay(bench, box);
  while (bench.pusher.sent.length < 2) await new Promise((done) => setImmediate(done));
  await bench.clock.turn(15_000);
  assert.equal((await relay(bench, box, { timestamp: at })).kind, "push_failed");
  slow.resolve({ kind: "delivered" });
  await first;
  bench.pusher.take();
  assert.deepEqual(await relay(bench, box, { timestamp: at }), pushed(2));
  assert.deepEqual(bench.pusher.take(), []);
});

test("an exception while pushing releases the page", async (t) => {
  const bench = hostedBench(t);
  const box = await pairedBox(bench, 1);
  const gate = Promise.withResolvers<PushResult>();
  bench.pusher.script(deviceToken(0), gate.promise);
  const page = relay(bench, box);
  while (bench.pusher.sent.length === 0) await new Promise((done) => setImmediate(done));
  gate.reject(new Error("broken"));
  await assert.rejects(page, /broken/);
  assert.deepEqual(await relay(bench, box), pushed(1));
});

test("a dead token is removed, unless it was registered since", async (t) => {
  const bench = hostedBench(t);
  const box = await pairedBox(bench, 2);
  const [first = "", second = ""] = box.accounts;
  const before = bench.clock.now();
  await bench.clock.turn(5000);
  await addDevice(bench, second, 1);
  const gone: PushResult = { kind: "gone", at: before + 1000 };
  bench.pusher.script(deviceToken(0), gone);
  bench.pusher.script(deviceToken(1), gone);
  assert.deepEqual(await relay(bench, box), nobody);
  assert.deepEqual(await bench.registry.devices.list(first), []);
  assert.equal((await bench.registry.devices.list(second)).length, 1);
  bench.pusher.script(deviceToken(1), { kind: "gone", at: null });
  await relay(bench, box, { alert_id: "2" });
  assert.deepEqual(await bench.registry.devices.list(second), []);
});

test("a 410 whose time lies ahead removes no device that is registered during the push", async (t) => {
  const bench = hostedBench(t);
  const box = await pairedBox(bench, 1);
  const [first = ""] = box.accounts;
  const gate = Promise.withResolvers<PushResult>();
  bench.pusher.script(deviceToken(0), gate.promise);
  const page = relay(bench, box);
  while (bench.pusher.sent.length === 0) await new Promise((done) => setImmediate(done));
  await bench.clock.turn(1000);
  await addDevice(bench, first, 0);
  gate.resolve({ kind: "gone", at: bench.clock.now() + 60_000 });
  assert.deepEqual(await page, nobody);
  assert.equal((await bench.registry.devices.list(first)).length, 1);
});

test("a bad token is set aside until it is registered again", async (t) => {
  const bench = hostedBench(t);
  const box = await pairedBox(bench, 2);
  bench.pusher.script(deviceToken(0), badToken);
  assert.deepEqual(await relay(bench, box), pushed(1));
  bench.pusher.take();
  assert.deepEqual(await relay(bench, box, { alert_id: "2" }), pushed(1));
  assert.deepEqual(bench.pusher.take(), [deviceToken(1)]);
  assert.equal((await bench.registry.devices.list(box.accounts[0] ?? "")).length, 1);
  await addDevice(bench, box.accounts[0] ?? "", 0);
  assert.deepEqual(await relay(bench, box, { alert_id: "3" }), pushed(2));
});

test("when every one of several tokens is bad, none is set aside and the answer is 503", async (t) => {
  const bench = hostedBench(t);
  const box = await pairedBox(bench, 2);
  bench.pusher.script(deviceToken(0), badToken);
  bench.pusher.script(deviceToken(1), badToken);
  assert.equal((await relay(bench, box)).kind, "unavailable");
  assert.deepEqual(await relay(bench, box), pushed(2));
});

test("no key: 503 where there is a phone to ring, and the page goes out once there is one", async (t) => {
  const bench = hostedBench(t);
  const box = await pairedBox(bench, 1);
  const why = "no APNs key is set";
  bench.pusher.script(deviceToken(0), { kind: "misconfigured", why });
  assert.deepEqual(await relay(bench, box), { kind: "unavailable", why });
  assert.deepEqual(await relay(bench, box), pushed(1));
});

test("a page's claim is kept for two days", async (t) => {
  const bench = hostedBench(t);
  const box = await pairedBox(bench, 1);
  const timestamp = Math.floor(bench.clock.now() / 1000);
  await relay(bench, box);
  const later = 48 * 3_600_000;
  bench.clock.setWall(bench.clock.now() + later - 1000);
  assert.equal(await bench.registry.purge(), 0);
  assert.deepEqual(await relay(bench, box, { timestamp }), again(1));
  bench.clock.setWall(bench.clock.now() + 1000);
  assert.equal(await bench.registry.purge(), 1);
  assert.deepEqual(await relay(bench, box, { timestamp }), pushed(1));
});

test("an announcement stores the box's address, unless a newer one is stored", async (t) => {
  const bench = hostedBench(t);
  const box = await pairedBox(bench, 1);
  const at = Math.floor(bench.clock.now() / 1000);
  const announce = (box_public_url: unknown, timestamp: number) =>
    relay(bench, box, {
      event: "box.announced",
      alert_id: "",
      project: "",
      tenant_id: "abcdefabcdefabcd",
      hosted_tenant_id: "0000000000000000",
      box_public_url,
      timestamp,
    });
  const urlNow = async () => (await bench.registry.tenants.get(box.tenantId))?.boxUrl;
  assert.deepEqual(await announce("https://box.example", at), nobody);
  assert.equal(await urlNow(), "https://box.example");
  await announce("https://old.example", at - 1);
  assert.equal(await urlNow(), "https://box.example");
  await announce("https://future.example", at + 10 ** 9);
  assert.equal(await urlNow(), "https://future.example");
  await bench.clock.turn(1000);
  await announce("https://new.example", at + 1);
  assert.equal(await urlNow(), "https://new.example");
  assert.equal((await bench.registry.tenants.get(box.tenantId))?.boxTenantId, "abcdefabcdefabcd");
  for (const bad of ["", "box.example", "ftp://box.example", "https://a:b@box.example", 5]) {
    assert.equal((await announce(bad, at + 2)).kind, "malformed", String(bad));
  }
  assert.deepEqual(bench.pusher.take(), []);
});

test("unknown kinds of a box's own events are accepted without a push", async (t) => {
  const bench = hostedBench(t);
  const box = await pairedBox(bench, 1);
  for (const event of ["box.heartbeat", "box.goodbye", "box.silent", "box.whatever"]) {
    assert.deepEqual(await relay(bench, box, { event, alert_id: "", project: "" }), nobody);
  }
  assert.deepEqual(bench.pusher.take(), []);
});
