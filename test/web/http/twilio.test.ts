import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { type TestContext, test } from "node:test";
import { type Person, testBox } from "../../support/box.ts";
import { reachBy } from "../../support/contacts.ts";
import { answer, startReceiver } from "../../support/receiver.ts";
import {
  spokenIn,
  TWILIO_FROM,
  TWILIO_SID,
  TWILIO_TOKEN,
  twilioService,
} from "../../support/twilio.ts";
import { pass, settle } from "../../support/until.ts";

const BASE = "https://box.test";
const [PHONE, OTHER] = ["+15550002222", "+15550003333"];

/** A box with a Twilio account; Ann is reached by it, and after her Bob by a webhook. */
async function phones(t: TestContext, kind: "sms" | "voice", publicUrl = BASE) {
  const receiver = await startReceiver();
  const twilio = await startReceiver();
  const box = await testBox({ publicUrl });
  const service = twilioService(box.clock.now());
  twilio.always(service.behaviour);
  t.after(async () => {
    await box.stop();
    await Promise.all([receiver.close(), twilio.close()]);
  });
  const settings = { account_sid: TWILIO_SID, auth_token: TWILIO_TOKEN, from: TWILIO_FROM };
  const put = await box.api("PUT", "/v1/gateways/twilio", {
    ...settings,
    url: twilio.url,
    test: false,
  });
  assert.equal(put.status, 200, JSON.stringify(put.body));
  const [ann, bob] = [
    box.person("member", "ann@example.org"),
    box.person("member", "bob@example.org"),
  ];
  const reach = async (person: Person, address: string): Promise<string> => {
    const base = "/v1/accounts/me/contacts";
    const { id } = (await box.api("POST", base, { kind, address }, person.key)).body;
    await box.api("POST", `${base}/${id}/verify`, {}, person.key);
    const made = service.made.at(-1);
    const words = made?.body ?? spokenIn(made?.form.get("Twiml") ?? "")?.join(" ") ?? "";
    const code = /(?:\d ?){6}/.exec(words)?.[0].replaceAll(" ", "");
    const verified = await box.api("POST", `${base}/${id}/verify`, { code }, person.key);
    assert.equal(verified.body.state, "verified", words);
    const rules = [{ after_seconds: 0, contacts: [id] }];
    await box.api("PUT", "/v1/accounts/me/notify", { rules }, person.key);
    return id;
  };
  const contact = await reach(ann, PHONE);
  await reachBy(box, bob, receiver, "/bob");
  const token = await box.project("shop");
  const step = ({ accountId }: Person, after_minutes: number) => ({
    after_minutes,
    accounts: [accountId],
    schedules: [],
    repeat_minutes: 0,
  });
  await box.api("POST", "/v1/projects/shop/rules", {
    name: "errors",
    identifier_keys: ["n"],
    escalations: [step(ann, 0), step(bob, 30)],
  });
  const { store } = box.tenant;
  let n = 0;
  const sign = (url: string, form: URLSearchParams, secret = TWILIO_TOKEN) => {
    const text = [...form.keys()]
      .sort()
      .map((name) => name + form.get(name))
      .join("");
    return createHmac("sha1", secret)
      .update(url + text)
      .digest("base64");
  };
  const post = async (
    path: string,
    fields: Record<string, string>,
    how: { url?: string; secret?: string; header?: string } = {},
  ) => {
    const form = new URLSearchParams(fields);
    const url = how.url ?? `${publicUrl}/v1/in/twilio${path}`;
    const header = how.header ?? sign(url, form, how.secret);
    const got = await fetch(`${box.url}/v1/in/twilio${path}`, {
      method: "POST",
      body: form,
      headers: { "x-twilio-signature": header },
    });
    return { status: got.status, type: got.headers.get("content-type"), text: await got.text() };
  };
  return {
    box,
    store,
    service,
    twilio,
    ann,
    bob,
    contact,
    reach,
    post,
    sign,
    async fire(): Promise<string> {
      await box.ingest(token, {
        message: "payment 4711 failed",
        level: 500,
        keys: { n: `${++n}` },
      });
      await settle(box);
      return String(store.sql("SELECT max(id) FROM alerts").pluck().get());
    },
    state: async (id: string) => (await box.api("GET", `/v1/alerts/${id}`)).body.state as string,
    kinds: async (id: string) =>
      (await box.api("GET", `/v1/alerts/${id}/timeline`)).body.timeline.map(
        (entry: { kind: string }) => entry.kind,
      ) as string[],
    page: (id: string) =>
      store
        .sql<
          [number],
          { status: string; outcome: string; last_error: string | null; handle: string }
        >(
          "SELECT status, outcome, last_error, handle FROM pages WHERE alert_id = ? ORDER BY id LIMIT 1",
        )
        .get(Number(id)),
    bobPaged: () => receiver.received.filter(({ body }) => /"purpose":"page"/.test(body)).length,
    async text(Body: string, From = PHONE): Promise<string> {
      const got = await post("/sms", {
        From,
        To: TWILIO_FROM,
        Body,
        MessageSid: `SM${"0".repeat(32)}`,
      });
      assert.deepEqual([got.status, got.type], [200, "text/xml; charset=utf-8"]);
      return (
        /^<Response>(?:<Message>(.*)<\/Message>)?<\/Response>$|^<Response\/>$/s.exec(
          got.text,
        )?.[1] ?? ""
      );
    },
  };
}

test("a text whose answer was lost is found again a minute later, and doesn't come twice", async (t) => {
  const { box, service, twilio, fire, page } = await phones(t, "sms");
  const before = service.made.length;
  // It is made, and neither that nor the list of what was made is heard.
  twilio.once(service.lost, answer(503, "canary"));
  const id = await fire();
  assert.equal(page(id)?.status, "pending");
  await pass(box, 90, 10);
  assert.equal(page(id)?.status, "delivered");
  assert.equal(service.made.length, before + 1);
});

test("a text that was taken and then fails brings the ladder forward; what was said before or again changes nothing", async (t) => {
  const { box, service, post, fire, page, kinds, bobPaged, contact, ann } = await phones(t, "sms");
  const first = await fire();
  const sent = service.made.at(-1);
  assert.equal(sent?.form.get("StatusCallback"), `${BASE}/v1/in/twilio/status`);
  const MessageSid = sent?.sid ?? "";
  const say = (MessageStatus: string, more = {}) =>
    post("/status", { MessageSid, MessageStatus, ...more });
  assert.equal((await say("sent")).status, 204);
  assert.deepEqual([page(first)?.status, page(first)?.outcome], ["delivered", "accepted"]);
  assert.equal((await say("undelivered", { ErrorCode: "30003" })).status, 204);
  for (let i = 0; i < 2; i++) await say("undelivered", { ErrorCode: "30003" });
  await say("delivered");
  await pass(box, 2);
  assert.deepEqual(
    [page(first)?.status, page(first)?.last_error],
    ["failed", "undelivered: code 30003"],
  );
  assert.equal(bobPaged(), 1);
  const history = await kinds(first);
  assert.equal(history.filter((kind) => kind === "page_failed").length, 1);
  assert.equal(history.filter((kind) => kind === "unreachable").length, 1);
  const path = `/v1/accounts/me/contacts/${contact}`;
  const held = await box.api("GET", path.slice(0, path.lastIndexOf("/")), undefined, ann.key);
  assert.equal(held.body.contacts[0].state, "failing");

  await pass(box, 31);
  const second = await fire();
  const sid = service.made.at(-1)?.sid ?? "";
  await post("/status", { MessageSid: sid, MessageStatus: "delivered" });
  assert.equal(page(second)?.outcome, "delivered");
  await post("/status", { MessageSid: sid, MessageStatus: "failed" });
  assert.deepEqual([page(second)?.status, page(second)?.outcome], ["delivered", "delivered"]);
  assert.equal((await kinds(second)).includes("unreachable"), false);
});

test("a call that nobody picks up goes on to the next, and says nothing against the number", async (t) => {
  const { box, service, post, fire, page, bobPaged, ann } = await phones(t, "voice");
  const id = await fire();
  const CallSid = service.made.at(-1)?.sid ?? "";
  await post("/status", { CallSid, CallStatus: "ringing" });
  await post("/status", { CallSid, CallStatus: "no-answer" });
  await pass(box, 2);
  assert.deepEqual(
    [page(id)?.status, page(id)?.last_error, bobPaged()],
    ["failed", "no-answer", 1],
  );
  const { contacts } = (await box.api("GET", "/v1/accounts/me/contacts", undefined, ann.key)).body;
  assert.equal(contacts[0].state, "verified");
});

test("a failure that comes before it is written down that the call was taken is heard all the same", async (t) => {
  const { box, store, service, post, fire, page } = await phones(t, "voice");
  const id = await fire();
  const CallSid = service.made.at(-1)?.sid ?? "";
  const set = (ref: string | null) =>
    store.write((tx) =>
      tx
        .sql<[string | null, number]>("UPDATE pages SET ref = ? WHERE alert_id = ?")
        .run(ref, Number(id)),
    );
  set(null);
  const told = post("/status", { CallSid, CallStatus: "busy" });
  await box.clock.turn(300);
  set(CallSid);
  let isTold = false;
  void told.then(() => {
    isTold = true;
  });
  while (!isTold) {
    await box.clock.turn(250);
    await new Promise((resolve) => setImmediate(resolve));
  }
  assert.equal((await told).status, 204);
  assert.equal(page(id)?.status, "failed");
});

test("in a call 4 acknowledges, 6 resolves, and 9 says it again; what comes again or for nothing is answered in words", async (t) => {
  const { box, service, post, fire, state, page, ann } = await phones(t, "voice");
  const id = await fire();
  const spoken = service.made.at(-1)?.form.get("Twiml") ?? "";
  const [, action = ""] = /action="([^"]+)"/.exec(spoken) ?? [];
  const path = action.slice(`${BASE}/v1/in/twilio`.length);
  const press = async (Digits: string, at = path) => {
    const got = await post(at, { CallSid: `CA${"1".repeat(32)}`, Digits, To: PHONE });
    assert.deepEqual([got.status, got.type], [200, "text/xml; charset=utf-8"]);
    const words = spokenIn(got.text);
    assert.ok(words, got.text);
    return { words: words.join(" "), markup: got.text };
  };
  const again = await press("9");
  assert.equal(again.markup, spoken);
  assert.match((await press("1")).words, /Press 4 to acknowledge/);
  assert.equal(await state(id), "open");
  for (let i = 0; i < 2; i++)
    assert.match((await press("4")).words, /is acknowledged by ann@example\.org, just now/);
  const { timeline } = (await box.api("GET", `/v1/alerts/${id}/timeline`)).body;
  const acks = timeline.filter(({ kind }: { kind: string }) => kind === "acknowledged");
  assert.deepEqual(
    acks.map((entry: { account_id: string; detail: object }) => [entry.account_id, entry.detail]),
    [[ann.accountId, { via: "voice" }]],
  );
  assert.equal(page(id)?.outcome, "answered");
  await post("/status", { CallSid: service.made.at(-1)?.sid ?? "", CallStatus: "failed" });
  assert.deepEqual([page(id)?.status, page(id)?.outcome], ["delivered", "answered"]);
  assert.match((await press("6")).words, /is resolved by/);
  assert.match(
    (await press("4", "/voice/AAAAAAAAAAAA")).words,
    /can&#39;t|can't be answered any more/,
  );
  assert.match((await press("9", "/voice/AAAAAAAAAAAA")).words, /can't be answered any more/);
});

test("a text answers as the person whose verified number it came from, and only what that number was told", async (t) => {
  const { box, ann, bob, service, fire, state, text, page, reach } = await phones(t, "sms");
  const [first, second, third] = [await fire(), await fire(), await fire()];
  await pass(box, 31);
  assert.match(service.made.at(-1)?.body ?? "", /2 alerts/);
  assert.equal(await text("ack", "+15550009999"), "", "a stranger is told nothing");
  assert.match(await text("hello"), /^Text ack or resolve/);
  assert.match(await text("ack"), new RegExp(`^Which one\\? ${first}, ${second}, ${third}\\.`));
  assert.match(await text("ack 999"), /^Nothing that this number was told of/);
  assert.match(await text(`Ack #${second}`), new RegExp(`^Alert ${second} is acknowledged by ann`));
  assert.deepEqual(
    [await state(first), await state(second), await state(third)],
    ["open", "acknowledged", "open"],
  );
  const handle = page(second)?.handle ?? "";
  assert.match(await text(`ack ${handle}`), /^1 alert acknowledged; 1 was taken or over before\.$/);
  assert.equal(await state(third), "acknowledged");
  assert.match(await text("ack"), new RegExp(`^Alert ${first} is acknowledged`));
  assert.match(await text("ack"), /^Alert|were taken|was taken/, "who has it by now");
  assert.match(await text(`${first}c`), /is resolved by ann/);
  assert.equal(page(first)?.outcome, "answered");

  // Bob's number was told of nothing, and one that two share is nobody's.
  const rules = { rules: [] };
  await box.api("PUT", "/v1/accounts/me/notify", rules, ann.key);
  await reach(bob, OTHER);
  assert.match(await text(`resolve ${third}`, OTHER), /^Nothing that this number/);
  await reach(bob, PHONE);
  assert.match(await text(`resolve ${third}`), /^Several people have this number/);
  assert.equal(await state(third), "acknowledged");
});

test("what isn't signed over this very address with the account's token is refused, changes nothing, and is limited", async (t) => {
  const { box, service, post, fire, state, page, sign } = await phones(
    t,
    "voice",
    "https://box.test/base",
  );
  const id = await fire();
  const path = `/voice/${page(id)?.handle}`;
  const url = `https://box.test/base/v1/in/twilio${path}`;
  const keys = { CallSid: `CA${"1".repeat(32)}`, Digits: "6" };
  const forged: Parameters<typeof post>[2][] = [
    { header: "" },
    { header: "x" },
    { secret: "another token" },
    { url: url.replace("/base", "") },
    { url: url.replace("box.test", "other.test") },
    { url: url.replace("box.test", "box.test:8443") },
    { header: sign(url, new URLSearchParams({ ...keys, Digits: "4" })) },
  ];
  for (const how of forged) {
    const { status, text } = await post(path, keys, how);
    assert.deepEqual([status, text], [403, ""], JSON.stringify(how));
  }
  assert.equal(await state(id), "open");
  const status = { CallSid: service.made.at(-1)?.sid ?? "", CallStatus: "failed" };
  for (const expected of [403, 403, 403, 429])
    assert.equal((await post("/status", status, { header: "x" })).status, expected);
  assert.equal(page(id)?.status, "delivered");
  assert.equal((await fetch(`${box.url}/v1/in/twilio/status`)).status, 405);
  assert.equal((await fetch(`${box.url}/v1/in/twilio/other`, { method: "POST" })).status, 404);
  // Who is known is served on, and the port that the scheme means anyway may stand there or not.
  const port = url.replace("box.test", "box.test:443");
  assert.equal((await post(path, keys, { url: port })).status, 200);
  assert.equal(await state(id), "resolved");
});
