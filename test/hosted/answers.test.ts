import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { type TestContext, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { callbackSegment, capabilityOf } from "../../src/out/paging/capability.ts";
import { toldIn } from "../support/contacts.ts";
import { testHosted } from "../support/hosted-role.ts";
import { startReceiver } from "../support/receiver.ts";

const FORM = { "content-type": "application/x-www-form-urlencoded" };

/** A hosted tenant whose owner was paged by a contact, and the link in the page. */
async function pagedTenant(t: TestContext) {
  const receiver = await startReceiver();
  const hosted = await testHosted({
    egressAllow: ["127.0.0.0/8"],
    publicUrl: "https://service.test",
  });
  t.after(async () => {
    await hosted.stop();
    await receiver.close();
  });
  const { token, account, tid } = await hosted.desk(async (desk) => {
    const { tenant_id: tid } = await desk.addTenant({ kind: "hosted" });
    const made = await desk.addKey({ tenant: tid, email: "ann@example.org" });
    return { tid, token: made.api_key, account: made.account_id };
  });
  const ok = async (method: string, path: string, body: object) => {
    const got = await hosted.call(method, path, { token, body });
    assert.ok(got.status < 300, `${path}: ${JSON.stringify(got.body)}`);
    return got.body;
  };
  const base = "/v1/accounts/me/contacts";
  const { id } = await ok("POST", base, { kind: "webhook", address: receiver.url });
  await ok("POST", `${base}/${id}/verify`, {});
  const { code } = toldIn(receiver.received.at(-1));
  await ok("POST", `${base}/${id}/verify`, { code });
  await ok("POST", "/v1/projects", { name: "shop" });
  const escalations = [{ after_minutes: 0, accounts: [account], schedules: [], repeat_minutes: 0 }];
  await ok("POST", "/v1/projects/shop/rules", { name: "any", escalations });
  const source = await ok("POST", "/v1/projects/shop/sources", { name: "app" });
  const before = receiver.received.length;
  const event = { token: source.token, body: { message: "Disk is full", level: 500 } };
  assert.equal((await hosted.call("POST", "/v1/ingest", event)).status, 202);
  while (receiver.received.length === before) {
    await hosted.clock.turn(0);
    await pause(1);
  }
  const link = toldIn(receiver.received.at(-1)).acknowledge_url ?? "";
  return { hosted, tid, token, account, contact: id as string, link };
}

test("a signed link opens its tenant, and a link that was never issued opens none", async (t) => {
  const { hosted, tid, token, account, contact, link } = await pagedTenant(t);
  const capability = link.slice("https://service.test/ack/".length);
  assert.match(capability, new RegExp(`^${tid}${account}-`));
  const sealer = (await hosted.role.tenants.find(tid))?.sealer;
  assert.ok(sealer);
  const open = () => hosted.role.tenants.stats().open;
  for (let i = 0; open() > 0 && i < 200; i++) await hosted.clock.turn(10_000);
  assert.equal(open(), 0, "closed some time after its last use");
  const ask = (text: string, method = "GET") =>
    fetch(`${hosted.url}/ack/${text}`, {
      method,
      ...(method === "POST" ? { headers: FORM, body: "verb=acknowledge" } : {}),
    });
  const other = `${tid.replace(/^./, (char) => (char === "0" ? "1" : "0"))}${account}`;
  const right = { tenantId: tid, alertId: 1, accountId: account, contactId: contact };
  const ended = capabilityOf(sealer, { ...right, until: 1 }, { whole: true });
  const short = capability.slice(33);
  const wrong = [short, `${other}-${short}`, `${capability.slice(0, -1)}_`, ended];
  for (const text of wrong)
    for (const method of ["GET", "POST"]) assert.equal((await ask(text, method)).status, 404, text);
  assert.equal(open(), 0);
  const page = await ask(capability);
  assert.deepEqual([page.status, open()], [200, 1]);
  assert.match(await page.text(), /Disk is full/);
  const posted = await ask(capability, "POST");
  assert.equal(posted.status, 200);
  assert.match(await posted.text(), /is acknowledged by ann@example\.org/);
  const alert = await hosted.call("GET", "/v1/alerts/1", { token });
  assert.equal(alert.body.state, "acknowledged");
});

test("a callback's signed path opens its tenant, and a made-up path opens none", async (t) => {
  const { hosted, tid, token } = await pagedTenant(t);
  const settings = { account_sid: `AC${"0".repeat(32)}`, auth_token: "t", test: false };
  const put = await hosted.call("PUT", "/v1/gateways/twilio", { token, body: settings });
  assert.equal(put.status, 200, JSON.stringify(put.body));
  const sealer = (await hosted.role.tenants.find(tid))?.sealer;
  assert.ok(sealer);
  const open = () => hosted.role.tenants.stats().open;
  for (let i = 0; open() > 0 && i < 200; i++) await hosted.clock.turn(10_000);
  const segment = callbackSegment(sealer, tid);
  const call = (at: string) => {
    const path = `/v1/in/twilio${at}/status`;
    const body = new URLSearchParams({ CallSid: `CA${"1".repeat(32)}`, CallStatus: "ringing" });
    const signed = `https://service.test${path}CallSidCA${"1".repeat(32)}CallStatusringing`;
    const signature = createHmac("sha1", "t").update(signed).digest("base64");
    const headers = { "x-twilio-signature": signature };
    return fetch(hosted.url + path, { method: "POST", body, headers });
  };
  const other = segment.replace(/^./, (char) => (char === "0" ? "1" : "0"));
  for (const at of ["", `/${other}`, `/${tid}-${"A".repeat(22)}`])
    assert.equal((await call(at)).status, 403, at);
  assert.equal(open(), 0);
  assert.deepEqual([(await call(`/${segment}`)).status, open()], [204, 1]);
});
