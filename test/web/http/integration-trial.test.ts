import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { signedHeaders } from "../../../src/ground/kit/sign.ts";
import { type Answer, type TestBox, testBox } from "../../support/box.ts";
import { answer, type Receiver, redirect, reset, startReceiver } from "../../support/receiver.ts";

let box: TestBox;
let receiver: Receiver;
before(async () => {
  receiver = await startReceiver();
  box = await testBox({ telegramApi: receiver.url });
  await box.project("shop");
});
after(() => Promise.all([receiver.close(), box.stop()]));

const base = "/v1/projects/shop/integrations";
const attempt = (body: object, key?: string) => box.api("POST", `${base}/try`, body, key);
function assertError(got: Answer, status: number, code: string, field?: string): void {
  assert.deepEqual([got.status, got.body.error?.code], [status, code], JSON.stringify(got.body));
  if (field !== undefined) assert.equal(got.body.error.details[0].field, field);
}

const rows = () =>
  ["integrations", "deliveries", "events"].map((table) =>
    box.tenant.store.sql(`SELECT count(*) FROM ${table}`).pluck().get(),
  );

test("what is typed is sent one test, says what came, and leaves nothing behind", async () => {
  const from = rows();
  receiver.once(answer(200, "thanks"));
  const hook = { type: "webhook", url: `${receiver.url}/x`, secret: "hush-hush-hush", name: "ops" };
  const good = (await attempt(hook)).body;
  const { duration_ms: took, ...rest } = good;
  assert.deepEqual(rest, { ok: true, status_code: 200, error: null, answer: "thanks" });
  assert.ok(Number.isInteger(took) && took >= 0);
  const sent = receiver.received.at(-1);
  assert.equal(JSON.parse(sent?.body ?? "").event, "alert.test");
  const { "x-service-timestamp": timestamp = "", "webhook-id": id = "" } = sent?.headers ?? {};
  const signed = signedHeaders({
    secret: hook.secret,
    eventId: id,
    timestamp: Number(timestamp),
    body: sent?.body ?? "",
  });
  assert.equal(sent?.headers["x-service-signature"], signed["X-Service-Signature"]);

  receiver.once(answer(503, "down"), redirect("http://127.0.0.1:9/"), reset);
  const said = [];
  for (let i = 0; i < 3; i++) said.push((await attempt(hook)).body);
  assert.deepEqual(
    said.map(({ ok, status_code, error }) => [ok, status_code, error]),
    [
      [false, 503, "http 503"],
      [false, 302, "http 302: redirect not followed"],
      [false, null, "reset"],
    ],
  );
  assert.deepEqual(rows(), from);
});

test("a token that is typed is not answered, whatever the service repeats of it", async () => {
  receiver.once((response, _, { path }) => response.writeHead(401).end(`no such bot: ${path}`));
  const bot = { type: "telegram", token: "1122:typed-bot-token", chat_id: "-10099" };
  const { status, body } = await attempt(bot);
  assert.deepEqual([status, body.ok, body.status_code], [200, false, 401]);
  assert.match(body.answer, /no such bot: \/bot\[sealed\]/);
  assert.doesNotMatch(JSON.stringify(body), /typed-bot-token/);
});

test("it is refused as on create, and after ten within a minute", async () => {
  const { key } = box.person("member");
  const metadata = { type: "webhook", url: "http://169.254.169.254/" };
  assertError(await attempt(metadata, key), 403, "address_refused", "/url");
  assertError(await attempt({ type: "slack" }, key), 422, "missing_credential", "/webhook_url");
  assertError(await attempt({ type: "nothing" }, key), 400, "invalid_request", "/type");
  assertError(await attempt({ type: "apns" }, key), 503, "sender_unavailable");
  const hook = { type: "webhook", url: receiver.url };
  let sent = 0;
  for (; (await attempt(hook, key)).status === 200; sent++);
  assert.equal(sent, 9, "the one without a sender was a try, too");
  const over = await attempt(hook, key);
  assertError(over, 429, "rate_limited");
  assert.ok(Number(over.headers.get("retry-after")) > 0);
  assert.equal((await attempt(hook, box.person("member").key)).status, 200, "another key's");
  await box.clock.turn(61_000);
  assert.equal((await attempt(hook, key)).status, 200);
});

test("a signature is held against the stored secret", async () => {
  const secret = "hush-hush-hush";
  const { id } = (await box.api("POST", base, { type: "webhook", url: receiver.url, secret })).body;
  await box.api("POST", `${base}/${id}/test`);
  const arrived = receiver.received.at(-1);
  assert.ok(arrived);
  const { headers, body } = arrived;
  const check = async (given: object) => {
    const got = await box.api("POST", `${base}/${id}/check-signature`, given);
    assert.equal(got.status, 200, JSON.stringify(got.body));
    return got.body;
  };
  const ours = {
    timestamp: headers["x-service-timestamp"],
    signature: headers["x-service-signature"],
  };
  assert.deepEqual(await check({ ...ours, body }), { ok: true, reason: null });
  const standard = {
    timestamp: headers["webhook-timestamp"],
    signature: headers["webhook-signature"],
    id: headers["webhook-id"],
  };
  assert.deepEqual(await check({ ...standard, body }), { ok: true, reason: null });
  const two = `v1,${"A".repeat(43)}= ${standard.signature}`;
  assert.equal((await check({ ...standard, signature: two, body })).ok, true, "one of several");
  for (const wrong of [
    { ...ours, body: `${body} ` },
    { ...ours, timestamp: "1", body },
    { ...ours, signature: "0".repeat(64), body },
    { ...standard, id: "evt_other", body },
  ]) {
    const got = await check(wrong);
    assert.equal(got.ok, false);
    assert.match(got.reason, /not of this body/);
  }
  assert.match((await check({ ...ours, signature: "x", body })).reason, /not the headers/);
  const room = await box.api("POST", base, { type: "telegram", token: "1:a", chat_id: "-5" });
  assertError(
    await box.api("POST", `${base}/${room.body.id}/check-signature`, { ...ours, body }),
    422,
    "missing_credential",
  );
});
