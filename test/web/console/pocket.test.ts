import assert from "node:assert/strict";
import { test } from "node:test";
import { inflateSync } from "node:zlib";
import { mergeAlerts } from "../../../src/core/alerts/merge.ts";
import {
  actName,
  alertsOf,
  answeredAs,
  FRESH_MS,
  fateOf,
  type HeldAct,
  heldAnswer,
  heldLine,
  isFree,
  isSameAct,
  saidIn,
} from "../../../src/web/browser/worker/acts.ts";
import { hourAt, secondsAt } from "../../../src/web/browser/worker/clock-words.ts";
import { DRAWN_HEADERS, drawnPage, notKept } from "../../../src/web/browser/worker/drawn-page.ts";
import { pageFacts, shownAgain, tooMuch } from "../../../src/web/browser/worker/kept-page.ts";
import { pushedPage } from "../../../src/web/browser/worker/pushed-page.ts";
import { isFromBox, type WorkerWay, workerWay } from "../../../src/web/browser/worker/which.ts";
import { openPages } from "../../../src/web/console/open-pages.ts";
import { screens } from "../../../src/web/console/screens.ts";
import { dataPlaneRoutes } from "../../../src/web/http/routes.ts";
import { XSS_VECTORS } from "../../fixtures/xss.ts";
import { testBox } from "../../support/box.ts";
import { signedIn, tabOf } from "../../support/console.ts";
import { mountedProxy } from "../../support/mounted.ts";
import { told } from "../../support/told.ts";

/* The console in a pocket: what needs no browser. The worker itself is tried in one, test/browser/console/pocket.ts. */

const visit = (path: string, search = "") =>
  workerWay({ method: "GET", path, search, isVisit: true, isScripted: false });
const asked = (path: string, isScripted = false) =>
  workerWay({ method: "GET", path, search: "", isVisit: false, isScripted });
const posted = (path: string) =>
  workerWay({ method: "POST", path, search: "", isVisit: false, isScripted: true });

test("each page of the console is the worker's, and nothing else of the box is", () => {
  const ways: Record<string, WorkerWay> = {
    "/alerts": "kept",
    "/oncall": "kept",
    "/me/devices": "kept",
    "/a/{alert}": "kept",
  };
  const teach = (path: string) => `${path}: teach src/web/browser/worker/which.ts`;
  for (const { path } of screens)
    assert.equal(visit(path.replaceAll(/\{\w+\}/g, "7")), ways[path] ?? "page", teach(path));
  for (const { path } of openPages) assert.equal(visit(path), "entry", teach(path));
  const others = [
    ...dataPlaneRoutes.map(({ path }) => path.replaceAll(/\{\w+\}/g, "7")),
    "/public/reports/x",
    "/ping/abc",
    "/healthz",
    "/readyz",
    "/metrics",
    "/v1/openapi.json",
    "/ack/abc",
    "/pair",
    "/live",
    "/sw.js",
    "/manifest.webmanifest",
    "/push/seen",
    "/v1",
  ];
  for (const path of others) {
    assert.equal(visit(path), "pass", path);
    assert.equal(asked(path), "pass", path);
    assert.equal(posted(path), "pass", path);
  }
});

test("what a page's script asks goes by; four forms are held, and the end of a session is seen", () => {
  const table: [way: WorkerWay, found: WorkerWay][] = [
    ["pass", asked("/alerts", true)],
    ["pass", asked("/a/7", true)],
    ["file", asked("/assets/abcdefghijkl/console.js")],
    ["kept", visit("/a/131", "?from=push")],
    ["page", visit("/alerts", "?state=resolved")],
    ["page", visit("/a/131/lines")],
    ["page", visit("/a/131x")],
    ["page", visit("/")],
    ["act", posted("/a/131/ack")],
    ["act", posted("/a/131/unack")],
    ["act", posted("/a/131/resolve")],
    ["act", posted("/a/131/note")],
    ["act", posted("/alerts/ack")],
    ["pass", posted("/a/131/escalate")],
    ["pass", posted("/a/131/silence")],
    ["pass", posted("/p/shop/rules/new")],
    ["decide", posted("/held/000-ab/send")],
    ["pass", visit("/held/000-ab/send")],
    ["sign-out", posted("/signout")],
    ["page", visit("/signout")],
    ["entry", visit("/signin", "?to=%2Falerts")],
    [
      "entry",
      workerWay({ method: "POST", path: "/signin", search: "", isVisit: true, isScripted: false }),
    ],
  ];
  for (const [way, found] of table) assert.equal(found, way);
});

test("a proxy that can't reach the box is no answer of the box", () => {
  assert.equal(isFromBox(502, null), false);
  assert.equal(isFromBox(503, "a1"), true, "the box says itself that it is too busy");
  assert.equal(isFromBox(200, null), true);
  assert.equal(isFromBox(401, "a1"), true);
});

const MINUTE = 60_000;
const AT = Date.UTC(2026, 0, 5, 2, 14, 5);

test("an hour stands alone where it is today's, else with its day", () => {
  assert.equal(hourAt(AT, AT + MINUTE, "UTC"), "02:14");
  assert.equal(hourAt(AT, AT + MINUTE, "Europe/Vienna"), "03:14");
  assert.equal(hourAt(AT, AT + 23 * 60 * MINUTE, "UTC"), "Mon 5 Jan, 02:14");
  assert.equal(hourAt(AT, AT + 7 * 24 * 60 * MINUTE, "UTC"), "Mon 5 Jan, 02:14");
  assert.equal(secondsAt(AT, "UTC"), "02:14:05");
  assert.match(hourAt(AT, AT, "Nowhere/AtAll"), /^\d\d:\d\d$/);
});

test("a page that was kept says since when it is, goes on with its ages, and counts nothing down", async (t) => {
  const box = await testBox();
  t.after(() => box.stop());
  const token = await box.project("shop");
  const step = (after_minutes: number) => ({
    after_minutes,
    accounts: [box.owner.accountId],
    schedules: [],
    repeat_minutes: 0,
  });
  const rule = { name: "errors", escalations: [step(0), step(25)] };
  await box.api("POST", "/v1/projects/shop/rules", rule);
  await box.ingest(token, { message: "payment failed", level: 500 });
  const tab = signedIn(box);
  const look = { cookie: `${tab.cookie}; zone=UTC` };
  for (const path of ["/alerts", "/a/1"]) {
    const { text } = await tab.get(path, look);
    const facts = pageFacts(text);
    assert.equal(facts.who, box.owner.accountId);
    assert.equal(facts.zone, "UTC");
    assert.equal(facts.isResolved, false);
    const drawnAt = box.clock.now();
    assert.equal(facts.drawnAt, drawnAt);
    const shown = shownAgain(text, {
      keptAt: AT,
      now: AT + 10 * MINUTE,
      hash: "abcdefghijkl",
    });
    const hour = hourAt(drawnAt, drawnAt, "UTC");
    assert.match(shown, new RegExp(`data-now="${drawnAt + 10 * MINUTE}" data-as-of="${hour}"`));
    assert.match(shown, new RegExp(`can’t be reached</strong> · shown as of ${hour}`));
    assert.doesNotMatch(shown, /data-until/);
    const next = hourAt(drawnAt + 25 * MINUTE, drawnAt, "UTC");
    assert.match(shown.replace(/<[^>]+>/g, ""), new RegExp(`${next},? (· )?if nothing changed`));
    assert.doesNotMatch(shown, /at <time[^>]*>\d\d:\d\d<\/time> · at/);
    const files = [...shown.matchAll(/\/assets\/([^/]+)\//g)].map(([, hash]) => hash);
    assert.deepEqual([...new Set(files)], ["abcdefghijkl"]);
  }
  await box.api("POST", "/v1/alerts/1/resolve");
  assert.equal(pageFacts((await tab.get("/a/1")).text).isResolved, true);
  assert.equal(pageFacts((await tabOf(box, "").get("/signin")).text).who, "");
});

test("fifty alerts are kept, for seven days", () => {
  const day = 24 * 60 * MINUTE;
  const alerts = Array.from({ length: 52 }, (_, i) => ({ address: `/box/a/${i + 1}`, at: AT + i }));
  const others = [
    { address: "/box/alerts", at: AT - 8 * day },
    { address: "/box/oncall", at: AT - 6 * day },
    { address: "/box/a/900", at: AT - 8 * day },
  ];
  assert.deepEqual(tooMuch([...alerts, ...others], AT).sort(), [
    "/box/a/1",
    "/box/a/2",
    "/box/a/900",
    "/box/alerts",
  ]);
});

const act = (changes: Partial<HeldAct> = {}): HeldAct => ({
  id: "000-a",
  path: "/a/131/ack",
  body: "",
  at: AT,
  ...changes,
});

test("an act that wasn't sent goes by itself for a quarter of an hour, and is asked about after it", () => {
  const table: [age: number, fate: ReturnType<typeof fateOf>][] = [
    [0, "send"],
    [FRESH_MS - 1, "send"],
    [FRESH_MS, "ask"],
    [7 * 24 * 60 * MINUTE, "ask"],
    // A clock that was set back makes nothing young again.
    [-1, "ask"],
  ];
  for (const [age, fate] of table) assert.equal(fateOf(act(), AT + age), fate, `${age} ms`);
  assert.equal(fateOf(act({ refused: "the box refused it (409)" }), AT), "told");
});

test("an act that wasn't sent is named, once, with what was written", () => {
  assert.equal(actName(act()), "Acknowledge #131");
  assert.equal(actName(act({ path: "/a/131/note", body: "text=we+look" })), "Note on #131");
  const many = act({ path: "/alerts/resolve", body: "id=1%2C2&id=3&id=x" });
  assert.deepEqual(alertsOf(many), ["1", "2", "3"]);
  assert.equal(actName(many), "Resolve 3 alerts");
  assert.equal(isSameAct(act(), act({ id: "001-b", at: AT + 1 })), true);
  assert.equal(isSameAct(act(), act({ path: "/a/131/unack" })), false);
  assert.match(heldAnswer(act(), "UTC"), /“Acknowledge #131” is held here.*before 02:29\./);

  const place = { base: "/box", now: AT + MINUTE, zone: "UTC" };
  assert.equal(heldLine([], place), "");
  const young = heldLine([act()], place);
  assert.match(
    young,
    /Not sent:<\/strong> Acknowledge #131, 02:14 · sent if the box answers before 02:29/,
  );
  assert.doesNotMatch(young, /Send now/);
  const note = act({
    path: "/a/131/note",
    body: new URLSearchParams({ text: "<b>we look" }).toString(),
  });
  const old = heldLine([note], { ...place, now: AT + FRESH_MS });
  assert.match(old, /too long ago/);
  assert.match(old, /action="\/box\/held\/000-a\/send"/);
  assert.match(old, /<q dir="auto">&lt;b&gt;we look<\/q>/);
});

test("pages that the worker draws have the box's own policy, and hold what strangers wrote as text", async (t) => {
  const box = await testBox();
  t.after(() => box.stop());
  const { headers } = await signedIn(box).get("/alerts");
  assert.equal(DRAWN_HEADERS["Content-Security-Policy"], headers.get("content-security-policy"));
  const place = { base: "/box", hash: "abcdefghijkl", now: AT, zone: "UTC" };
  for (const text of XSS_VECTORS) {
    const push = told({ title: text, body: text }, { called: text, project: text, rule: text });
    const page = drawnPage(place, { ...pushedPage(push, place), bar: "" });
    const tags = [...page.matchAll(/<\/?([a-z]\w*)/gi)].map(([, tag]) => tag?.toLowerCase());
    const plain = drawnPage(place, { ...pushedPage(told(), place), bar: "" });
    const usual = [...plain.matchAll(/<\/?([a-z]\w*)/gi)].map(([, tag]) => tag?.toLowerCase());
    assert.deepEqual(tags, usual, text);
  }
});

test("what is kept is listed where a page isn't", () => {
  const kept = [{ address: "/box/a/7", title: "#7 payment &lt;*&gt;", asOf: "02:14" }];
  assert.match(
    notKept(kept).main,
    /<a href="\/box\/a\/7">#7 payment &lt;\*&gt;<\/a> <span class="soft">as of 02:14/,
  );
  assert.match(notKept([]).main, /kept no page yet/);
});

test("what the box is too busy for stays held; what it refuses is told; one alert's acts keep their order", () => {
  for (const status of [200, 204]) assert.equal(answeredAs(status), "taken");
  for (const status of [429, 500, 502, 503, 507]) assert.equal(answeredAs(status), "later");
  assert.deepEqual(answeredAs(401), { refused: "you are signed out" });
  assert.deepEqual(answeredAs(409), { refused: "the box refused it (409)" });
  const act = (path: string, body = ""): HeldAct => ({ id: path, path, body, at: AT });
  const held = [act("/a/7/ack"), act("/alerts/resolve", "id=8,9")];
  assert.equal(isFree(act("/a/7/unack"), held), false);
  assert.equal(isFree(act("/alerts/ack", "id=3&id=9"), held), false);
  assert.equal(isFree(act("/a/3/ack"), held), true);
  assert.equal(isFree(act("/a/7/ack"), []), true);
});

test("an act that comes again, since its answer was lost, is done once and answered alike; what wasn't taken may come again", async (t) => {
  const box = await testBox();
  t.after(() => box.stop());
  const token = await box.project("shop");
  await box.api("POST", "/v1/projects/shop/rules", { name: "errors" });
  await box.ingest(token, { message: "payment failed", level: 500 });
  const [tab, bob] = [signedIn(box), signedIn(box, box.person("member"))];
  const post = (who: typeof tab, verb: string, act: string, fields = {}) =>
    who.post(`/a/1/${verb}`, fields, {
      from: "/a/1",
      headers: { "x-sections": "1", "x-act": act },
    });
  const notes = () =>
    box.tenant.store.sql("SELECT count(*) FROM timeline WHERE kind = 'noted'").pluck().get();
  const answers = await Promise.all(
    ["n-1", "n-1", "n-1"].map((act) => post(tab, "note", act, { text: "we look" })),
  );
  for (const { status, text } of answers) {
    assert.equal(status, 200);
    assert.match(text, /Noted on #1/);
  }
  assert.equal(notes(), 1);
  await post(tab, "note", "n-2", { text: "we look" });
  await post(bob, "note", "n-1", { text: "so do I" });
  assert.equal(notes(), 3, "another act, and another's of the same name");
  assert.equal((await post(tab, "note", "n-3", { text: "" })).status, 422);
  assert.equal((await post(tab, "note", "n-3", { text: "now" })).status, 200);
  assert.equal(notes(), 4);

  await post(tab, "ack", "a-1");
  await post(tab, "unack", "u-1");
  await post(bob, "ack", "a-2");
  await post(tab, "unack", "u-1");
  assert.equal((await box.api("GET", "/v1/alerts/1")).body.state, "acknowledged", "Bob has it");
});

test("what the box says of an act is told with it: that nothing was done, and where an alert went", async (t) => {
  const box = await testBox();
  t.after(() => box.stop());
  const token = await box.project("shop");
  await box.api("POST", "/v1/projects/shop/rules", { name: "errors", identifier_keys: ["n"] });
  for (const n of ["a", "b"])
    await box.ingest(token, { message: "payment failed", level: 500, keys: { n } });
  const bob = box.person("member", "bob@example.org");
  box.tenant.store.write((tx) =>
    tx
      .sql("UPDATE accounts SET display_name = ? WHERE id = ?")
      .run(`<b>"Bob" & 'Co'`, bob.accountId),
  );
  const said = async (id: number, verb: string, person = box.owner) => {
    const tab = signedIn(box, person);
    // As the worker sends it: from no page.
    const answer = await tab.post(`/a/${id}/${verb}`, {}, { headers: { "x-sections": "1" } });
    assert.equal(answer.status, 200);
    return saidIn(answer.text);
  };
  assert.equal(await said(1, "resolve"), "Not resolved yet: #1 still matches.");
  assert.equal(await said(1, "ack", bob), "Acknowledged #1.");
  assert.match(await said(1, "ack"), /^<b>"Bob" & 'Co' acknowledged #1 just before you\.$/);
  const { store } = box.tenant;
  const [template] = store.sql<[], string>("SELECT template_id FROM alerts").pluck().all();
  store.write((tx) => mergeAlerts(tx, [1, 2], { alertKey: "one", templateId: template ?? "" }));
  assert.equal(await said(1, "ack", bob), "#1 is one with #2 now. #2 is open.");
  assert.equal(saidIn("<p>no line</p>"), "");
});

/** Width, height and whether all of it is opaque. */
function readPng(bytes: Buffer): { width: number; height: number; opaque: boolean } {
  assert.equal(bytes.toString("latin1", 1, 4), "PNG");
  const [width, height] = [bytes.readUInt32BE(16), bytes.readUInt32BE(20)];
  const at = bytes.indexOf("IDAT");
  const pixels = inflateSync(bytes.subarray(at + 4, at + 4 + bytes.readUInt32BE(at - 4)));
  assert.equal(pixels.length, height * (1 + width * 4));
  let opaque = true;
  for (let y = 0; y < height; y += 1)
    for (let x = 0; x < width; x += 1) opaque &&= pixels[y * (1 + width * 4) + 4 + x * 4] === 255;
  return { width, height, opaque };
}

test("AC-23.6: a phone can install it: manifest, icons, shortcuts and worker, below a path too", async (t) => {
  const proxy = await mountedProxy();
  const box = await testBox({ publicUrl: proxy.url });
  t.after(async () => {
    await box.stop();
    proxy.close();
  });
  const far = { "x-forwarded-proto": "https" };
  for (const [base, headers] of [
    ["", {}],
    ["/box", far],
  ] as const) {
    const page = await tabOf(box, "").get("/signin", headers);
    assert.match(
      page.text,
      new RegExp(`<link rel="manifest" href="${base}/manifest.webmanifest">`),
    );
    assert.match(page.text, /<meta name="theme-color" content="#[0-9a-f]{6}"/);
    const stranger = tabOf(box, "");
    const {
      status,
      headers: sent,
      text,
    } = await stranger.get("/manifest.webmanifest", {
      accept: "*/*",
      ...headers,
    });
    assert.deepEqual([status, sent.get("content-type")], [200, "application/manifest+json"]);
    const told = JSON.parse(text);
    assert.deepEqual([told.name, told.display, told.id], ["box", "standalone", `${base}/`]);
    assert.deepEqual([told.start_url, told.scope], [`${base}/alerts`, `${base}/`]);
    assert.deepEqual(
      told.shortcuts.map(({ name, url }: { name: string; url: string }) => [name, url]),
      [
        ["Open alerts", `${base}/alerts`],
        ["On call now", `${base}/oncall`],
      ],
    );
    const icons = new Map<string, { width: number; opaque: boolean }>();
    for (const { src, sizes, purpose } of told.icons) {
      const answer = await fetch(box.url + src.slice(base.length));
      assert.equal(answer.headers.get("content-type"), "image/png");
      const bytes = Buffer.from(await answer.arrayBuffer());
      assert.ok(bytes.length < 10_000, `${src}: ${bytes.length} bytes`);
      const { width, height, opaque } = readPng(bytes);
      assert.equal(`${width}x${height}`, sizes);
      icons.set(`${purpose} ${sizes}`, { width, opaque });
    }
    assert.deepEqual([...icons.keys()].sort(), ["any 192x192", "any 512x512", "maskable 512x512"]);
    assert.equal(icons.get("maskable 512x512")?.opaque, true, "a phone cuts its shape out of it");
    const worker = await stranger.get("/sw.js", { accept: "*/*", ...headers });
    assert.match(worker.headers.get("content-type") ?? "", /^text\/javascript/);
    assert.equal(worker.headers.get("cache-control"), "no-cache");
    assert.match(worker.headers.get("content-security-policy") ?? "", /connect-src 'self'$/);
  }
});

test("without pages there is nothing to install", async (t) => {
  const box = await testBox({ console: false });
  t.after(() => box.stop());
  for (const path of ["/manifest.webmanifest", "/sw.js"])
    assert.equal((await tabOf(box, "").get(path)).status, 404, path);
});
