import assert from "node:assert/strict";
import { test } from "node:test";
import { testBox } from "../../support/box.ts";
import { signedIn, tabOf } from "../../support/console.ts";

const RULE = { name: "r" };

async function story(flags = {}) {
  const box = await testBox(flags);
  const token = await box.project("shop");
  assert.equal((await box.api("POST", "/v1/projects/shop/rules", RULE)).status, 201);
  const event = { message: "payment <b>4711</b> failed", level: 400 };
  assert.equal((await box.ingest(token, event)).status, 202);
  return { box, tab: signedIn(box) };
}

test("a page is a browser's: programs get the errors that they got before, with or without a cookie", async (t) => {
  const { box, tab } = await story();
  t.after(() => box.stop());
  for (const path of ["/", "/alerts", "/nothing"]) {
    const answer = await tab.get(path, { accept: "application/json" });
    assert.deepEqual([answer.status, JSON.parse(answer.text).error.code], [404, "not_found"], path);
    // The address itself says to curl what it is.
    const expected = path === "/" ? 200 : 404;
    assert.equal((await tab.get(path, { accept: "*/*" })).status, expected, path);
  }
  assert.equal((await tab.get("/nothing")).status, 404);
  assert.match((await tab.get("/nothing")).text, /There is nothing here/);
});

test("whoever looks at a page reads a page, also where the box fails or refuses before there is one", async (t) => {
  const { box, tab } = await story({ apiRate: "1" });
  t.after(() => box.stop());
  const title = ({ text }: { text: string }) => /<h1>([^<]*)</.exec(text)?.[1];
  const much = await tab.post("/a/1/note", { text: "x".repeat(1_100_000) }, { from: "/a/1" });
  assert.deepEqual([much.status, title(much)], [413, "That is too much"]);
  assert.match(much.text, /Nothing was changed\. Go back in your browser/);
  assert.match(much.text, new RegExp(`Request ${much.headers.get("x-request-id")}<`));
  const strange = await tab.post("/a/1/ack", {}, { headers: { origin: "https://evil.test" } });
  assert.deepEqual([strange.status, title(strange)], [403, "Not yours to see or do"]);
  box.tenant.store.db.exec("ALTER TABLE heartbeats RENAME TO hidden");
  const failed = await tab.get("/heartbeats");
  assert.deepEqual([failed.status, title(failed)], [500, "That didn&#39;t work"]);
  assert.match(failed.text, /<a href="">Try again</);
  const script = await tab.sections("/heartbeats", "list");
  assert.equal(JSON.parse(script.text).error.code, "internal", "its own script isn't drawn a page");
  box.tenant.store.db.exec("ALTER TABLE hidden RENAME TO heartbeats");
  let last = await tab.get("/alerts");
  for (let n = 0; n < 500 && last.status === 200; n++) last = await tab.get("/alerts");
  assert.deepEqual([last.status, title(last)], [429, "Too much at once"]);
  assert.match(last.text, new RegExp(`Wait ${last.headers.get("retry-after")} s\\.`));
});

test("a page is compressed for a browser that reads it so", async (t) => {
  const { box, tab } = await story();
  t.after(() => box.stop());
  const plain = await tab.get("/a/1");
  const packed = await tab.get("/a/1", { "accept-encoding": "gzip" });
  const encoding = ({ headers }: typeof plain) => headers.get("content-encoding");
  assert.deepEqual([encoding(plain), encoding(packed)], [null, "gzip"]);
  assert.match(packed.text, /payment &lt;b&gt;4711/);
  // The same body again is sent as it was packed; another isn't.
  const again = await tab.get("/a/1", { "accept-encoding": "gzip" });
  const list = await tab.get("/alerts", { "accept-encoding": "gzip" });
  const body = ({ text }: typeof plain) => text.replace(/ data-now="\d+"/, "");
  assert.equal(body(again), body(packed));
  assert.match(list.text, /id="list"/);
});

test("who has no session is asked to sign in and comes back to where they wanted to go", async (t) => {
  const { box } = await story();
  t.after(() => box.stop());
  const stranger = tabOf(box, "");
  const answer = await stranger.get("/a/1?x=1");
  assert.deepEqual(
    [answer.status, answer.headers.get("location")],
    [303, "/signin?to=%2Fa%2F1%3Fx%3D1"],
  );
  assert.equal((await stranger.get("/")).headers.get("location"), "/signin");
  assert.equal((await tabOf(box, "box=nonsense").get("/alerts")).status, 303);
  assert.equal((await stranger.post("/a/1/ack")).status, 303);
  assert.equal((await box.api("GET", "/v1/alerts/1")).body.state, "open");
});

test("a bearer opens no page and a cookie opens nothing under /v1", async (t) => {
  const { box, tab } = await story();
  t.after(() => box.stop());
  const bearer = { authorization: `Bearer ${box.owner.key}` };
  assert.equal((await tabOf(box, "").get("/alerts", bearer)).status, 303);
  assert.equal((await tab.get("/v1/alerts")).status, 401);
});

test("a form counts only from a page of this box", async (t) => {
  const { box, tab } = await story();
  t.after(() => box.stop());
  const from = (headers: Record<string, string>) => tab.post("/a/1/ack", {}, { headers });
  for (const headers of [
    { origin: "http://evil.example" },
    { origin: "null" },
    { origin: box.url, "sec-fetch-site": "cross-site" },
    { origin: box.url, "sec-fetch-site": "same-site" },
    { origin: box.url, "sec-fetch-site": "none" },
  ])
    assert.equal((await from(headers)).status, 403, JSON.stringify(headers));
  assert.equal((await box.api("GET", "/v1/alerts/1")).body.state, "open");
  assert.equal(
    (await from({ "sec-fetch-site": "same-origin", origin: "http://evil.example" })).status,
    303,
  );
  assert.equal((await box.api("GET", "/v1/alerts/1")).body.state, "acknowledged");
});

test("without script a form goes back to its page, which says once what was done and how to take it back", async (t) => {
  const { box, tab } = await story();
  t.after(() => box.stop());
  const done = await tab.post("/a/1/ack", {}, { from: "/alerts?state=open" });
  assert.deepEqual([done.status, done.headers.get("location")], [303, "/alerts?state=open"]);
  const page = (await tab.get("/alerts?state=open")).text;
  assert.match(page, /Acknowledged #1\./);
  assert.match(page, /action="\/a\/1\/unack"/);
  assert.doesNotMatch((await tab.get("/alerts")).text, /Acknowledged #1\./);
  const audit = await box.api("GET", "/v1/audit?limit=1");
  const [entry] = audit.body.entries;
  assert.deepEqual(
    [entry.verb, entry.via, entry.account_id, entry.target.kind, entry.target.id],
    ["acknowledgeAlert", "page", box.owner.accountId, "alert", "1"],
  );
});

test("with script the sections of the page that the form stood on come back, and nothing else", async (t) => {
  const { box, tab } = await story();
  t.after(() => box.stop());
  const done = await tab.post("/a/1/ack", {}, { from: "/alerts", headers: { "x-sections": "1" } });
  assert.equal(done.status, 200);
  assert.match(done.text, /^<output id="said"/);
  assert.match(done.text, /<section id="list" data-live="alerts oncall:\*" data-stay>/);
  assert.doesNotMatch(done.text, /<html/);
  const some = await tab.sections("/alerts?state=acknowledged", "list", "unknown");
  assert.match(some.text, /^<section id="list"[\s\S]*#1[\s\S]*<\/section>\s*$/);
  assert.doesNotMatch(some.text, /id="tabs"/);
});

test("what didn't change is answered by 304, and what a stranger sends stands as text", async (t) => {
  const { box, tab } = await story();
  t.after(() => box.stop());
  const first = await tab.get("/alerts");
  const etag = first.headers.get("etag") ?? "";
  assert.equal((await tab.get("/alerts", { "if-none-match": etag })).status, 304);
  assert.doesNotMatch(first.text, /<b>4711/);
  assert.match(first.text, /style-src|<link rel="stylesheet"/);
  assert.match(
    first.headers.get("content-security-policy") ?? "",
    /require-trusted-types-for 'script'/,
  );
});

test("--no-console serves no page and leaves the rest as it was", async (t) => {
  const { box, tab } = await story({ console: false });
  t.after(() => box.stop());
  assert.equal((await tab.get("/alerts")).status, 404);
  assert.match((await tab.get("/a/1")).text, /box alert show 1/);
});

test("behind a proxy's path every link carries it", async (t) => {
  const { box, tab } = await story({ publicUrl: "https://box.example.org/box" });
  t.after(() => box.stop());
  const cookie = tab.cookie.replace(/^box=/, "__Host-box=");
  const page = await tabOf(box, cookie).get("/alerts", { "x-forwarded-proto": "https" });
  assert.equal(page.status, 200);
  const links = [...page.text.matchAll(/(?:href|action|src)="([^"]*)"/g)].map(([, to = ""]) => to);
  assert.ok(links.length > 5);
  for (const to of links) assert.ok(to.startsWith("/box/") || to === "#main", to);
});

test("what was done is told as done, also where the page that it was done on is gone", async (t) => {
  const { box, tab } = await story();
  t.after(() => box.stop());
  const scripted = { from: "/a/999", headers: { "x-sections": "1" } };
  const done = await tab.post("/a/1/ack", {}, scripted);
  assert.deepEqual([done.status, done.headers.get("x-go")], [200, "/alerts"]);
  assert.match((await tab.get("/alerts")).text, /Acknowledged #1\./);
  assert.equal((await box.api("GET", "/v1/alerts/1")).body.state, "acknowledged");
});
