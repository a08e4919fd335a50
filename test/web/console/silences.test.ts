import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { signedIn } from "../../support/console.ts";
import { boxAndReceiver, reachBy, toldIn } from "../../support/contacts.ts";
import { pass, settle } from "../../support/until.ts";

/** Quiet on purpose, by pages: what a form says beforehand is what then happens, and each way of ending it. */

async function story(t: TestContext) {
  const { box, receiver } = await boxAndReceiver(t);
  const ann = box.person("member", "ann@example.org");
  const token = await box.project("shop", { retain_logs: true });
  await box.api("POST", "/v1/projects/shop/rules", {
    name: "errors",
    identifier_keys: ["provider"],
    escalations: [{ accounts: [ann.accountId], after_minutes: 0 }],
  });
  await reachBy(box, ann, receiver, "/ann");
  const fire = async (provider: string, level = 400, message = "payment failed") => {
    await box.ingest(token, { message, level, keys: { provider } });
    await settle(box);
  };
  let seen = receiver.received.length;
  const pages = () => {
    const fresh = receiver.received.slice(seen);
    seen = receiver.received.length;
    return fresh.map((request) => toldIn(request)).filter(({ purpose }) => purpose === "page");
  };
  const silences = async (state = "active") =>
    (await box.api("GET", `/v1/silences?state=${state}`)).body.silences;
  const alert = async (id: number) => (await box.api("GET", `/v1/alerts/${id}`)).body;
  return { box, receiver, tab: signedIn(box, ann), ann, fire, pages, silences, alert };
}

const words = (text: string) => text.replace(/<[^>]*>/g, "").replace(/\s+/g, " ");
/** What stands in a section of a page. */
const section = (text: string, id: string) =>
  words(new RegExp(`<section id="${id}"[\\s\\S]*?</section>`).exec(text)?.[0] ?? "");

const FORM = { kind: "silence", "match/rule": "errors", project: "shop", until: "1h" };

/** For random stories: test/core/quiet/preview.test.ts. */
test("AC-18.1: the numbers that the form of a silence shows are those that it then holds, and would have held", async (t) => {
  const { box, tab, fire, silences, alert } = await story(t);
  for (const provider of ["acme", "globex", "initech"]) await fire(provider);
  await fire("bank", 500);
  await box.api("POST", "/v1/alerts/3/resolve", {});
  await box.api("POST", "/v1/alerts/1/ack", {});
  await box.api("POST", "/v1/alerts/1/unack", {});
  await settle(box);
  const shown = await tab.post("/silences/new/try", FORM, {
    from: "/silences/new",
    headers: { "x-sections": "would" },
  });
  const would = section(shown.text, "would");
  assert.match(would, /Now: silences 2 open alerts\.#2 payment failed#1 payment failed/);
  // Three alerts, the critical one apart: it rings.
  assert.match(would, /In the last 7 days it would have kept back 3 alerts, 4 pages/);
  assert.match(would, /Critical ones like it: 1 in 7 days, which ring unless they are ticked/);
  assert.deepEqual(await silences(), [], "a preview makes nothing");

  const made = await tab.post(
    "/silences/new",
    { ...FORM, reason: "deploy 41" },
    { from: "/silences/new" },
  );
  assert.equal(made.status, 303, made.text);
  const [silence] = await silences();
  assert.deepEqual(
    [silence.reason, silence.until - silence.starts_at, silence.critical],
    ["deploy 41", 3600, false],
  );
  for (const provider of ["acme", "globex", "bank"]) await fire(provider, 400);
  await fire("acme", 500, "payment failed");
  await pass(box, 300, 60);
  const held = [1, 2].map(async (id) => (await alert(id)).silenced_by);
  // What became critical rings, as the form says.
  assert.deepEqual(await Promise.all(held), [null, silence.id]);
  assert.equal((await alert(4)).silenced_by, null);
});

test("AC-18.3: an alert that is open at the end of a silence pages within 5 s, and its page says since when it was quiet", async (t) => {
  const { box, tab, fire, pages, silences } = await story(t);
  await tab.post("/silences/new", { ...FORM, reason: "deploy" });
  await fire("acme");
  const [{ id, starts_at }] = await silences();
  await box.api("PATCH", `/v1/silences/${id}`, { ends_at: starts_at + 300 });
  const during = await tab.get("/a/1");
  assert.match(
    section(during.text, "now"),
    /Quiet until .*“deploy” · by ann@example.org Holds back 1 open alert: #1/,
  );
  await pass(box, 295, 60);
  assert.deepEqual(pages(), []);
  await pass(box, 10, 1);
  const [page] = pages();
  assert.ok(page, "paged");
  assert.deepEqual(
    page.alerts.map(({ alert_id }) => alert_id),
    ["1"],
  );
  const after = await tab.get("/a/1");
  assert.match(section(after.text, "head"), /Quiet until \S+, since \S+; notified then/);
  assert.match(section(after.text, "timeline"), /Silenced until now, since/);
});

test("a silence ends now, lasts an hour longer, is changed, and each is taken back", async (t) => {
  const { box, tab, fire, pages, silences } = await story(t);
  await fire("acme");
  pages();
  await tab.post("/a/1/silence", { hours: "1", reason: "deploy" }, { from: "/a/1" });
  const [{ id, ends_at }] = await silences();
  const longer = await tab.post(`/silences/${id}/longer`, {}, { from: "/silences" });
  assert.equal(longer.headers.get("location"), "/silences");
  assert.equal((await silences())[0].ends_at, ends_at + 3600);
  const undo = (text: string) => ({
    action:
      /<form method="post" action="([^"]+)">(?:<input type="hidden"[^>]*>)*<button class="second" data-key="u"/.exec(
        text,
      )?.[1],
    fields: [
      ...(/<output id="said"[\s\S]*?<\/output>/.exec(text)?.[0] ?? "").matchAll(
        /name="([^"]+)" value="([^"]*)"/g,
      ),
    ].map(([, name = "", value = ""]): [string, string] => [name, value.replaceAll("&quot;", '"')]),
  });
  const back = undo((await tab.get("/silences")).text);
  await tab.post(back.action ?? "", back.fields);
  assert.equal((await silences())[0].ends_at, ends_at);
  // What was held back is told at once when somebody ends it, and quiet again when that is taken back.
  await fire("globex");
  await tab.get("/silences");
  await tab.post(`/silences/${id}/end`, {}, { from: "/silences" });
  const page = (await tab.get("/silences")).text;
  assert.match(words(page), /Ended: shop · errors · provider=acme. What it held back is sent now/);
  assert.deepEqual(await silences(), []);
  const again = undo(page);
  assert.equal(again.action, "/silences/again");
  await tab.post(again.action ?? "", again.fields);
  const [made] = await silences();
  assert.deepEqual([made.ends_at, made.match.rule, made.reason], [ends_at, "errors", "deploy"]);
  await box.clock.turn(1000);
});

test("a form that isn't right comes back with what was typed and what is wrong with it", async (t) => {
  const { tab, silences } = await story(t);
  const back = await tab.post("/silences/new", {
    kind: "silence",
    project: "shop",
    "match/identifiers": "acme",
    until: "1h",
    reason: "typed",
  });
  assert.equal(back.status, 422);
  assert.match(back.text, /value="acme"/);
  assert.match(back.text, /value="typed"/);
  assert.match(words(back.text), /must be like provider=acme/);
  const everything = await tab.post("/silences/new", {
    project: "shop",
    until: "1h",
    reason: "all",
  });
  assert.equal(everything.status, 422);
  assert.match(
    words(everything.text),
    /must be true if nothing but a project or a level limits the silence/,
  );
  assert.match(
    (await tab.post("/silences/new", { ...FORM, reason: "" })).text,
    /aria-invalid="true"/,
  );
  assert.deepEqual(await silences(), []);
});

test("a silence is begun from an alert, a rule, a line, a template, a source and another silence", async (t) => {
  const { box, tab, fire, silences } = await story(t);
  await fire("acme");
  const line = box.tenant.store.sql("SELECT max(id) FROM log_lines").pluck().get();
  const { template_id } = (await box.api("GET", "/v1/alerts/1")).body;
  const values = async (query: string) => {
    const page = await tab.get(`/silences/new?${query}`);
    assert.equal(page.status, 200, query);
    const form = /<form class="form" id="silence-form"[\s\S]*?<\/form>/.exec(page.text)?.[0] ?? "";
    const text = (name: string) =>
      new RegExp(`name="${name}"[^>]* value="([^"]*)"`).exec(form)?.[1] ?? null;
    return {
      rule: text("match/rule"),
      identifiers: text("match/identifiers"),
      sources: text("match/sources"),
      template: text("match/template_id"),
      would: section(page.text, "would"),
    };
  };
  const alert = await values("alert=1");
  assert.deepEqual(
    [alert.rule, alert.identifiers, alert.template],
    ["errors", "provider=acme", template_id],
  );
  assert.match(
    alert.would,
    /silences 1 open alert\.#1 payment failed/,
    "it is tried before anything is typed",
  );
  assert.equal((await values("project=shop&rule=errors")).rule, "errors");
  const fromLine = await values(`project=shop&line=${line}`);
  assert.deepEqual([fromLine.template, fromLine.sources], [template_id, "app"]);
  assert.equal((await values(`project=shop&template=${template_id}`)).template, template_id);
  assert.equal((await values("project=shop&source=app")).sources, "app");
  await tab.post("/silences/new", { ...FORM, reason: "deploy" });
  const [{ id }] = await silences();
  assert.equal((await values(`again=${id}`)).rule, "errors");
  // Of a heartbeat by what its rule tells apart, and from its source alone.
  const beats = "/v1/projects/shop/heartbeats";
  const beat = (await box.api("POST", beats, { name: "backup", period_seconds: 60 })).body;
  assert.deepEqual(
    [
      (await values(`heartbeat=${beat.id}`)).sources,
      (await values(`heartbeat=${beat.id}`)).identifiers,
    ],
    ["heartbeats", ""],
  );
  const own = { name: "jobs", match: { tags: ["heartbeat"] }, identifier_keys: ["heartbeat"] };
  await box.api("DELETE", "/v1/projects/shop/rules/errors");
  await box.api("POST", "/v1/projects/shop/rules", own);
  assert.equal((await values(`heartbeat=${beat.id}`)).identifiers, "heartbeat=backup");
  for (const query of ["alert=99", "project=shop&rule=none", "project=shop&line=99", "again=none"])
    assert.equal((await tab.get(`/silences/new?${query}`)).status, 404, query);
});

test("a maintenance is planned by the clocks of a zone, and one of the configuration file isn't changed by a page", async (t) => {
  const { box, tab, silences } = await story(t);
  const plan = {
    kind: "maintenance",
    name: "weekly update",
    project: "shop",
    all: "on",
    critical: "on",
    starts_at: "2027-01-04T03:00",
    ends_at: "2027-01-04T05:00",
    repeat: "weekly",
    repeat_until: "2027-04-04T00:00",
    timezone: "Europe/Vienna",
    reason: "hosts restart",
  };
  const year = new Date(box.clock.now()).getUTCFullYear();
  const dated = Object.entries(plan).map(([name, text]): [string, string] => [
    name,
    text.replace("2027", String(year + 1)),
  ]);
  const made = await tab.post("/silences/new", dated);
  assert.equal(made.status, 303, words(made.text));
  const [silence] = await silences("planned");
  assert.deepEqual(
    [silence.name, silence.repeat, silence.starts_at],
    ["weekly update", "weekly", Date.parse(`${year + 1}-01-04T03:00:00+01:00`) / 1000],
  );
  const page = await tab.get("/silences");
  assert.match(words(page.text), /weekly update Maintenance · planned .*each week/);
  box.tenant.store.write((tx) =>
    tx.sql("UPDATE silences SET body = json_set(body, '$.managed', json('true'))").run(),
  );
  const owned = await tab.get(`/silences/${silence.id}`);
  assert.match(words(owned.text), /from the configuration file/);
  assert.doesNotMatch(owned.text, /name="repeat_until"/);
  const refused = await tab.post(`/silences/${silence.id}`, { reason: "mine" });
  assert.equal(refused.status, 422);
  assert.equal((await silences("planned"))[0].reason, "hosts restart");
});

test("one that lasts until somebody says so ends after 12 hours, and only then its author is told, once", async (t) => {
  const { box, receiver, tab, silences } = await story(t);
  const notes = () =>
    receiver.received.map((request) => toldIn(request)).filter(({ purpose }) => purpose === "note");
  const say = async (reason: string) => {
    await tab.post("/silences/new", { ...FORM, until: "say", reason });
    return (await silences())[0];
  };
  const byHand = await say("ended by hand");
  assert.deepEqual([byHand.tell_author, byHand.until - byHand.starts_at], [true, 12 * 3600]);
  await box.clock.turn(60_000);
  await tab.post(`/silences/${byHand.id}/end`);
  const changes = await box.api("GET", "/v1/changes");
  const { id, starts_at } = await say("forgotten");
  await box.api("PATCH", `/v1/silences/${id}`, { ends_at: starts_at + 120 });
  await pass(box, 115, 60);
  assert.deepEqual(notes(), []);
  const before = (await box.api("GET", `/v1/changes?since=${changes.body.next}`)).body.next;
  await pass(box, 10, 1);
  const [note, ...more] = notes();
  assert.deepEqual(more, []);
  assert.match(
    `${note?.title} ${note?.lines.join(" ")}`,
    /silence of errors has ended “forgotten”/,
  );
  await pass(box, 120, 60);
  assert.equal(notes().length, 1);
  // Pages that show silences hear of the end, which nobody wrote.
  const { topics } = (await box.api("GET", `/v1/changes?since=${before}`)).body;
  assert.ok(topics.includes("silences"), JSON.stringify(topics));
});

test("a maintenance stands on the calendar that it leaves alone: among the rows, in words, and in the list of all", async (t) => {
  const { box, tab, ann } = await story(t);
  const now = Math.floor(box.clock.now() / 1000);
  const layer = {
    name: "weekly",
    participants: [ann.accountId],
    rotation_start: now - 86_400,
    shift_minutes: 7 * 1440,
  };
  const schedule = { name: "first", timezone: "Europe/Berlin", layers: [layer] };
  await box.api("POST", "/v1/projects/shop/oncall/schedules", schedule);
  await box.project("other");
  await box.api("POST", "/v1/projects/other/oncall/schedules", schedule);
  const bare = await tab.get("/oncall/shop/first");
  assert.doesNotMatch(bare.text, /cal-quiet/);
  assert.equal(section(bare.text, "quiet").trim(), "");
  const plan = {
    project: "shop",
    all: true,
    kind: "maintenance",
    name: "weekly update",
    reason: "hosts",
    starts_at: now + 3600,
    ends_at: now + 7200,
    repeat: "weekly",
    timezone: "Europe/Berlin",
    repeat_until: now + 60 * 86_400,
  };
  const made = await box.api("POST", "/v1/silences", plan);
  const page = await tab.get("/oncall/shop/first");
  assert.deepEqual(
    [...page.text.matchAll(/<a class="cal-block cal-quiet" href="([^"]+)"/g)].map(([, to]) => to),
    [`/silences/${made.body.id}`, `/silences/${made.body.id}`],
    "each week of the fortnight",
  );
  assert.match(
    section(page.text, "quiet"),
    /weekly update shop · \w+ \d+ \w+ \d\d:\d\d – .*“hosts”/,
  );
  assert.match(section((await tab.get("/oncall")).text, "quiet"), /weekly update shop/);
  const other = await tab.get("/oncall/other/first");
  assert.doesNotMatch(other.text, /cal-quiet/, "another project's is none of its");
});

test("the tabs of alerts count what is silenced, so that quiet is never mistaken for well", async (t) => {
  const { tab, fire } = await story(t);
  await fire("acme");
  await tab.post("/a/1/silence", { hours: "1", reason: "deploy" }, { from: "/a/1" });
  const list = await tab.get("/alerts");
  assert.match(section(list.text, "tabs"), /Open 1.*Quiet 1/);
  assert.match(section(list.text, "list"), /Quiet until/);
});
