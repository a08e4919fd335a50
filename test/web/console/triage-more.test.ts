import assert from "node:assert/strict";
import { test } from "node:test";
import { isOf } from "../../../src/web/console/search/screen.ts";
import { testBox } from "../../support/box.ts";
import { box as run } from "../../support/command-line.ts";
import { signedIn } from "../../support/console.ts";
import { reachBy } from "../../support/contacts.ts";
import { startReceiver } from "../../support/receiver.ts";
import { settle } from "../../support/until.ts";

const said = (text: string): string =>
  (/<output[\s\S]*?<\/output>/.exec(text)?.[0] ?? "").replace(/<[^>]+>/g, "").trim();

async function story(t: { after(end: () => Promise<void>): void }) {
  const box = await testBox();
  t.after(() => box.stop());
  const token = await box.project("shop");
  const rule = (body: object) => box.api("POST", "/v1/projects/shop/rules", body);
  await rule({ name: "errors", match: { min_level: 400 } });
  return { box, token, rule, tab: signedIn(box) };
}

test("a pasted message is known by its template and the rules that may take it", async (t) => {
  const { box, token, tab } = await story(t);
  for (const n of [4711, 4712, 4713])
    await box.ingest(token, { message: `payment ${n} failed for acme`, level: 400 });
  await box.ingest(token, { message: "cache warmed in the morning", level: 200 });
  await settle(box);
  const q = (text: string) => `/search?${new URLSearchParams({ q: text }).toString()}`;
  const { text } = await tab.get(q("payment 9999 failed for acme"));
  assert.match(
    text,
    /payment <var>\*<\/var> failed for acme<\/span> <span class="soft">template · shop/,
  );
  assert.match(
    text,
    /\/p\/shop\/rules\/errors"><span>errors <span class="soft">rule that may match it/,
  );
  const none = (await tab.get(q("cache warmed in the morning"))).text;
  assert.match(none, /new-rule\?template=\w+"><span>No rule matches it/);
  assert.doesNotMatch((await tab.get(q("payment 9999 was fine"))).text, /template · shop/);
  assert.ok(isOf("a  b", "a b"));
  assert.ok(!isOf("a c", "a b"));
});

test("an alert names the other rules that would take its event", async (t) => {
  const { box, token, rule, tab } = await story(t);
  await rule({ name: "all of it" });
  await rule({ name: "fatal", match: { min_level: 500 } });
  await box.ingest(token, { message: "it broke", level: 400 });
  await settle(box);
  const row = box.tenant.store.sql("SELECT min(id) FROM alerts").pluck().get();
  const { text } = await tab.sections(`/a/${row}`, "related");
  assert.match(
    text,
    /Matched by other rules, too<\/h3><p><a href="\/p\/shop\/rules\/(?:all%20of%20it|errors)"/,
  );
  assert.doesNotMatch(text, /fatal/);
});

test("which end of a history comes first is remembered", async (t) => {
  const { box, token, tab } = await story(t);
  await box.ingest(token, { message: "it broke", level: 400 });
  await settle(box);
  await box.api("POST", "/v1/alerts/1/ack");
  const first = async (page: { text: string }) => /<li id="t-(\d+)"/.exec(page.text)?.[1];
  const newest = await first(await tab.get("/a/1"));
  const done = await tab.post("/a/1/order", { timeline: "oldest" }, { from: "/a/1" });
  assert.equal(done.status, 303);
  assert.match(done.headers.get("set-cookie") ?? "", /timeline=oldest/);
  const cookie = `${tab.cookie}; timeline=oldest`;
  const oldest = await first(await tab.get("/a/1", { cookie }));
  assert.notEqual(oldest, newest);
  assert.equal(oldest, "1");
  assert.match((await tab.get("/a/1", { cookie })).text, /data-key="t"[^>]*>History/);
});

test("many are given to a schedule by name at once; those whose project has none are told of", async (t) => {
  const { box, token, tab } = await story(t);
  const layer = { name: "l", rotation_start: 1_700_000_000, shift_minutes: 1440 };
  const schedule = {
    name: "primary",
    timezone: "UTC",
    layers: [{ ...layer, participants: [box.owner.accountId] }],
  };
  assert.equal((await box.api("POST", "/v1/projects/shop/oncall/schedules", schedule)).status, 201);
  const other = await box.project("other");
  await box.api("POST", "/v1/projects/other/rules", { name: "any" });
  await box.ingest(token, { message: "it broke", level: 400 });
  await box.ingest(other, { message: "that broke", level: 400 });
  await settle(box);
  assert.match(
    (await tab.get("/alerts")).text,
    /name="schedule" value="primary"> on call: primary</,
  );
  const from = { from: "/alerts" };
  const done = await tab.post("/alerts/assign", { id: "1,2", schedule: "primary" }, from);
  assert.equal(done.status, 303);
  const { text } = await tab.get("/alerts");
  assert.match(
    text,
    /Assigned #1\. Nothing of theirs reaches owner@example\.org\. Not #2: There is no such schedule\./,
  );
  const wrong = await tab.post("/alerts/assign", { id: "2", schedule: "primary" }, from);
  assert.equal(wrong.status, 422);
});

test("lines around an alert are cut down to a level and above", async (t) => {
  const box = await testBox();
  t.after(() => box.stop());
  const token = await box.project("shop", { retain_logs: true });
  await box.api("POST", "/v1/projects/shop/rules", { name: "errors", match: { min_level: 400 } });
  await box.ingest(token, { message: "retry of an order", level: 200 });
  await box.ingest(token, { message: "order lost for good", level: 400 });
  await settle(box);
  const messages = async (query: string) =>
    (await box.api("GET", `/v1/alerts/1/lines${query}`)).body.messages.map(
      ({ message }: { message: string }) => message,
    );
  assert.deepEqual(await messages(""), ["retry of an order", "order lost for good"]);
  assert.deepEqual(await messages("?min_level=300"), ["order lost for good"]);
  const { text } = await signedIn(box).get("/a/1/lines?level=400");
  assert.match(text, /<option value="400" selected>error and above/);
  assert.match(text, /order lost for good/);
  assert.doesNotMatch(text, /retry of an order/);
});

test("what is said of a page is what happened: of who is reached, of who isn't, and while a silence holds it", async (t) => {
  const { box, token, rule, tab } = await story(t);
  const receiver = await startReceiver();
  t.after(() => receiver.close());
  const [ann, bob] = [
    box.person("member", "ann@example.org"),
    box.person("member", "bob@example.org"),
  ];
  await reachBy(box, ann, receiver);
  const steps = [1, 2].map((n) => ({ after_minutes: n * 60, accounts: [ann.accountId] }));
  await rule({ name: "fatal", match: { min_level: 500 }, escalations: steps });
  await box.ingest(token, { message: "it broke", level: 500 });
  await settle(box);
  const id = String(
    box.tenant.store.sql("SELECT id FROM alerts WHERE rule = 'fatal'").pluck().get(),
  );
  const act = async (verb: string, fields: Record<string, string> | [string, string][] = {}) => {
    const done = await tab.post(`/a/${id}/${verb}`, fields, { from: `/a/${id}` });
    assert.equal(done.status, 303, done.text);
    return said((await tab.get(`/a/${id}`)).text);
  };
  const both = [ann, bob].map(({ accountId }): [string, string] => ["account", accountId]);
  assert.match(
    await act("assign", { account: ann.accountId }),
    /^Assigned #\d, and paged them now\./,
  );
  assert.match(
    await act("assign", [...both, ["keep_ladder", "true"]]),
    /^Assigned #\d, and paged ann@example\.org now\. Nothing of theirs reaches bob@example\.org\./,
  );
  const env = { BOX_URL: box.url, BOX_KEY: box.owner.key };
  const told = async (...args: string[]) => {
    const { code, out, err } = await run(args, { env });
    assert.equal(code, 0, err);
    return out;
  };
  assert.match(
    await told("assign", id, "ann", "bob"),
    /is assigned; paged: ann@example\.org; nothing of theirs reaches bob@example\.org/,
  );
  const ladder = () =>
    box.tenant.store.sql("SELECT step_at IS NULL FROM alerts WHERE id = ?").pluck();
  await act("unack");
  await told("assign", id, "bob", "--no-keep-ladder");
  assert.equal(ladder().get(Number(id)), 1);

  await act("silence", { hours: "1", reason: "deploy", critical: "on" });
  const before = receiver.received.length;
  assert.match(
    await act("assign", { account: ann.accountId }),
    /^Assigned #\d\. Nobody is paged for #\d while silenced, until \d\d:\d\d\./,
  );
  assert.match(
    await told("assign", id, "ann"),
    /is assigned; nobody is paged while it is silenced/,
  );
  await settle(box);
  assert.equal(receiver.received.length, before);
});

test("whoever an alert was given to while a silence holds is among those who are told of, and whoever has no way, too", async (t) => {
  const { box, token, rule, tab } = await story(t);
  const receiver = await startReceiver();
  t.after(() => receiver.close());
  const [ann, bob] = [
    box.person("member", "ann@example.org"),
    box.person("member", "bob@example.org"),
  ];
  await reachBy(box, ann, receiver);
  await rule({ name: "fatal", match: { min_level: 500 } });
  await box.ingest(token, { message: "it broke", level: 500 });
  await settle(box);
  const id = String(
    box.tenant.store.sql("SELECT id FROM alerts WHERE rule = 'fatal'").pluck().get(),
  );
  const silence = { hours: "1", reason: "deploy", critical: "on" };
  await tab.post(`/a/${id}/silence`, silence, { from: `/a/${id}` });
  const accounts = [ann.accountId, bob.accountId];
  assert.equal((await box.api("POST", `/v1/alerts/${id}/assign`, { accounts })).status, 200);
  const { pages } = (await box.api("GET", `/v1/alerts/${id}/pages`)).body;
  assert.deepEqual(
    pages.map(({ account_id, reason }: Record<string, string>) => [account_id, reason]),
    [
      [ann.accountId, "silenced"],
      [bob.accountId, "no_channel"],
    ],
  );
  const env = { BOX_URL: box.url, BOX_KEY: box.owner.key };
  const why = await run(["why", id, "--person", "ann"], { env });
  assert.match(why.out, /ann@example\.org: silenced until/);
  assert.doesNotMatch(why.out, /no rung of the ladder/);
});
