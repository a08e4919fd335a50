import assert from "node:assert/strict";
import { test } from "node:test";
import { testBox } from "../../support/box.ts";
import { signedIn } from "../../support/console.ts";
import { settle } from "../../support/until.ts";

test("a page says after which change it was drawn: what comes later is told, and nothing twice", async (t) => {
  const box = await testBox();
  t.after(() => box.stop());
  const token = await box.project("shop");
  assert.equal((await box.api("POST", "/v1/projects/shop/rules", { name: "r" })).status, 201);
  const tab = signedIn(box);
  const page = await tab.get("/alerts");
  const [, since = ""] = /<html [^>]*data-since="([^"]+)"/.exec(page.text) ?? [];
  const changes = async (after: string) =>
    JSON.parse((await tab.get(`/live?since=${after}`, { accept: "application/json" })).text);
  assert.deepEqual(await changes(since), { next: since, reset: false, topics: [] });
  assert.equal((await box.ingest(token, { message: "failed", level: 500 })).status, 202);
  const { next, reset, topics } = await changes(since);
  assert.equal(reset, false);
  assert.ok(topics.includes("alerts"), String(topics));
  const later = await tab.get("/alerts");
  assert.match(later.text, new RegExp(`data-since="${next}"`));
});

test("sections come with the title of their page and the box's clock, as the stream does", async (t) => {
  const box = await testBox();
  t.after(() => box.stop());
  const tab = signedIn(box);
  const { headers, text } = await tab.sections("/alerts", "title");
  assert.equal(text, "");
  assert.equal(decodeURIComponent(headers.get("x-title") ?? ""), "Alerts · box");
  const page = await tab.get("/alerts");
  const [, now] = /data-now="(\d+)"/.exec(page.text) ?? [];
  const poll = await tab.get("/live", { accept: "application/json" });
  for (const answer of [headers, poll.headers])
    assert.ok(Math.abs(Number(answer.get("x-now")) - Number(now)) <= 1000);
});

test("sections and what a form answers say after which change they were drawn", async (t) => {
  const box = await testBox();
  t.after(() => box.stop());
  const token = await box.project("shop");
  assert.equal((await box.api("POST", "/v1/projects/shop/rules", { name: "r" })).status, 201);
  assert.equal((await box.ingest(token, { message: "failed", level: 500 })).status, 202);
  await settle(box);
  const tab = signedIn(box);
  const now = () => box.tenant.changes.after(null).next;
  const list = await tab.sections("/alerts", "list");
  assert.equal(list.headers.get("x-since"), now());
  const before = now();
  const done = await tab.post("/a/1/ack", {}, { from: "/alerts", headers: { "x-sections": "1" } });
  assert.equal(done.headers.get("x-since"), now());
  assert.notEqual(now(), before);
  const same = await tab.get("/alerts", {
    "x-sections": "tabs",
    "if-none-match": (await tab.sections("/alerts", "tabs")).headers.get("etag") ?? "",
  });
  assert.deepEqual([same.status, same.headers.get("x-since")], [304, now()]);
});

test("what is shown or asked this once stands still, and nothing else of its page does", async (t) => {
  const box = await testBox();
  t.after(() => box.stop());
  const token = await box.project("shop");
  assert.equal((await box.api("POST", "/v1/projects/shop/rules", { name: "r" })).status, 201);
  assert.equal((await box.ingest(token, { message: "failed", level: 500 })).status, 202);
  await settle(box);
  const tab = signedIn(box);
  const headers = { "x-sections": "1" };
  /** What each section of an answer is told of; null: it stands still. */
  const live = (text: string) =>
    Object.fromEntries(
      [...text.matchAll(/<section id="([\w-]+)"(?: data-live="([^"]*)")?/g)].map(
        ([, id = "", topics = null]) => [id, topics],
      ),
    );
  // It is asked whether #1 is to be resolved though it still matches: its row isn't what is asked.
  const asked = await tab.post("/alerts/resolve", { id: "1" }, { from: "/alerts", headers });
  assert.match(asked.text, /#1: still matching/);
  assert.deepEqual(live(asked.text), {
    duty: "oncall oncall:*",
    tabs: "alerts",
    filter: "",
    "asked-all": null,
    list: "alerts oncall:*",
    selection: "",
    "would-all": "",
  });
  const one = await tab.post("/a/1/resolve", {}, { from: "/a/1", headers });
  assert.match(one.text, /#1: still matching/);
  const { asked: question, ...others } = live(one.text);
  assert.equal(question, null);
  assert.deepEqual(
    Object.entries(others).filter(([, topics]) => topics === null),
    [],
  );
  // What is only tried isn't replaced by what is saved, a moment later, when somebody signs in.
  const layer = { name: "l", rotation_start: 1_700_000_000, shift_minutes: 1440 };
  const schedule = {
    name: "s",
    timezone: "UTC",
    layers: [{ ...layer, participants: [box.owner.accountId] }],
  };
  assert.equal((await box.api("POST", "/v1/projects/shop/oncall/schedules", schedule)).status, 201);
  const layers = "/oncall/shop/s/layers";
  const draft = { name: "s", timezone: "UTC", layers: "0", do: "new-layer" };
  const tried = await tab.post(`${layers}/try`, draft, { from: layers, headers });
  assert.match(tried.text, /id="l0-name"/);
  assert.deepEqual(live(tried.text), { would: null, layers: null, delete: "" });
  // A token is shown beside what listens for the source that it is of.
  const from = "/p/shop/connect?kind=grafana";
  const made = await tab.post("/p/shop/connect", { kind: "grafana" }, { from, headers });
  assert.match(made.text, /listening for <strong>grafana</);
  const { "set-up": shown, heard } = live(made.text);
  assert.deepEqual([shown, heard], [null, "source:shop/grafana project:shop"]);
});
