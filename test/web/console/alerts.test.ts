import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { withPart } from "../../../src/web/console/ui/asked-alerts.ts";
import { testBox } from "../../support/box.ts";
import { signedIn } from "../../support/console.ts";
import { reachBy } from "../../support/contacts.ts";
import { startReceiver } from "../../support/receiver.ts";
import { settle } from "../../support/until.ts";

async function story(t: TestContext, more: object = {}) {
  const box = await testBox();
  t.after(() => box.stop());
  const token = await box.project("shop");
  const ann = box.person("member", "ann@example.org");
  const bob = box.person("member", "bob@example.org");
  const step = (accountId: string, after_minutes: number) => ({
    after_minutes,
    accounts: [accountId],
    schedules: [],
    repeat_minutes: 0,
  });
  const escalations = [step(ann.accountId, 0), step(bob.accountId, 5)];
  const rule = { name: "errors", identifier_keys: ["n"], escalations, ...more };
  assert.equal((await box.api("POST", "/v1/projects/shop/rules", rule)).status, 201);
  const fire = async (n: string, level = 400, message = "payment 4711 failed") => {
    await box.ingest(token, { message, level, keys: { n } });
    await settle(box);
    return String(box.tenant.store.sql("SELECT max(id) FROM alerts").pluck().get());
  };
  const ladder = (id: string) =>
    box.tenant.store.sql("SELECT state, step, step_at FROM alerts WHERE id = ?").get(id);
  const state = async (id: string) => (await box.api("GET", `/v1/alerts/${id}`)).body.state;
  return { box, fire, ladder, state, ann, bob, tab: signedIn(box, ann), other: signedIn(box, bob) };
}

const words = (text: string): string =>
  text
    .replace(/<[^>]*>/g, " ")
    .replace(/&quot;/g, '"')
    .replace(/\s+/g, " ");
const section = (text: string, id: string): string =>
  new RegExp(`<section id="${id}"[\\s\\S]*?</section>`).exec(text)?.[0] ?? "";
const rowsIn = (text: string): string[] =>
  [...text.matchAll(/<li class="row[^>]*id="((?:row|group)-\d+)"/g)].map(([, id = ""]) => id);
const rowOf = (text: string, id: string): string =>
  new RegExp(`<li class="row[^>]*id="row-${id}"[\\s\\S]*?\\n</li>`).exec(text)?.[0] ?? "";
const said = (text: string): string => words(/<output[\s\S]*?<\/output>/.exec(text)?.[0] ?? "");

test("a list shows the most urgent first, with what the ladder does now, counts on its tabs and in its title", async (t) => {
  const { box, fire, tab } = await story(t);
  const [low, high] = [await fire("a", 300), await fire("b", 500)];
  await box.clock.turn(120_000);
  const { text } = await tab.get("/alerts");
  assert.match(text, /<title>\(2\) Alerts · box<\/title>/);
  assert.deepEqual(rowsIn(text), [`row-${high}`, `row-${low}`]);
  const row = rowOf(text, high);
  assert.match(
    words(row),
    /Critical shop .*1× 2 min payment 4711 failed n=b · #2 .*Ringing you bob@example\.org in 3:00 Acknowledge/,
  );
  assert.match(row, /<svg class="plot spark"/);
  assert.match(row, /<input type="checkbox" form="bulk" name="id" value="2"/);
  assert.match(words(section(text, "tabs")), /Open 2 Taken 0 Quiet 0 Done Mine/);
  await tab.post(`/a/${low}/ack`);
  const mine = await tab.get("/alerts?mine=true");
  assert.deepEqual(rowsIn(mine.text), [`row-${high}`, `row-${low}`]);
  assert.match(words(rowOf(mine.text, low)), /You have it since/);
  // Where Acknowledge stood nothing is pressed: a tap may come twice.
  const actions = (text: string, id: string) =>
    rowOf(text, id).split('class="row-actions">')[1] ?? "";
  assert.match(actions(mine.text, high), /^<form method="post" action="\/a\/2\/ack">/);
  assert.equal(words(actions(mine.text, low)).trim(), "Taken");
  assert.doesNotMatch(actions(mine.text, low), /<button|<a /);
  assert.deepEqual(rowsIn((await tab.get("/alerts?state=acknowledged")).text), [`row-${low}`]);
});

test("nobody is called rung whom nothing reaches", async (t) => {
  const receiver = await startReceiver();
  t.after(() => receiver.close());
  const { box, fire, tab, ann, bob } = await story(t);
  await reachBy(box, bob, receiver);
  const now = async (id: string) => words(rowOf((await tab.get("/alerts")).text, id));
  const id = await fire("a", 500);
  assert.match(await now(id), /Ringing bob@example\.org, not seen yet/);
  await box.api("POST", `/v1/alerts/${id}/assign`, { accounts: [ann.accountId] });
  assert.match(await now(id), /Nothing reaches you/);
  await box.api("POST", `/v1/alerts/${id}/assign`, { accounts: [bob.accountId] });
  assert.match(await now(id), /Ringing bob@example\.org/);
});

test("in a wide window an alert stands beside its list, and what is read stays", async (t) => {
  const { fire, tab } = await story(t);
  const cookie = `${tab.cookie}; panes=2`;
  const wide = async (path: string) => (await tab.get(path, { cookie })).text;
  const sections = (text: string) =>
    [...text.matchAll(/<section id="([\w-]+)"/g)].map(([, id]) => id);
  assert.ok(!sections(await wide("/alerts")).includes("head"), "an empty list stands alone");
  const [a, b] = [await fire("a", 300), await fire("b", 500)];
  const first = await wide("/alerts");
  assert.match(first, new RegExp(`data-at="/alerts\\?alert=${b}"`));
  assert.match(rowOf(first, b), /aria-current="page"/);
  assert.equal(new Set(sections(first)).size, sections(first).length, "no id twice");
  const other = await wide(`/alerts?alert=${a}`);
  assert.match(section(other, "head"), new RegExp(`#${a}<`));
  assert.match(rowOf(other, a), /aria-current="page"/);
  assert.ok(!sections(await wide("/alerts?alert=999")).includes("head"), "one that is gone");
  const quiet = await wide(`/a/${a}?list=state%3Dsilenced`);
  assert.match(section(quiet, "tabs"), /aria-current="page">Quiet <span class="count">0</);
  assert.match(section(quiet, "list"), /No open alert is silenced/);
  const mine = await wide(`/a/${b}?list=q%3Dlevel%253Acritical`);
  assert.match(rowOf(mine, b), new RegExp(`href="/a/${b}\\?list=q%3Dlevel%253Acritical"`));
  assert.ok(!sections((await tab.get(`/a/${a}`)).text).includes("list"), "elsewhere it is alone");
});

test("without script several are acknowledged, given back with their ladders, resolved, silenced, noted on and assigned", async (t) => {
  const { box, fire, ladder, state, bob, tab, other } = await story(t);
  const ids = [await fire("a"), await fire("b"), await fire("c")];
  const before = ids.map(ladder);
  const bulk = async (what: string, fields: [string, string][]) => {
    const done = await tab.post(`/alerts/${what}`, fields, { from: "/alerts?q=payment" });
    assert.equal(done.headers.get("location"), done.status === 303 ? "/alerts?q=payment" : null);
    return done.status === 303 ? (await tab.get("/alerts?q=payment")).text : done.text;
  };
  const all = ids.map((id): [string, string] => ["id", id]);
  await other.post(`/a/${ids[2]}/ack`);
  await box.clock.turn(3000);
  const acked = await bulk("ack", all);
  assert.match(
    said(acked),
    /Acknowledged 2 alerts\. bob@example\.org acknowledged #3 3 s before you\. Undo/,
  );
  assert.match(acked, /action="\/alerts\/unack"><input type="hidden" name="id" value="1,2">/);
  await box.clock.turn(60_000);
  assert.match(said(await bulk("unack", [["id", "1,2"]])), /2 alerts are open again\./);
  assert.equal(await state(ids[2] ?? ""), "acknowledged");
  // What a step waited before stays its wait: 3 s and a minute were somebody's.
  for (const at of [0, 1]) {
    const [was, is] = [before[at], ladder(ids[at] ?? "")] as { step: number; step_at: number }[];
    assert.deepEqual([is?.step, (is?.step_at ?? 0) - (was?.step_at ?? 0)], [was?.step, 60]);
  }
  const asked = await bulk("resolve", all);
  assert.match(said(asked), /Not resolved yet: 3 alerts still match\./);
  assert.match(
    words(section(asked, "asked-all")),
    /#1, #2, #3: still matching, 1 min ago \. They would open again at once\. Resolve anyway Silence 1 h instead/,
  );
  assert.match(
    said(
      await bulk("silence", [
        ["id", "1,2"],
        ["hours", "1"],
      ]),
    ),
    /Silenced what 2 alerts count, for 1 h\. Undo/,
  );
  assert.equal((await box.api("GET", "/v1/silences")).body.silences.length, 2);
  assert.match(
    said(await bulk("note", [...all, ["text", "provider is down"]])),
    /Noted on 3 alerts/,
  );
  assert.match(
    said(
      await bulk("assign", [
        ["id", "1"],
        ["account", bob.accountId],
      ]),
    ),
    /Assigned #1\. Nobody is paged for #1 while silenced, until/,
  );
  assert.match(said(await bulk("resolve", [...all, ["anyway", "1"]])), /Resolved 3 alerts\./);
  assert.match(said(await bulk("ack", [])), /Select an alert first/);
  assert.match(said(await bulk("ack", [["id", "77"]])), /#77 is gone\./);
});

test("what is looked for stands in the address as people write it, and menus write into it", async (t) => {
  const { fire, tab } = await story(t);
  await fire("a", 400, "disk of db1 is full");
  const paid = await fire("b", 500, "payment 4711 failed");
  const found = async (query: string) => rowsIn((await tab.get(`/alerts?${query}`)).text);
  assert.deepEqual(await found("q=payment"), [`row-${paid}`]);
  assert.deepEqual(await found("q=level%3Acritical"), [`row-${paid}`]);
  assert.deepEqual(await found("q=%232"), [`row-${paid}`]);
  assert.deepEqual(await found("q=key%3An%3Db"), [`row-${paid}`]);
  assert.deepEqual(await found("project=shop&rule=errors&level=critical"), [`row-${paid}`]);
  assert.deepEqual(await found("q=project%3Anowhere"), []);
  const { text } = await tab.get("/alerts?q=payment&state=open");
  assert.match(text, /name="q" value="payment"/);
  assert.match(text, /href="\/alerts\?q=payment\+level%3Aerror"/);
  assert.match(text, /href="\/alerts\?state=resolved&amp;q=payment"/);
  assert.equal(withPart('a rule:"slow payments" b', "rule", "slow disks"), 'a b rule:"slow disks"');
  assert.equal(withPart("level:error x", "level", null), "x");
  assert.equal((await tab.get("/alerts?before=nonsense")).status, 400);
});

test("an empty list says what that means", async (t) => {
  const { box, fire, tab } = await story(t);
  const list = async (query = "") =>
    words(section((await tab.get(`/alerts${query}`)).text, "list"));
  assert.match(
    await list(),
    /No alert has opened so far\. No event has come since the box was started/,
  );
  await fire("a");
  assert.match(await list("?q=nothing"), /None match the filter\. Clear/);
  assert.match(await list("?state=acknowledged"), /Nobody has an alert now/);
  const layer = {
    name: "l",
    rotation_start: Math.floor(box.clock.now() / 1000),
    shift_minutes: 1440,
    participants: [box.owner.accountId],
  };
  const schedule = { name: "primary", timezone: "UTC", layers: [layer] };
  const made = await box.api("POST", "/v1/projects/shop/oncall/schedules", schedule);
  assert.equal(made.status, 201);
  await box.clock.turn(12_000);
  await tab.post("/a/1/resolve", { anyway: "1" });
  await box.clock.turn(3 * 3_600_000);
  assert.match(
    await list(),
    /Nothing is open\. The last one was resolved 3 h ago \. On call: owner@example\.org \(shop \/ primary\)\. Last event 3 h ago from app\./,
  );
});

test("rows that left are said what became of them, many of one rule are one row, and a page goes on behind its last", async (t) => {
  const { box, fire, tab, other } = await story(t, { escalations: [] });
  for (let n = 0; n < 12; n++) await fire(`n${n}`);
  const grouped = (await tab.get("/alerts")).text;
  const [group = ""] = rowsIn(grouped);
  assert.match(group, /^group-\d+$/);
  assert.match(words(section(grouped, "list")), /errors: 12 alerts .* and 11 like it /);
  assert.match(grouped, /value="group-1-12" data-many="12" aria-label="Select all 12 of errors"/);
  const shown = [...Array(12).keys()].map((n) => `row-${n + 1}`).join(",");
  const list = (rows: string) => tab.get("/alerts", { "x-sections": "list", "x-rows": rows });
  assert.equal(rowsIn((await list(shown)).text).length, 12, "an open page keeps its rows alone");
  assert.equal(rowsIn((await list(group)).text).length, 1);
  await other.post("/a/5/ack");
  const { text } = await list(shown);
  assert.match(text, /<li class="row row-ack of-\w+" id="row-5" data-row="[\w-]{6}" data-gone>/);
  assert.match(words(rowOf(text, "5")), /bob@example\.org has it/);
  assert.doesNotMatch((await list("row-99,row-4")).text, /data-gone/);
  for (let n = 12; n < 60; n++) await fire(`n${n}`);
  const first = await list("row-1");
  assert.equal(rowsIn(first.text).length, 50);
  assert.match(first.text, /<ol class="rows" data-list data-more>/);
  const on = /href="([^"]*)" rel="next"/.exec(first.text)?.[1]?.replaceAll("&amp;", "&") ?? "";
  const second = await tab.get(on, { "x-sections": "list", "x-rows": "row-1" });
  assert.equal(rowsIn(second.text).length, 9);
  assert.match(second.text, /href="\/alerts">First page/);
  assert.equal(decodeURIComponent(first.headers.get("x-title") ?? ""), "(59) Alerts · box");
  await box.clock.turn(0);
});

test("an open page gets the places alone of rows that it has just as they are drawn, also while they grow older", async (t) => {
  const { box, fire, tab, other } = await story(t, { escalations: [] });
  for (const n of ["a", "b", "c"]) await fire(n);
  const printsIn = (text: string) =>
    [...text.matchAll(/<li class=[^>]*id="(row-\d+)" data-row="([^"]+)"/g)].map(
      ([, id, print]) => `${id}.${print}`,
    );
  const known = printsIn((await tab.get("/alerts")).text);
  assert.equal(known.length, 3);
  const list = async (rows: readonly string[]) =>
    (await tab.get("/alerts", { "x-sections": "list", "x-rows": rows.join() })).text;
  await box.clock.turn(1_000);
  assert.match(
    await list(known),
    /<ol [^>]*>(?:<li id="row-[321]" data-row="[\w-]{6}"><\/li>){3}<\/ol>/,
  );
  await other.post("/a/2/ack");
  const after = await list(known);
  const [changed = "", ...others] = printsIn(after);
  assert.match(changed, /^row-2\./);
  assert.deepEqual(others, []);
  assert.match(words(rowOf(after, "2")), /bob@example\.org has it/);
  assert.match(
    await list(["row-3", changed]),
    /<li class="row [^>]*id="row-3"[\s\S]*<li id="row-2" data-row="[\w-]{6}" data-gone><\/li>/,
  );
});

test("all of a group are acknowledged but those that are silenced: the button counts what it does", async (t) => {
  const { box, fire, tab, other } = await story(t, { escalations: [] });
  for (let n = 0; n < 12; n++) await fire(`n${n}`);
  const until = Math.floor(box.clock.now() / 1000) + 3600;
  const hold = { reason: "known", ends_at: until, critical: true, project: "shop" };
  const silence = { ...hold, conditions: [{ key: "n", op: "in", value: ["n3", "n4"] }] };
  assert.equal((await box.api("POST", "/v1/silences", silence)).status, 201);
  await settle(box);
  await other.post("/a/1/ack");
  const before = (await tab.get("/alerts")).text;
  const group = section(before, "list");
  assert.match(words(group), /9 open, 2 quiet/);
  assert.match(group, /aria-label="Acknowledge all 9 of errors"/);
  // What is quiet is open, too: nobody adds the two.
  assert.match(section(before, "tabs"), /Open <[^>]*>11<[\s\S]*Quiet <[^>]*>2 of 11</);
  const id = /value="(group-[^"]*)"/.exec(group)?.[1] ?? "";
  await tab.post("/alerts/ack", { id, list: "" }, { from: "/alerts" });
  const after = (await tab.get("/alerts")).text;
  assert.match(said(after), /Acknowledged 9 alerts\. 2 silenced alerts stay open\./);
  const { alerts } = (await box.api("GET", "/v1/alerts?state=open")).body;
  assert.deepEqual(alerts.map((one: { id: string }) => one.id).sort(), ["4", "5"]);
  // What is only silenced any more is shown so, and whoever selects it means it.
  await tab.post("/alerts/ack", { id, list: "" }, { from: "/alerts" });
  assert.match(said((await tab.get("/alerts")).text), /Acknowledged 2 alerts\./);
});

test("a lone critical stands on the first page before a rule's many, silenced ones last; a group leads to a page of its own, and all are acknowledged at once", async (t) => {
  const { box, fire, tab, ann } = await story(t, { max_open: 0 });
  const step = { after_minutes: 0, accounts: [ann.accountId], schedules: [], repeat_minutes: 0 };
  for (const name of ["disks", "quiet"]) {
    const match = { template_contains: name };
    const rule = { name, match, identifier_keys: ["n"], escalations: [step] };
    assert.equal((await box.api("POST", "/v1/projects/shop/rules", rule)).status, 201);
  }
  const until = Math.floor(box.clock.now() / 1000) + 3600;
  const silence = {
    project: "shop",
    match: { rule: "quiet" },
    critical: true,
    ends_at: until,
    reason: "known",
  };
  assert.equal((await box.api("POST", "/v1/silences", silence)).status, 201);
  await fire("lone", 500, "disks are gone");
  const lone = box.tenant.store.sql("SELECT id FROM alerts WHERE rule = 'disks'").pluck().get();
  await fire("q", 500, "quiet please");
  const quiet = box.tenant.store.sql("SELECT id FROM alerts WHERE rule = 'quiet'").pluck().get();
  for (let n = 0; n < 230; n++) await fire(`n${n}`, 500 - 100 * (n % 2), `payment ${n} failed`);
  await settle(box);
  const { text } = await tab.get("/alerts");
  const group = rowsIn(text)[1] ?? "";
  assert.match(group, /^group-\d+$/);
  assert.deepEqual(rowsIn(text), [`row-${lone}`, group, `row-${quiet}`]);
  const list = section(text, "list");
  assert.match(
    words(list),
    /117 critical 115 error .* errors: 232 alerts shop payment \d+ failed and 229 like it/,
  );
  assert.match(list, /href="\/alerts\?q=project%3Ashop\+rule%3Aerrors"/, "a page of its own");
  const all = await tab.get("/alerts?q=project%3Ashop+rule%3Aerrors");
  assert.equal(rowsIn(all.text).length, 50, "of one rule they are alerts");
  const value = /value="(group-[^"]*)"/.exec(list)?.[1] ?? "";
  const late = await fire("late", 500);
  const acked = await tab.post("/alerts/ack", { id: value, list: "" }, { from: "/alerts" });
  assert.equal(acked.status, 303);
  const left = await tab.get("/alerts");
  assert.match(said(left.text), /Acknowledged 232 alerts\./);
  assert.ok(rowsIn(left.text).includes(`row-${late}`), "what opened after the page was drawn");
  const undo = /name="id" value="([\d,]+)"/.exec(
    /<output[\s\S]*?<\/output>/.exec(left.text)?.[0] ?? "",
  );
  await tab.post("/alerts/unack", { id: undo?.[1] ?? "" }, { from: "/alerts" });
  assert.match(said((await tab.get("/alerts")).text), /232 alerts are open again/);
  const silenced = await tab.post("/alerts/silence", { id: value, list: "" }, { from: "/alerts" });
  assert.equal(silenced.status, 422);
  assert.match(silenced.text, /At most 200 alerts at once; 232 are selected/);
  const some = await tab.post("/alerts/ack", { id: value, list: "q=level%3Acritical" });
  assert.equal(some.status, 303);
  const { counts } = (await box.api("GET", "/v1/alerts?counts=true&limit=1")).body;
  assert.equal(counts.acknowledged, 117, "a group is what matched the list it stood in");
});
