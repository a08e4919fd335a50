import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { type TestBox, testBox } from "../../support/box.ts";
import { signedIn } from "../../support/console.ts";
import { settle, until } from "../../support/until.ts";

async function story(t: TestContext) {
  const box = await testBox();
  t.after(() => box.stop());
  return { box, tab: signedIn(box) };
}

/** A source made on its page; the token that the page showed. */
async function connected(box: TestBox, project: string, fields: Record<string, string>) {
  const at = `/p/${encodeURIComponent(project)}/connect`;
  const from = `${at}?kind=${fields["kind"]}`;
  const made = await signedIn(box).post(at, fields, { from });
  assert.equal(made.status, 200, made.text);
  const token = /<pre class="code wrap" id="token">(pti_[^<]+)</.exec(made.text)?.[1] ?? "";
  assert.notEqual(token, "");
  return { made, token };
}

test("a project is made, found in the table, renamed and deleted by its name, without script", async (t) => {
  const { box, tab } = await story(t);
  assert.match((await tab.get("/p")).text, /No project yet\./);
  const wrong = await tab.post("/p", { name: "a/b" }, { from: "/p" });
  assert.equal(wrong.status, 422);
  assert.match(wrong.text, /must not hold a slash/);
  assert.equal((await tab.get("/")).headers.get("location"), "/welcome", "what is done first");
  assert.match((await tab.get("/alerts")).text, /Nothing is set up yet\..*First steps/s);
  const made = await tab.post("/p", { name: "shop" }, { from: "/p" });
  assert.deepEqual([made.status, made.headers.get("location")], [303, "/p/shop"]);
  assert.match((await tab.get("/p/shop")).text, /Nothing sends to this project yet\./);
  assert.equal((await tab.get("/")).headers.get("location"), "/alerts");
  for (const path of ["/p/shop", "/p/my%20shop"]) {
    const { status, headers } = await tab.get(`${path}/sources`);
    assert.deepEqual([status, headers.get("location")], [303, path]);
  }
  const table = (await tab.get("/p")).text;
  assert.match(table, /<a href="\/p\/shop">shop<\/a>/);
  assert.match(table, /no schedule/);
  const named = await tab.post("/p/shop/rename", { name: "my shop" }, { from: "/p/shop" });
  assert.equal(named.headers.get("location"), "/p/my%20shop");
  const page = (await tab.get("/p/my%20shop")).text;
  assert.match(page, /With it go 0 alerts; 0 sources;/);
  const mistyped = await tab.post(
    "/p/my%20shop/delete",
    { name: "shop" },
    { from: "/p/my%20shop" },
  );
  assert.equal(mistyped.status, 409);
  assert.match(mistyped.text, /That is not the project&#39;s name\./);
  const gone = await tab.post("/p/my%20shop/delete", { name: "my shop" }, { from: "/p/my%20shop" });
  assert.equal(gone.headers.get("location"), "/p");
  assert.equal((await box.api("GET", "/v1/projects")).body.projects.length, 0);
});

test("AC-13.1 a new token is on the page that made it and nowhere after", async (t) => {
  const { box, tab } = await story(t);
  await box.api("POST", "/v1/projects", { name: "shop" });
  const { made, token } = await connected(box, "shop", { kind: "events", name: "web", level: "" });
  assert.equal(made.headers.get("cache-control"), "no-store");
  assert.match(made.text, /listening for <strong>web<\/strong>/);
  for (const path of ["/p/shop", "/p/shop/connect?kind=events", "/p/shop/sources/web", "/p"])
    assert.doesNotMatch((await tab.get(path)).text, /pti_/, path);
  const scripted = await tab.sections("/p/shop/connect?kind=events", "set-up");
  assert.doesNotMatch(scripted.text, /pti_/);
  assert.doesNotMatch((await tab.get("/p/shop")).headers.get("cache-control") ?? "", /public/);
  assert.equal((await box.ingest(token, { message: "hello", level: 200 })).status, 202);
});

test("AC-13.2 what listens turns green with the first event: its template, who takes it, and the topic of its page", async (t) => {
  const { box, tab } = await story(t);
  await box.api("POST", "/v1/projects", { name: "shop" });
  const { token } = await connected(box, "shop", { kind: "events", name: "web", lines: "kept" });
  const { next } = box.tenant.changes.after(null);
  assert.match((await tab.get("/p/shop")).text, /<section id="heard" data-live="source:shop\/web /);
  const poll = tab.get(`/live?watch=source:shop/web,alerts&since=${next}&wait=25`, {
    accept: "application/json",
  });
  await until(() => box.tenant.changes.listening > 0, "the page's poll waits");
  const keys = { service: "pay", host: "db7", order: 4711 };
  await box.ingest(token, { message: "payment 4711 failed after 30 s", level: 400, keys });
  await settle(box);
  await box.clock.turn(1000);
  assert.ok(JSON.parse((await poll).text).topics.includes("source:shop/web"));
  const heard = (await tab.sections("/p/shop", "heard")).text;
  assert.match(heard, /✓ web sent an event/);
  assert.match(heard, /payment <var>\*<\/var> failed after <var>\*<\/var>/);
  assert.match(heard, /in alert <a href="\/a\/1">#1<\/a>/);
  const offered = /One alert for each of these: <a href="([^"]+)">in web</.exec(heard)?.[1] ?? "";
  assert.equal(offered, "/p/shop/rules/web?identifier=host&amp;identifier=service");
  const editor = (await tab.get(offered.replaceAll("&amp;", "&"))).text;
  assert.match(editor, /One alert for each <strong>host, service<\/strong>/);
  assert.match(editor, /name="identifier_keys" [^>]*value="host, service"/);
  const row = (await tab.get("/p/shop")).text;
  assert.match(row, /<a href="\/p\/shop\/lines\?source=web">kept<\/a>/);
  await box.clock.turn(3_600_000);
  assert.doesNotMatch((await tab.get("/p/shop")).text, /sent an event/, "an hour on it is no news");
});

test("AC-13.3 a member sees rotating disabled with its reason; a manager's new token ends the old one", async (t) => {
  const { box, tab } = await story(t);
  const token = await box.project("shop");
  const bob = signedIn(box, box.person("member", "bob@example.org"));
  const at = "/p/shop/sources/app";
  const page = (await bob.get(at)).text;
  assert.match(
    page,
    /<button class="button second" disabled aria-describedby="([^"]+)">Rotate the token</,
  );
  assert.match(page, /Owners and admins rotate tokens\. Ask owner@example\.org\./);
  assert.equal((await bob.post(`${at}/rotate`, {}, { from: at })).status, 403);
  assert.doesNotMatch((await bob.get("/p/shop")).text, /id="delete"/);
  assert.equal(
    (await bob.post("/p/shop/delete", { name: "shop" }, { from: "/p/shop" })).status,
    403,
  );
  assert.equal((await bob.post("/p/shop/rename", { name: "x" }, { from: "/p/shop" })).status, 403);
  assert.equal((await box.ingest(token, { message: "x", level: 1 })).status, 202);
  assert.match((await tab.get(at)).text, /Somebody sent with it <time/);
  const rotated = (await tab.post(`${at}/rotate`, {}, { from: at })).text;
  const fresh = /id="token">(pti_[^<]+)</.exec(rotated)?.[1] ?? "";
  assert.equal((await box.ingest(token, { message: "x", level: 1 })).status, 401);
  assert.equal((await box.ingest(fresh, { message: "x", level: 1 })).status, 202);
  assert.doesNotMatch((await tab.get(at)).text, /pti_/);
});

test("a source's lines are kept and not, what was refused is told, and it is deleted unless a rule names it", async (t) => {
  const { box, tab } = await story(t);
  const token = await box.project("shop");
  const at = "/p/shop/sources/app";
  const kept = await tab.post(`${at}/keep`, {}, { from: at });
  assert.equal(kept.headers.get("location"), at);
  assert.match((await tab.get(at)).text, /action="\/p\/shop\/sources\/app\/forget"/);
  await box.ingest(token, "not json");
  assert.match((await tab.get(at)).text, /1 × invalid_json/);
  assert.match((await tab.get(at)).text, /<pre class="code wrap">not json<\/pre>/);
  const bob = signedIn(box, box.person("member"));
  assert.doesNotMatch((await bob.get(at)).text, /<pre/, "the body is for managers");
  const renamed = await tab.post(`${at}/rename`, { name: "web app" }, { from: at });
  assert.equal(renamed.headers.get("location"), "/p/shop/sources/web%20app");
  const back = "/p/shop/sources/web%20app";
  assert.match((await tab.get(back)).text, /1 × invalid_json/, "what is known of it stays");
  assert.equal((await tab.post(`${back}/rename`, { name: "a/b" }, { from: back })).status, 422);
  await tab.post(`${back}/rename`, { name: "app" }, { from: back });
  await box.api("POST", "/v1/projects/shop/rules", { name: "errors", match: { sources: ["app"] } });
  const refused = await tab.post(`${at}/delete`, {}, { from: at });
  assert.equal(refused.status, 409);
  assert.match(refused.text, /errors/);
  await box.api("DELETE", "/v1/projects/shop/rules/errors");
  const gone = await tab.post(`${at}/delete`, {}, { from: at });
  assert.equal(gone.headers.get("location"), "/p/shop");
  assert.equal((await tab.get(at)).status, 404);
});

test("every kind of sender has a card, and its form says where its text goes", async (t) => {
  const { box, tab } = await story(t);
  await box.project("shop");
  const { text } = await tab.get("/p/shop/connect");
  const kinds = [...text.matchAll(/connect\?kind=([\w-]+)"/g)].map(([, kind]) => kind ?? "");
  assert.ok(kinds.length >= 20, String(kinds));
  for (const kind of kinds) {
    const card = await tab.get(`/p/shop/connect?kind=${kind}`);
    assert.equal(card.status, 200);
    assert.match(card.text, new RegExp(`name="kind" value="${kind}"`));
  }
  const { made } = await connected(box, "shop", { kind: "alertmanager" });
  assert.match(made.text, /<pre class="code" id="paste" tabindex="0">[^<]*pti_/);
  assert.match(made.text, /Rule alertmanager was made/);
});

test("a sender's key of an earlier tool opens an adapter's source until it is removed, and is never shown", async (t) => {
  const box = await testBox();
  t.after(() => box.stop());
  const tab = signedIn(box);
  await box.project("shop");
  const made = await box.api("POST", "/v1/projects/shop/sources", {
    name: "pd",
    kind: "pagerduty",
  });
  assert.equal(made.status, 201);
  const at = "/p/shop/sources/pd";
  const key = "R0123456789ABCDEFGHIJKLMNOPQRSTU";
  const send = async () =>
    (
      await fetch(`${box.url}/v1/in/pagerduty/v2/enqueue`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({
          routing_key: key,
          event_action: "trigger",
          payload: { summary: "disk full", source: "db1", severity: "error" },
        }),
      })
    ).status;
  assert.ok((await send()) >= 400);
  const add = (by = tab) => by.post(`${at}/keys/add`, { key }, { from: at });
  assert.equal((await add()).status, 303);
  assert.equal(await send(), 202);
  const page = await tab.get(at);
  assert.doesNotMatch(page.text, new RegExp(key));
  const [, id] = /keys\/(\d+)\/delete/.exec(page.text) ?? [];
  assert.equal((await add()).status, 409);
  assert.equal((await tab.post(`${at}/keys/${id}/delete`, {}, { from: at })).status, 303);
  assert.ok((await send()) >= 400);
  const member = signedIn(box, box.person("member", "mia@example.org"));
  assert.equal((await add(member)).status, 403);
  assert.doesNotMatch((await member.get(at)).text, /Further keys/);
  assert.match((await tab.get("/audit?kind=source_key")).text, /<dt>key<\/dt>/);
});
