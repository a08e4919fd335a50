import assert from "node:assert/strict";
import { test } from "node:test";
import { markVerified } from "../../src/out/contacts/verify.ts";
import { boxAndReceiver, pagedStory, reachBy, sendLines, toldIn } from "../support/contacts.ts";
import { answer, startReceiver } from "../support/receiver.ts";
import { TWILIO_FROM, TWILIO_SID, TWILIO_TOKEN, twilioService } from "../support/twilio.ts";
import { pass, settle } from "../support/until.ts";

/** What becomes of pages when contacts, projects, alerts and services change under them. */

type Story = Awaited<ReturnType<typeof pagedStory>>;

const kindsOf = async ({ timeline }: Story, id: string) =>
  (await timeline(id)).map(({ kind }) => kind);

for (const [what, way] of [
  ["deleted", (s: Story, id: string) => s.box.api("DELETE", own(id), undefined, s.ann.key)],
  ["switched off", (s: Story, id: string) => s.box.api("PATCH", own(id), OFF, s.ann.key)],
] as const)
  test(`a contact that is ${what} while its page waits is said, and the next step runs at once`, async (t) => {
    const s = await pagedStory(t);
    const phone = await reachBy(s.box, s.ann, s.receiver, "/ann");
    await reachBy(s.box, s.bob, s.receiver, "/bob");
    await s.rule([s.step(s.ann), s.step(s.bob, 30)]);
    s.receiver.once(answer(503));
    const id = await s.fire(1);
    s.told();
    assert.equal((await way(s, phone)).status, 200);
    await settle(s.box);
    assert.deepEqual(s.told(), [`/bob page ${id}`]);
    assert.deepEqual(await kindsOf(s, id), [
      "opened",
      "escalated",
      "page_delayed",
      "page_failed",
      "unreachable",
      "escalated",
      "page_sent",
    ]);
  });

const own = (id: string) => `/v1/accounts/me/contacts/${id}`;
const OFF = { state: "off" };

test("a person who is removed while their page waits is said, too, within a minute", async (t) => {
  const s = await pagedStory(t);
  await reachBy(s.box, s.ann, s.receiver, "/ann");
  await reachBy(s.box, s.bob, s.receiver, "/bob");
  await s.rule([s.step(s.ann), s.step(s.bob, 30)]);
  s.receiver.once(answer(503));
  const id = await s.fire(1);
  s.told();
  // Whom a ladder names can't be removed.
  const {
    id: _,
    created_at,
    updated_at,
    ...rule
  } = (await s.box.api("GET", "/v1/projects/shop/rules/errors")).body;
  await s.box.api("PUT", "/v1/projects/shop/rules/errors", {
    ...rule,
    escalations: [s.step(s.bob, 30)],
  });
  const removed = await s.box.api("DELETE", `/v1/accounts/${s.ann.accountId}`);
  assert.equal(removed.status, 200, JSON.stringify(removed.body));
  await pass(s.box, 62, 2);
  assert.deepEqual(s.told(), [`/bob page ${id}`]);
  assert.deepEqual((await kindsOf(s, id)).slice(2), [
    "page_delayed",
    "retimed",
    "unreachable",
    "escalated",
    "page_sent",
    "page_failed",
  ]);
});

test("a project that is deleted while its pages wait takes them with it, and no contact is blamed", async (t) => {
  const s = await pagedStory(t);
  const phone = await reachBy(s.box, s.ann, s.receiver, "/ann");
  await s.rule([s.step(s.ann)]);
  s.receiver.once(answer(503));
  await s.fire(1);
  s.told();
  assert.equal((await s.box.api("DELETE", "/v1/projects/shop")).status, 200);
  await pass(s.box, 120, 5);
  assert.deepEqual(s.told(), []);
  const { contacts } = (await s.box.api("GET", "/v1/accounts/me/contacts", undefined, s.ann.key))
    .body;
  assert.deepEqual([contacts[0].id, contacts[0].state], [phone, "verified"]);
  const waits = s.box.tenant.store.sql("SELECT count(*) FROM pages WHERE status = 'pending'");
  assert.equal(waits.pluck().get(), 0);
});

test("a page that failed brings nothing forward where a phone of that person is paged", async (t) => {
  const s = await pagedStory(t);
  await reachBy(s.box, s.ann, s.receiver, "/ann");
  await reachBy(s.box, s.bob, s.receiver, "/bob");
  await s.rule([s.step(s.ann), s.step(s.bob, 30)]);
  s.box.tenant.store.write((tx) =>
    tx
      .sql(
        `INSERT INTO integrations (id, project_id, name, type, url, enabled, event_filter, relay, created_at)
         VALUES ('relay', 1, 'relay', 'webhook', ?, 1, 'alert.escalated', 1, ?)`,
      )
      .run(s.receiver.url, tx.at),
  );
  s.receiver.always((response, socket, request) =>
    answer(request.path === "/ann" ? 410 : 204)(response, socket, request),
  );
  s.told();
  const id = await s.fire(1);
  await pass(s.box, 60, 10);
  assert.ok(!s.told().some((one) => one.startsWith("/bob")));
  assert.ok(!(await kindsOf(s, id)).includes("unreachable"));
  assert.ok((await kindsOf(s, id)).includes("page_failed"));
});

test("what became of an alert is not told any more once it is open again", async (t) => {
  const s = await pagedStory(t);
  await reachBy(s.box, s.ann, s.receiver, "/ann");
  await s.rule([s.step(s.ann)], { reopen_within_seconds: 3600 });
  s.told();
  const named = { dedup_key: "disk" };
  const id = await s.fire(1, named);
  assert.deepEqual(s.told(), [`/ann page ${id}`]);
  await pass(s.box, 10, 5);
  s.receiver.once(answer(503));
  await s.fire(1, { ...named, status: "resolved" });
  assert.deepEqual(s.told(), [`/ann note ${id}`]);
  assert.equal(await s.fire(1, named), id);
  await pass(s.box, 60, 2);
  assert.deepEqual(s.told(), [`/ann page ${id}`]);
});

test("what became of many alerts is told in few messages, and a service that wants rest from them holds up no page", async (t) => {
  const s = await pagedStory(t);
  await reachBy(s.box, s.ann, s.receiver, "/ann");
  await s.rule([s.step(s.ann)]);
  s.told();
  const lines = Array.from({ length: 60 }, (_, n) =>
    JSON.stringify({ message: "disk is full", level: 500, keys: { n: `${n}` } }),
  );
  await sendLines(s, lines);
  await pass(s.box, 10, 5);
  s.told();
  const bulk = { where: { project: "shop", state: "open" }, verb: "ack" };
  s.receiver.once(answer(429, "", { "retry-after": "40" }));
  assert.equal((await s.box.api("POST", "/v1/alerts/bulk", bulk)).status, 200);
  await settle(s.box);
  s.told();
  const id = await s.fire(99);
  assert.deepEqual(
    s.told().filter((one) => one.includes("page")),
    [`/ann page ${id}`],
  );
  await pass(s.box, 60, 5);
  const notes = s.receiver.received.filter((request) => toldIn(request).purpose === "note");
  assert.ok(notes.length <= 8, `${notes.length} notes`);
  const named = notes.flatMap((request) => toldIn(request).alerts.map((one) => one.alert_id));
  assert.equal(new Set(named).size, 60);
});

test("a message that named several alerts is not replaced when one of them is taken", async (t) => {
  const s = await pagedStory(t);
  const bot = await startReceiver();
  t.after(() => bot.close());
  let messages = 0;
  bot.always((response, socket, request) =>
    answer(200, { ok: true, result: { message_id: ++messages, username: "box_bot" } })(
      response,
      socket,
      request,
    ),
  );
  const gateway = { token: "7:abc", url: bot.url };
  assert.equal((await s.box.api("PUT", "/v1/gateways/telegram", gateway)).status, 200);
  const base = "/v1/accounts/me/contacts";
  const write = { kind: "telegram", address: "4711" };
  const { id } = (await s.box.api("POST", base, write, s.ann.key)).body;
  await s.box.api("POST", `${base}/${id}/verify`, {}, s.ann.key);
  const [, code] = /(\d{3} ?\d{3})/.exec(JSON.parse(bot.received.at(-1)?.body ?? "").text) ?? [];
  assert.equal((await s.box.api("POST", `${base}/${id}/verify`, { code }, s.ann.key)).status, 200);
  await s.rule([s.step(s.ann)]);
  const alerts = [await s.fire(1), await s.fire(2), await s.fire(3)];
  await pass(s.box, 6);
  const calls = () => bot.received.map(({ path }) => path.split("/").at(-1));
  const before = calls().length;
  for (const alert of alerts.slice(0, 2)) {
    await s.box.api("POST", `/v1/alerts/${alert}/ack`, {}, s.bob.key);
    await settle(s.box);
  }
  // The first was named alone; the second together with the third, which is still open.
  assert.deepEqual(calls().slice(before), ["editMessageText", "sendMessage"]);
});

test("more pages than go into one message don't keep the box busy while they can't be sent", async (t) => {
  const s = await pagedStory(t);
  const phone = await reachBy(s.box, s.ann, s.receiver, "/ann");
  await s.rule([s.step(s.ann)]);
  await s.fire(1);
  await pass(s.box, 6, 6);
  s.box.tenant.store.write((tx) => {
    tx.sql(
      `INSERT INTO pages (contact_id, account_id, alert_id, event_row, event, handle, status, due_ms, next_attempt_ms, created_at)
       WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1200)
       SELECT contact_id, account_id, 1000 + i, event_row, event, 'h' || i, 'pending', due_ms, due_ms, created_at FROM pages, n`,
    ).run();
    tx.sql("UPDATE contacts SET sealed = 'lost' WHERE id = ?").run(phone);
    tx.note({ topic: "contact", id: phone });
  });
  await settle(s.box);
  const most = s.box.tenant.store.sql("SELECT max(attempts) FROM pages").pluck();
  assert.ok(Number(most.get()) <= 3, `${most.get()} attempts`);
});

test("a call that had to wait for the one before isn't taken for that one when its first attempt fails", async (t) => {
  const { box, receiver } = await boxAndReceiver(t);
  const service = twilioService(box.clock.now());
  receiver.always(service.behaviour);
  const gateway = { account_sid: TWILIO_SID, auth_token: TWILIO_TOKEN, from: TWILIO_FROM };
  const put = await box.api("PUT", "/v1/gateways/twilio", { ...gateway, url: receiver.url });
  assert.equal(put.status, 200, JSON.stringify(put.body));
  const base = "/v1/accounts/me/contacts";
  const voice = await box.api("POST", base, { kind: "voice", address: "+15550002222" });
  box.tenant.store.write((tx) => markVerified(tx, voice.body.id));
  const rules = [{ after_seconds: 0, contacts: [voice.body.id] }];
  assert.equal((await box.api("PUT", "/v1/accounts/me/notify", { rules })).status, 200);
  const token = await box.project("shop");
  const step = { after_minutes: 0, accounts: [box.owner.accountId] };
  await box.api("POST", "/v1/projects/shop/rules", {
    name: "errors",
    identifier_keys: ["n"],
    escalations: [step],
  });
  const fire = (n: number) =>
    box.ingest(token, { message: "down", level: 500, keys: { n: `${n}` } });
  await fire(1);
  await settle(box);
  await pass(box, 5);
  await fire(2);
  await settle(box);
  assert.equal(service.made.length, 1, "the second waits for the first to be over");
  receiver.once(answer(503, "canary"));
  await pass(box, 85, 5);
  assert.equal(receiver.received.filter(({ path }) => path.endsWith("/Calls.json")).length, 2);
  await pass(box, 10, 1);
  assert.equal(service.made.length, 2, "the second is called, too");
});
