import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { boxAndReceiver, reachBy, toldIn } from "../support/contacts.ts";
import { pass, settle } from "../support/until.ts";

/** A rule is renamed or removed by configuration in the middle of an incident. */

async function story(t: TestContext) {
  const { box, receiver } = await boxAndReceiver(t);
  const token = await box.project("shop");
  const ann = box.person("member", "ann@example.org");
  await reachBy(box, ann, receiver, "/ann");
  const now = () => Math.floor(box.clock.now() / 1000);
  await box.api("POST", "/v1/projects/shop/rules", {
    name: "errors",
    identifier_keys: ["n"],
    escalations: [{ accounts: [ann.accountId], after_minutes: 10 }],
  });
  const fire = async (n: string, named: object = {}) => {
    await box.ingest(token, { message: "it is down", level: 400, keys: { n }, ...named });
    await settle(box);
    return String(box.tenant.store.sql("SELECT max(id) FROM alerts").pluck().get());
  };
  const put = async (change: (rules: { name: string }[]) => object[], query = "") => {
    const { version, config } = (await box.api("GET", "/v1/projects/shop/config")).body;
    const to = `/v1/projects/shop/config${query}`;
    return box.api("PUT", to, { version, config: { ...config, rules: change(config.rules) } });
  };
  const hush = async (n: string, minutes: number) => {
    const match = { rule: "errors", identifiers: { n } };
    const write = { project: "shop", match, ends_at: now() + minutes * 60, reason: "why" };
    assert.equal((await box.api("POST", "/v1/silences", write)).status, 201);
  };
  const fellBack = async (id: string) => {
    const { timeline } = (await box.api("GET", `/v1/alerts/${id}/timeline`)).body;
    const of = timeline.filter(({ kind }: { kind: string }) => kind === "fallback");
    return of.map((one: { detail: { why: string; accounts: string[] } }) => [
      one.detail.why,
      one.detail.accounts,
    ]);
  };
  const pages = () =>
    receiver.received.filter((one) => one.path === "/ann" && toldIn(one).purpose === "page").length;
  const alert = async (id: string) => (await box.api("GET", `/v1/alerts/${id}`)).body;
  const goesOn = (id: string) =>
    box.tenant.store.sql("SELECT step_at IS NOT NULL FROM alerts WHERE id = ?").pluck().get(id) ===
    1;
  await hush("held", 30);
  return { box, ann, fire, put, pages, alert, goesOn, hush, fellBack, now };
}

test("a rule that has another name keeps its alerts, their ladders and what holds them", async (t) => {
  const { box, fire, put, pages, alert } = await story(t);
  const [open, held] = [await fire("1"), await fire("held")];
  const answer = await put((rules) => rules.map((one) => ({ ...one, name: "failures" })));
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  assert.deepEqual(answer.body.changes, [
    { kind: "rule", name: "failures", change: "update", was: "errors" },
  ]);
  assert.deepEqual(answer.body.ladders_end, []);
  assert.equal(await fire("1"), held, "what fires again is the same alert");
  assert.deepEqual([(await alert(open)).rule, (await alert(open)).count], ["failures", 2]);
  assert.notEqual((await alert(held)).silenced_by, null);
  await pass(box, 700, 60);
  assert.equal(pages(), 1);
  await pass(box, 1800, 60);
  assert.equal(pages(), 2, "what was held is told, and its ladder begins");
});

test("a rule that is removed says whose ladders end, before and after", async (t) => {
  const { fire, put, goesOn } = await story(t);
  const [open, held] = [await fire("1"), await fire("held")];
  const ends = [{ rule: "errors", alerts: [open, held], count: 2, people: ["ann@example.org"] }];
  const tried = await put(() => [], "?dry_run=true");
  assert.deepEqual(tried.body.ladders_end, ends);
  assert.ok(goesOn(open), "it was only tried");
  const done = await put(() => []);
  assert.deepEqual(done.body.ladders_end, ends);
});

test("a rule that is deleted by itself says whose ladders end, before and after", async (t) => {
  const { fire, goesOn, box } = await story(t);
  const at = "/v1/projects/shop/rules/errors";
  const before = (await box.api("GET", at)).body;
  assert.equal("ladders_end" in before, false, "none would end");
  const [open, held] = [await fire("1"), await fire("held")];
  const ends = [{ rule: "errors", alerts: [open, held], count: 2, people: ["ann@example.org"] }];
  const read = (await box.api("GET", at)).body;
  assert.deepEqual(read.ladders_end, ends);
  assert.equal((await box.api("PUT", at, read)).status, 200, "it is taken as it was read");
  assert.ok(goesOn(open));
  const gone = await box.api("DELETE", at);
  assert.deepEqual(gone.body, { deleted: true, ladders_end: ends });
  assert.ok(!goesOn(open));
});

test("what a silence held of a removed rule is told at its end, to whoever is paged for nobody", async (t) => {
  const { fire, put, alert, box, fellBack } = await story(t);
  const held = await fire("held");
  await put(() => []);
  await pass(box, 1900, 60);
  assert.deepEqual(await fellBack(held), [["rule_deleted", [box.owner.accountId]]]);
  assert.equal((await alert(held)).silenced_by, null);
});

test("a step that a silence held of a removed rule is a page at its end, too", async (t) => {
  const { fire, put, pages, box, hush, fellBack } = await story(t);
  const open = await fire("1");
  await hush("1", 30);
  await pass(box, 700, 60);
  await put(() => []);
  assert.deepEqual([pages(), await fellBack(open)], [0, []]);
  await pass(box, 1900, 60);
  assert.deepEqual(await fellBack(open), [["rule_deleted", [box.owner.accountId]]]);
});

test("nobody is paged for a held alert of a removed rule that somebody has", async (t) => {
  const { fire, put, box, fellBack } = await story(t);
  const held = await fire("held");
  await box.api("POST", `/v1/alerts/${held}/ack`);
  await put(() => []);
  await pass(box, 1900, 60);
  assert.deepEqual(await fellBack(held), []);
});

test("an alert that somebody had before its first step pages when they don't any more, though its rule is gone", async (t) => {
  const { fire, put, box, fellBack, now } = await story(t);
  const [snoozed, back] = [await fire("1"), await fire("2")];
  const done = async (id: string, verb: string, body: object = {}) => {
    const answer = await box.api("POST", `/v1/alerts/${id}/${verb}`, body);
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
  };
  await done(snoozed, "snooze", { until: now() + 600 });
  await done(back, "ack");
  await put(() => []);
  assert.deepEqual([await fellBack(snoozed), await fellBack(back)], [[], []]);
  await done(back, "unack");
  await pass(box, 720, 60);
  const paged = [["rule_deleted", [box.owner.accountId]]];
  assert.deepEqual([await fellBack(snoozed), await fellBack(back)], [paged, paged]);
});

test("an alert that nobody was told of pages when nobody has it any more, though its rule is gone", async (t) => {
  const { fire, put, box, hush, fellBack, now, ann } = await story(t);
  for (const n of ["woken", "back", "given"]) await hush(n, 5);
  const [held, late, woken, back, given] = [
    await fire("held"),
    await fire("held", { message: "it is late" }),
    await fire("woken"),
    await fire("back"),
    await fire("given"),
  ];
  const all = [held, late, woken, back, given];
  const done = async (id: string, verb: string, body: object = {}) => {
    const answer = await box.api("POST", `/v1/alerts/${id}/${verb}`, body);
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
  };
  const events = (id: string) =>
    box.tenant.store
      .sql(
        "SELECT event FROM events WHERE alert_id = ? AND event <> 'alert.acknowledged' ORDER BY id",
      )
      .pluck()
      .all(id);
  const snooze = (id: string) => done(id, "snooze", { until: now() + 600 });
  for (const id of [held, woken]) await snooze(id);
  for (const id of [back, given]) await done(id, "ack");
  await put(() => []);
  await snooze(late);
  await pass(box, 420, 60);
  assert.deepEqual(await Promise.all(all.map(fellBack)), [[], [], [], [], []], "somebody has them");
  const paged = [["rule_deleted", [box.owner.accountId]]];
  await done(back, "unack");
  await done(given, "assign", { accounts: [ann.accountId] });
  await pass(box, 240, 60);
  assert.deepEqual(await Promise.all(all.map(fellBack)), [[], [], paged, paged, []]);
  await pass(box, 1800, 60);
  assert.deepEqual(await Promise.all(all.map(fellBack)), [paged, paged, paged, paged, []]);
  for (const id of all) assert.deepEqual(events(id), ["alert.opened", "alert.escalated"]);
});

test("whoever is given a held alert of a removed rule is told once", async (t) => {
  const { fire, put, box, fellBack, pages, ann } = await story(t);
  const held = await fire("held");
  await put(() => []);
  const given = await box.api("POST", `/v1/alerts/${held}/assign`, { accounts: [ann.accountId] });
  assert.equal(given.status, 200, JSON.stringify(given.body));
  assert.equal(pages(), 0);
  await pass(box, 1900, 60);
  assert.deepEqual([pages(), await fellBack(held)], [1, []]);
  const told = box.tenant.store
    .sql("SELECT event FROM events WHERE alert_id = ? ORDER BY id")
    .pluck();
  assert.deepEqual(told.all(held), ["alert.opened", "alert.renotified"]);
});

test("a sender's word that runs out while a removed rule's alert is held keeps nobody busy", async (t) => {
  const { fire, put, box, now } = await story(t);
  const held = await fire("held", { dedup_key: "disk", expires_at: now() + 120 });
  await put(() => []);
  await pass(box, 600, 60);
  const due = box.tenant.store.sql("SELECT due_at FROM alerts WHERE id = ?").pluck().get(held);
  assert.ok(Number(due) > now(), "it is looked at again when the silence ends");
});
