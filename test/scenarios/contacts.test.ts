import assert from "node:assert/strict";
import { test } from "node:test";
import { mergeAlerts } from "../../src/core/alerts/merge.ts";
import { reachBy, pagedStory as story, toldIn } from "../support/contacts.ts";
import { answer } from "../support/receiver.ts";
import { busy, pass, settle } from "../support/until.ts";

test("a step pages each of a person's contacts when their rules want it, and an acknowledgement withdraws the rest", async (t) => {
  const { box, receiver, ann, bob, rule, fire, told, timeline, step } = await story(t);
  const phone = await reachBy(box, ann, receiver, "/ann-phone");
  const mail = await reachBy(box, ann, receiver, "/ann-mail");
  await reachBy(box, bob, receiver, "/bob");
  const rules = [
    { after_seconds: 0, contacts: [phone] },
    { after_seconds: 120, contacts: [mail], min_level: 500 },
  ];
  assert.equal((await box.api("PUT", "/v1/accounts/me/notify", { rules }, ann.key)).status, 200);
  await rule([step(ann), step(bob, 5)]);
  told();

  const first = await fire(1);
  assert.deepEqual(told(), [`/ann-phone page ${first}`]);
  await pass(box, 120, 10);
  assert.deepEqual(told(), [`/ann-mail page ${first}`]);
  await pass(box, 200, 10);
  assert.deepEqual(told(), [`/bob page ${first}`]);
  assert.equal((await box.api("POST", `/v1/alerts/${first}/ack`, {}, bob.key)).status, 200);
  await settle(box);
  assert.deepEqual(told().toSorted(), [
    `/ann-mail note ${first}`,
    `/ann-phone note ${first}`,
    `/bob note ${first}`,
  ]);

  const second = await fire(2);
  assert.deepEqual(told(), [`/ann-phone page ${second}`]);
  await box.api("POST", `/v1/alerts/${second}/ack`, {}, ann.key);
  await pass(box, 600, 30);
  assert.deepEqual(told(), [`/ann-phone note ${second}`]);
  const sent = (await timeline(first)).filter(({ kind }) => kind === "page_sent");
  assert.deepEqual(
    sent.map(({ detail }) => [detail["account"], detail["contact"], detail["address"]]),
    [
      [ann.accountId, "webhook", "/ann-phone"],
      [ann.accountId, "webhook", "/ann-mail"],
      [bob.accountId, "webhook", "/bob"],
    ],
  );
});

test("whom nothing reaches is not waited for, and where nobody on a ladder can be reached the fallback is paged", async (t) => {
  const { box, receiver, ann, bob, rule, fire, told, timeline, step } = await story(t);
  const contact = await reachBy(box, bob, receiver, "/bob");
  await rule([step(ann), step(bob, 30)]);
  told();
  const first = await fire(1);
  assert.deepEqual(told(), [`/bob page ${first}`]);
  const history = await timeline(first);
  const kinds = history.map(({ kind }) => kind);
  assert.deepEqual(kinds, ["opened", "escalated", "unreachable", "escalated", "page_sent"]);
  const rungs = history.filter(({ kind }) => kind === "escalated");
  assert.deepEqual(
    rungs.map(({ detail }) => detail["unreached"]),
    [true, undefined],
    "whom nothing reaches isn't said to be paged",
  );

  // Bob switches his off: nobody on the ladder is left, and nobody of the owners has a contact either.
  const path = `/v1/accounts/me/contacts/${contact}`;
  await reachBy(box, box.owner, receiver, "/owner");
  assert.equal((await box.api("PATCH", path, { state: "off" }, bob.key)).status, 200);
  told();
  const second = await fire(2);
  assert.deepEqual(told(), [`/owner page ${second}`]);
  const fallback = (await timeline(second)).find(({ kind }) => kind === "fallback");
  assert.deepEqual(fallback?.detail["reached"], [box.owner.accountId]);
  const alert = (await box.api("GET", `/v1/alerts/${second}`)).body;
  assert.deepEqual(alert.page_accounts, [box.owner.accountId]);
});

test("a contact that refuses for good brings the next step forward; one that is down is tried again for an hour", async (t) => {
  const { box, receiver, ann, bob, rule, fire, told, timeline, step } = await story(t);
  await reachBy(box, ann, receiver, "/ann");
  await reachBy(box, bob, receiver, "/bob");
  await rule([step(ann), step(bob, 30)]);
  told();
  receiver.once(answer(410));
  const first = await fire(1);
  await pass(box, 2);
  assert.deepEqual(told(), [`/ann page ${first}`, `/bob page ${first}`]);
  const kinds = (await timeline(first)).map(({ kind }) => kind);
  assert.deepEqual(kinds, [
    "opened",
    "escalated",
    "page_failed",
    "unreachable",
    "escalated",
    "page_sent",
  ]);
});

test("who deletes the contact that their page still waits for isn't waited for, and is no fallback by it", async (t) => {
  const { box, receiver, ann, bob, rule, fire, told, timeline, step } = await story(t);
  const contact = await reachBy(box, bob, receiver, "/bob");
  await reachBy(box, box.owner, receiver, "/owner");
  const fallback = { accounts: [bob.accountId], schedules: [] };
  assert.equal((await box.api("PUT", "/v1/fallback", fallback)).status, 200);
  await rule([step(ann)]);
  told();
  receiver.once(answer(503));
  const id = await fire(1);
  assert.deepEqual(told(), [`/bob page ${id}`]);
  const path = `/v1/accounts/me/contacts/${contact}`;
  assert.equal((await box.api("DELETE", path, undefined, bob.key)).status, 200);
  await settle(box);
  assert.deepEqual(told(), [`/owner page ${id}`]);
  const kinds = (await timeline(id)).map(({ kind }) => kind);
  assert.equal(kinds.filter((kind) => kind === "fallback").length, 2);
});

test("a page that fails once its alert has become one with another brings that one's next step forward", async (t) => {
  const { box, receiver, ann, bob, rule, fire, told, step } = await story(t);
  await reachBy(box, ann, receiver, "/ann");
  await reachBy(box, bob, receiver, "/bob");
  await rule([step(ann), step(bob, 30)]);
  const first = await fire(1);
  await pass(box, 60);
  told();
  const { store } = box.tenant;
  receiver.once((response, socket, request) => {
    const template = store.sql("SELECT template_id FROM alerts").pluck().get() as string;
    const place = { alertKey: "one", templateId: template };
    store.write((tx) => mergeAlerts(tx, [1, 2], place));
    answer(410)(response, socket, request);
  });
  const second = await fire(2);
  await pass(box, 2);
  assert.deepEqual(told(), [`/ann page ${second}`, `/bob page ${first}`]);
});

test("codes and tests are sent ten at once to a person's contacts, then one a minute: they ring, cost money and can be guessed at", async (t) => {
  const { box, receiver, ann, bob } = await story(t);
  const add = async (key: string) => {
    const write = { kind: "webhook", address: `${receiver.url}/x` };
    const { id } = (await box.api("POST", "/v1/accounts/me/contacts", write, key)).body;
    return `/v1/accounts/me/contacts/${id}/verify`;
  };
  const [one, other, bobs] = [await add(ann.key), await add(ann.key), await add(bob.key)];
  const send = (path: string, key = ann.key) => box.api("POST", path, {}, key);
  for (let i = 0; i < 10; i++) assert.equal((await send(i % 2 === 0 ? one : other)).status, 200);
  const sent = receiver.received.length;
  const refused = await send(one);
  assert.deepEqual([refused.status, refused.body.error.code], [429, "rate_limited"]);
  assert.ok(Number(refused.headers.get("retry-after")) > 0);
  assert.equal(receiver.received.length, sent);
  assert.equal((await send(bobs, bob.key)).status, 200);
  await box.clock.turn(60_000);
  assert.equal((await send(other)).status, 200);
});

test("who was being paged while somebody else took the alert is told so, too", async (t) => {
  const { box, receiver, ann, rule, told, step } = await story(t);
  await reachBy(box, ann, receiver, "/ann");
  await rule([step(ann)]);
  told();
  let end = () => {};
  receiver.once((response) => {
    end = () => response.writeHead(204).end();
  });
  const asked = receiver.received.length;
  const token = (await box.api("POST", "/v1/projects/shop/sources", { name: "b" })).body.token;
  await box.ingest(token, { message: "disk is full", level: 500, keys: { n: "1" } });
  await busy(box, () => receiver.received.length > asked, "the page is under way");
  assert.equal((await box.api("POST", "/v1/alerts/1/ack", {})).status, 200);
  end();
  await settle(box);
  assert.deepEqual(told(), ["/ann page 1", "/ann note 1"]);
});

test("who was told before and was being paged once more is told once that somebody has it", async (t) => {
  const { box, receiver, ann, rule, fire, told, step } = await story(t);
  await reachBy(box, ann, receiver, "/ann");
  await rule([step(ann)], { renotify_minutes: 1 });
  told();
  const id = await fire(1);
  let end = () => {};
  receiver.once((response) => {
    end = () => response.writeHead(204).end();
  });
  const asked = receiver.received.length;
  await box.clock.turn(60_000);
  await busy(box, () => receiver.received.length > asked, "the second page is under way");
  assert.equal((await box.api("POST", `/v1/alerts/${id}/ack`, {})).status, 200);
  end();
  await settle(box);
  assert.deepEqual(told(), [`/ann page ${id}`, `/ann page ${id}`, `/ann note ${id}`]);
});

test("pages to one contact that come soon after one another go as one that names each alert, over a restart, too", async (t) => {
  const { box, receiver, ann, rule, fire, told, step } = await story(t);
  await reachBy(box, ann, receiver, "/ann");
  await rule([step(ann)]);
  told();
  const ids = [await fire(1), await fire(2), await fire(3)];
  assert.deepEqual(told(), [`/ann page ${ids[0]}`]);
  await box.restart();
  await settle(box);
  assert.deepEqual(told(), []);
  await pass(box, 6);
  assert.deepEqual(told(), [`/ann page ${ids[1]},${ids[2]}`]);
});

test("a code is good for fifteen minutes and five tries, and a contact that isn't verified is never used", async (t) => {
  const { box, receiver, ann, rule, fire, told, step } = await story(t);
  const base = "/v1/accounts/me/contacts";
  const write = { kind: "webhook", address: `${receiver.url}/ann` };
  const { id } = (await box.api("POST", base, write, ann.key)).body;
  await rule([step(ann)]);
  const tested = await box.api("POST", `${base}/${id}/test`, {}, ann.key);
  assert.deepEqual([tested.status, tested.body.error.code], [409, "contact_not_verified"]);
  await fire(1);
  assert.deepEqual(told(), []);

  const verify = (code?: string) =>
    box.api("POST", `${base}/${id}/verify`, code === undefined ? {} : { code }, ann.key);
  await verify();
  const { code } = toldIn(receiver.received.at(-1));
  assert.match(code ?? "", /^\d{6}$/);
  const wrong = code === "111111" ? "222222" : "111111";
  for (let i = 0; i < 5; i++) assert.equal((await verify(wrong)).body.error.code, "code_refused");
  assert.match((await verify(code ?? "")).body.error.message, /guessed at too often/);
  await verify();
  await box.clock.turn(901_000);
  const late = await verify(toldIn(receiver.received.at(-1)).code ?? "");
  assert.match(late.body.error.message, /no code that is still good/);
  const stored = box.tenant.store.sql("SELECT sealed, shown, code_hash FROM contacts").get();
  assert.equal(JSON.stringify(stored).includes("/ann"), false);
});
