import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { type DefaultTreeAdapterTypes, parse } from "parse5";
import { XSS_VECTORS } from "../../fixtures/xss.ts";
import { testBox } from "../../support/box.ts";
import { signedIn } from "../../support/console.ts";
import { settle } from "../../support/until.ts";

async function story(t: TestContext) {
  const box = await testBox();
  t.after(() => box.stop());
  const token = await box.project("shop");
  const [ann, bob] = [
    box.person("member", "ann@example.org"),
    box.person("member", "bob@example.org"),
  ];
  const step = (accountId: string, after_minutes: number) => ({
    after_minutes,
    accounts: [accountId],
    schedules: [],
    repeat_minutes: 0,
  });
  const rule = {
    name: "errors",
    identifier_keys: ["provider"],
    escalations: [step(ann.accountId, 0), step(bob.accountId, 10)],
  };
  assert.equal((await box.api("POST", "/v1/projects/shop/rules", rule)).status, 201);
  const fire = async (
    message = "payment 4711 failed",
    keys: object = { provider: "acme" },
    more: object = {},
  ) => {
    await box.ingest(token, { message, level: 500, keys, ...more });
    await settle(box);
    return Number(box.tenant.store.sql("SELECT max(id) FROM alerts").pluck().get());
  };
  const state = async (id: number) => (await box.api("GET", `/v1/alerts/${id}`)).body.state;
  return { box, fire, state, ann, bob, tab: signedIn(box, ann), other: signedIn(box, bob) };
}

/** The text of a page without its tags, entities read. */
const words = (text: string): string =>
  text
    .replace(/<[^>]*>/g, " ")
    .replace(/&#39;/g, "'")
    .replace(/&quot;/g, '"')
    .replace(/&lt;/g, "<")
    .replace(/&gt;/g, ">")
    .replace(/&amp;/g, "&")
    .replace(/\s+/g, " ");

const section = (text: string, id: string): string =>
  new RegExp(`<section id="${id}"[\\s\\S]*?</section>`).exec(text)?.[0] ?? "";

test("an alert's page answers what broke, who knows and what comes next, in the order of need", async (t) => {
  const { box, fire, tab } = await story(t);
  const id = await fire();
  const { text } = await tab.get(`/a/${id}`);
  const ids = [...text.matchAll(/<section id="(\w+)"/g)].map(([, name]) => name);
  assert.deepEqual(ids.slice(0, 6), ["head", "now", "asked", "ladder", "occurrences", "about"]);
  assert.deepEqual(ids.slice(-3), ["actions", "more", "would"]);
  const head = words(section(text, "head"));
  assert.match(
    head,
    /shop \/ errors .* #1 Critical Open for 0 s payment 4711 failed provider acme/,
  );
  assert.match(head, /1× since 09:00 , last now , from app/);
  assert.match(section(text, "head"), /hero-hot.*<h1 class="message"/s);
  assert.match(words(section(text, "now")), /AO Ringing you then bob@example.org at 09:10 10 min/);
  assert.match(
    words(section(text, "about")),
    /payment 4711 failed provider acme Kind payment \* failed/,
  );
  assert.match(
    words(section(text, "ladder")),
    /You not paged .*no contact and no phone .*bob@example.org next, rung 2 in 10 min .*Page now/,
  );
  assert.match(
    section(text, "occurrences"),
    /^<section id="occurrences"[^>]* class="of-critical">/,
  );
  assert.match(section(text, "occurrences"), /<rect class="plot-bar"[^>]*><title>[\d:]+: 1</);
  const marks = [
    ...text.matchAll(/class="plot-mark" transform="translate\((\d+) .*?<title>(\w+)</g),
  ];
  assert.deepEqual(
    marks.map(([, at, what]) => `${what} at ${at}`),
    ["opened at 692", "paged at 706"],
    "what happened in one minute stands side by side",
  );
  assert.match(
    words(section(text, "occurrences")),
    /Last hour 1 h 6 h All .*08:01 08:31 09:01 As numbers/,
  );
  assert.match(words(section(text, "related")), /This never happened before/);
  assert.match(words(section(text, "timeline")), /Rung 1 paged ann@example.org/);
  assert.match(words(section(text, "timeline")), /Opened by rule errors from app/);
  await box.clock.turn(600_000);
  await settle(box);
  const later = await tab.sections(`/a/${id}`, "ladder");
  assert.match(
    words(later.text),
    /Nothing more will happen: the ladder has run \(last 09:10 \)\. Assign somebody/,
  );
  assert.match(decodeURIComponent(later.headers.get("x-title") ?? ""), /^#1 payment .* · box$/);
});

test("an alert is called by its title, and all that its events say is on its page", async (t) => {
  const { fire, tab } = await story(t);
  const more = {
    title: "Shop: payments fail",
    details: "first line\n  second line",
    links: [{ href: "https://example.org/g", text: "Graph" }],
  };
  await fire("payment 4711 failed", { provider: "acme", host: "db7" }, more);
  const id = await fire("payment 4711 failed", { provider: "acme", host: "db8" }, more);
  await fire("payment 4711 failed", { provider: "other" }, more);
  const { text } = await tab.get(`/a/${id}`);
  assert.match(section(text, "head"), /<h1 class="message" dir="auto">Shop: payments fail<\/h1>/);
  const about = section(text, "about");
  assert.match(about, /<dt>host<\/dt><dd dir="auto">db8, db7<\/dd>/);
  assert.match(words(about), /Kind payment \* failed/);
  assert.match(about, /<p class="message" dir="auto">first line\n {2}second line<\/p>/);
  assert.match(about, /<a href="https:\/\/example\.org\/g" rel="[^"]+">Graph<\/a>/);
  const list = words((await tab.get("/alerts")).text);
  assert.match(list, /Shop: payments fail provider=acme, host=db8 · #1/);
  assert.match(words(section((await tab.get(`/a/${id}`)).text, "related")), /provider=other now/);
});

test("without script an alert is acknowledged, given back, noted on and resolved; what still matches is asked about", async (t) => {
  const { box, fire, state, tab } = await story(t);
  const id = await fire();
  const from = `/a/${id}`;
  const act = async (what: string, fields: Record<string, string> = {}) => {
    const done = await tab.post(`/a/${id}/${what}`, fields, { from });
    if (done.status === 303) {
      assert.equal(done.headers.get("location"), from);
      return (await tab.get(from)).text;
    }
    return done.text;
  };
  const acked = await act("ack");
  assert.match(acked, /Acknowledged #1\./);
  assert.match(acked, /action="\/a\/1\/unack"/);
  assert.match(words(section(acked, "now")), /You have it since 09:00 Resolve/);
  assert.match(words(section(acked, "ladder")), /You took it 09:00 .*bob@example\.org not needed/);
  assert.doesNotMatch(section(acked, "head"), /hero-hot/);
  assert.match(await act("unack"), /#1 is open again\./);
  assert.match(words(section(await act("note", { text: "We **look**" }), "timeline")), /We look/);
  const asked = await act("resolve");
  assert.equal(await state(id), "open");
  assert.match(words(section(asked, "asked")), /#1: still matching, now/);
  assert.match(section(asked, "asked"), /name="anyway"/);
  assert.match(section(asked, "asked"), /Silence 1 h instead/);
  // The page that asks stands at the form's address: what is pressed there leads back to the alert.
  const sure = await tab.post(`${from}/resolve`, { anyway: "1" }, { from: `${from}/resolve` });
  assert.deepEqual([sure.status, sure.headers.get("location")], [303, from]);
  assert.equal(await state(id), "resolved");
  const again = await fire();
  await box.clock.turn(301_000);
  await tab.post(`/a/${again}/resolve`, {}, { from: `/a/${again}` });
  assert.equal(await state(again), "resolved");
  assert.match(
    words(section((await tab.get(`/a/${again}`)).text, "related")),
    /1 earlier time #1 5 min ago , for 0 s, resolved by ann@example.org, 1 ×/,
  );
});

test("what is planned to be silenced says on the alert's page why somebody is paged later", async (t) => {
  const { box, fire, tab } = await story(t);
  const id = await fire();
  const now = Math.floor(box.clock.now() / 1000);
  const planned = { starts_at: now + 300, ends_at: now + 1800, reason: "deploy <42>" };
  const silence = { match: { rule: "errors" }, critical: true, ...planned };
  assert.equal((await box.api("POST", "/v1/silences", silence)).status, 201);
  const next = words(section((await tab.get(`/a/${id}`)).text, "ladder"));
  assert.match(next, /bob@example\.org next, rung 2 in 30 min/);
  assert.match(next, /Quiet: what is due at \S+ waits until \S+ \(deploy <42>\)\./);
});

test("who loses a race is told who won it, and an alert is silenced, snoozed, escalated and given away from its page", async (t) => {
  const { box, fire, state, bob, tab, other } = await story(t);
  const id = await fire();
  const act = async (what: string, fields: Record<string, string> = {}) => {
    const done = await tab.post(`/a/${id}/${what}`, fields, {
      from: `/a/${id}`,
      headers: { "x-sections": "1" },
    });
    return {
      status: done.status,
      said: words(/<output[\s\S]*?<\/output>/.exec(done.text)?.[0] ?? ""),
      text: done.text,
    };
  };
  await other.post(`/a/${id}/ack`);
  await box.clock.turn(2000);
  const lost = await act("ack");
  assert.equal(lost.status, 200);
  assert.match(lost.said, /bob@example\.org acknowledged #1 2 s before you\./);
  assert.doesNotMatch(lost.said, /Undo/);
  assert.match((await act("escalate")).said, /The next rung of #1 has run/);
  assert.equal(await state(id), "open");
  const over = await act("escalate");
  assert.deepEqual(
    [over.status, /Every (?:step|rung) of the ladder has run/.test(over.said)],
    [409, true],
  );
  assert.match((await act("assign", { account: bob.accountId })).said, /Assigned #1/);
  assert.equal((await act("assign")).status, 422);
  const form = section((await tab.get(`/a/${id}`)).text, "more");
  assert.match(form, /name="critical" value="on" required> Critical ones too: this alert is one/);
  const unsaid = await act("silence", { hours: "4", reason: "deploy 41" });
  assert.match(unsaid.said, /#1 is critical and rings on: tick that critical ones are meant, too/);
  assert.deepEqual((await box.api("GET", "/v1/silences")).body.silences, []);
  const quiet = await act("silence", { hours: "4", reason: "deploy 41", critical: "on" });
  assert.match(quiet.said, /Silenced what #1 counts, for 4 h\. Undo/);
  assert.match(
    words(section(quiet.text, "now")),
    /Quiet until 13:00 .*until 13:00 .*deploy 41.*End now/,
  );
  const [silence] = (await box.api("GET", "/v1/silences")).body.silences;
  assert.deepEqual(
    [silence.project, silence.match.rule, silence.match.identifiers, silence.critical],
    ["shop", "errors", { provider: "acme" }, true],
  );
  assert.match((await act("unsilence", { silence: silence.id })).said, /Silenced no more/);
  assert.match((await act("snooze", { hours: "1" })).said, /You have #1 for 1 h/);
  assert.equal(await state(id), "acknowledged");
  // A second tap, that was meant for the acknowledgement.
  const tapped = await tab.post(`/a/${id}/resolve`, { anyway: "1" });
  assert.deepEqual([tapped.status, await state(id)], [409, "acknowledged"]);
  await box.clock.turn(2000);
  await tab.post(`/a/${id}/resolve`, { anyway: "1" });
  assert.match((await act("ack")).said, /You have resolved #1 already/);
  assert.equal((await tab.post("/a/99/ack")).status, 404);
});

test("a note is its author's to change for five minutes; images and tags of it stand as links and text", async (t) => {
  const { box, fire, tab, other } = await story(t);
  const id = await fire();
  const from = `/a/${id}`;
  await tab.post(`/a/${id}/note`, { text: "![cat](https://x.test/c.png) <b>bold</b>" }, { from });
  const { text } = await tab.get(from);
  assert.match(
    text,
    /<div class="note"><p>!<a href="https:\/\/x\.test\/c\.png"[^>]*>cat<\/a> &lt;b&gt;bold/,
  );
  const nid = /notes\/(\d+)/.exec(text)?.[1] ?? "";
  assert.doesNotMatch((await other.get(from)).text, /notes\/\d+/);
  assert.equal((await other.post(`/a/${id}/notes/${nid}`, { text: "mine" }, { from })).status, 403);
  await tab.post(`/a/${id}/notes/${nid}`, { text: "changed" }, { from });
  assert.match((await tab.get(from)).text, /<p>changed<\/p>/);
  assert.equal((await tab.post(`/a/${id}/note`, { text: "" }, { from })).status, 422);
  await box.clock.turn(301_000);
  assert.doesNotMatch((await tab.get(from)).text, /notes\/\d+/);
  assert.equal((await tab.post(`/a/${id}/notes/${nid}/delete`, {}, { from })).status, 409);
});

/** What a page of ours never holds: elements, handlers and schemes that could do something. */
function strangeParts(text: string): string[] {
  const found: string[] = [];
  const walk = (node: DefaultTreeAdapterTypes.Node): void => {
    if ("tagName" in node) {
      const { tagName, attrs } = node;
      if (/^(?:img|iframe|object|embed|math|style|base|video|audio|marquee)$/.test(tagName))
        found.push(tagName);
      for (const { name, value } of attrs) {
        const isScheme =
          /^(?:href|src|action|formaction)$/.test(name) && !/^(?:\/|#|https?:|mailto:)/.test(value);
        if (/^on|^style$|^srcdoc$/.test(name) || isScheme)
          found.push(`${tagName} ${name}=${value}`);
        if (tagName === "script" && name === "src" && !value.startsWith("/assets/"))
          found.push(value);
      }
      if (tagName === "script" && node.childNodes.length > 0) found.push("script");
    }
    if ("childNodes" in node) for (const child of node.childNodes) walk(child);
  };
  walk(parse(text));
  return found;
}

test("nothing that a stranger or a member wrote becomes markup of the page", async (t) => {
  const { box, fire, tab } = await story(t);
  await box.api("PATCH", "/v1/projects/shop/sources/app", { name: "<img src=x onerror=trap(1)>" });
  const chosen = XSS_VECTORS.filter((_vector, i) => i % Math.ceil(XSS_VECTORS.length / 48) === 0);
  for (const vector of chosen) {
    const id = await fire(`${vector} failed`, { provider: vector.slice(0, 200) || "x" });
    await tab.post(`/a/${id}/note`, { text: vector.slice(0, 4000) || "x" }, { from: `/a/${id}` });
    const { status, text } = await tab.get(`/a/${id}`);
    assert.equal(status, 200);
    assert.deepEqual(strangeParts(text), [], vector);
  }
  assert.deepEqual(strangeParts((await tab.get("/alerts")).text), []);
  assert.deepEqual(strangeParts("<p onclick=x><a href=javascript:x><img src=x>"), [
    "p onclick=x",
    "a href=javascript:x",
    "img",
    "img src=x",
  ]);
});

test("an alert that is gone says what the audit still knows of it", async (t) => {
  const { box, fire, tab } = await story(t);
  const id = await fire();
  await tab.post(`/a/${id}/ack`);
  assert.equal((await box.api("DELETE", "/v1/projects/shop")).status, 200);
  const gone = await tab.get(`/a/${id}`);
  assert.equal(gone.status, 404);
  assert.match(
    words(gone.text),
    /There is no alert #1\. It was deleted since: ann@example\.org acknowledged it on Mon, 5 Jan 2026, 09:00:00 UTC in shop\./,
  );
  assert.match(words((await tab.get("/a/99")).text), /There is no alert #99\. It never was, or/);
});
