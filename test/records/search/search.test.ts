import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Store } from "../../../src/ground/store/store.ts";
import { search } from "../../../src/records/search/search.ts";
import { type TestBox, testBox } from "../../support/box.ts";

/** One box of words finds whatever has a name, and alerts. */

let box: TestBox;
let token: string;
before(async () => {
  box = await testBox();
  token = await box.project("web shop");
  const project = "/v1/projects/web%20shop";
  await box.api("POST", `${project}/rules`, { name: "Shop errors", identifier_keys: ["n"] });
  const layers: object[] = [];
  const schedule = { name: "shop primary", timezone: "UTC", layers };
  await box.api("POST", `${project}/oncall/schedules`, schedule);
  const url = "http://127.0.0.1:9/secret-path";
  await box.api("POST", `${project}/integrations`, { type: "webhook", name: "shop hook", url });
  await box.api("POST", `${project}/actions`, { name: "restart shop", method: "POST", url });
  await box.api("POST", `${project}/heartbeats`, { name: "shop backup", period_seconds: 3600 });
  await box.api("POST", `${project}/reports`, { title: "The shop was down" });
  await box.api("POST", `${project}/sources`, { name: "shop-api" });
  box.person("member", "ann@shop.example");
  for (const n of ["a", "b"])
    await box.ingest(token, { message: "shop is down", keys: { n }, level: 500 });
});
after(() => box.stop());

const found = async (q: string, more = "") => {
  const query = new URLSearchParams({ q });
  const { status, body } = await box.api("GET", `/v1/search?${query}${more}`);
  assert.equal(status, 200, JSON.stringify(body));
  return body;
};

test("each kind is found by its name, with its page's address, and secrets by nothing", async () => {
  const { results, complete } = await found("SHOP");
  assert.equal(complete, true);
  const paths = Object.fromEntries(
    results.map(({ kind, path }: { kind: string; path: string }) => [kind, path]),
  );
  const project = "/p/web%20shop";
  const idOf = (path: string) => path.slice(path.lastIndexOf("/") + 1);
  assert.deepEqual(paths, {
    alert: "/a/1",
    project,
    rule: `${project}/rules/Shop%20errors`,
    source: `${project}/sources`,
    schedule: "/oncall/web%20shop/shop%20primary",
    channel: `${project}/channels/${idOf(paths["channel"] ?? "")}`,
    action: `${project}/actions`,
    heartbeat: `/heartbeats/${idOf(paths["heartbeat"] ?? "")}`,
    report: `${project}/reports/${idOf(paths["report"] ?? "")}`,
    person: `/people/${idOf(paths["person"] ?? "")}`,
  });
  assert.equal(results[0].kind, "project");
  assert.deepEqual((await found("secret-path")).results, []);
});

test("an alert is found under its title, with what varies in it", async () => {
  await box.ingest(token, { message: "shipment 4711 is late", keys: { n: "c" }, level: 500 });
  await box.ingest(token, { message: "shipment 4712 is late", keys: { n: "d" }, level: 500 });
  const { results } = await found("shipment");
  assert.deepEqual(results.map(({ title }: { title: string }) => title).sort(), [
    "shipment 4711 is late",
    "shipment 4712 is late",
  ]);
});

test("all words must be there; what is written for alerts finds alerts alone", async () => {
  const titles = async (q: string) =>
    (await found(q)).results.map(({ kind, title }: Record<string, string>) => [kind, title]);
  assert.deepEqual(await titles("shop backup"), [["heartbeat", "shop backup"]]);
  assert.deepEqual(
    (await found("ann@")).results.map(({ sub }: { sub: string }) => sub),
    ["ann@shop.example"],
  );
  assert.deepEqual(await titles("#2"), [["alert", "shop is down"]]);
  assert.deepEqual(await titles("level:critical shop key:n=a"), [["alert", "shop is down"]]);
  assert.deepEqual(await titles("  "), []);
  assert.equal((await box.api("GET", "/v1/search?q=")).status, 400);
  assert.equal((await box.api("GET", "/v1/search?q=a&limit=101")).status, 400);
});

test("a bound is a bound, and said", async () => {
  const { results, complete } = await found("shop", "&limit=4");
  assert.deepEqual([results.length, complete], [4, false]);
  assert.ok(results.some(({ kind }: { kind: string }) => kind === "alert"));
});

test("ends when its time is up, and says so", async () => {
  const { store } = box.tenant;
  let ms = 0;
  const slow: Store = { ...store, clock: { ...store.clock, mono: () => (ms += 60) } };
  const answer = await search(slow, { q: "down", limit: 10 });
  assert.equal(answer.complete, false);
});
