import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, test } from "node:test";
import { type TestBox, testBox } from "../support/box.ts";

/** What an alert knows of its events: labels, what varied, and a title. */

let box: TestBox;
let token: string;
beforeEach(async () => {
  box = await testBox();
  token = await box.project("p");
});
afterEach(() => box.stop());

const rule = (more: object = {}) =>
  box.api("POST", "/v1/projects/p/rules", { name: "errors", match: { min_level: 400 }, ...more });
const send = async (keys: object | null, more: object = {}) => {
  const event = { message: "db of shop is down", level: 500, ...(keys && { keys }), ...more };
  assert.equal((await box.ingest(token, event)).status, 202);
};
const alerts = async () => (await box.api("GET", "/v1/alerts")).body.alerts;
const latest = async () => {
  const [alert] = await alerts();
  const { labels, varied, varied_more } = alert;
  return { labels, varied, varied_more };
};

describe("an alert's labels", () => {
  test("are those of the event that opened it, and of every one that is counted into it, also behind a restart", async () => {
    await rule();
    await send({ host: "db7", service: "shop" });
    assert.deepEqual(await latest(), {
      labels: { host: "db7", service: "shop" },
      varied: {},
      varied_more: [],
    });
    await send({ host: "db8", zone: "a" });
    const two = {
      labels: { host: "db8", service: "shop", zone: "a" },
      varied: { host: ["db8", "db7"] },
      varied_more: [],
    };
    assert.deepEqual(await latest(), two);
    await send(null);
    assert.deepEqual(await latest(), two);
    await box.restart();
    assert.deepEqual(await latest(), two);
    for (const host of ["db1", "db2", "db3", "db4", "db7"]) await send({ host });
    const many = await latest();
    assert.deepEqual(many.varied, { host: ["db7", "db4", "db3", "db2", "db1"] });
    assert.deepEqual(many.varied_more, ["host"]);
    assert.equal((await alerts())[0].count, 8);
  });

  test("of one that opens by a count are those of all that were counted, also behind a restart, without what is too old", async () => {
    await rule({ fire_after: { count: 3, distinct_sources: 1, window_minutes: 5 } });
    await send({ host: "db1", zone: "z" });
    await box.clock.turn(200_000);
    await send({ host: "db7", zone: "a" });
    await box.clock.turn(150_000);
    await send({ host: "db8" });
    await box.restart();
    assert.equal((await alerts()).length, 0);
    await send({ host: "db9" });
    assert.deepEqual(await latest(), {
      labels: { host: "db9", zone: "a" },
      varied: { host: ["db9", "db8", "db7"] },
      varied_more: [],
    });
    assert.equal((await alerts())[0].count, 3);
  });

  test("of one that reopens are those of before and of the event that brings it back", async () => {
    await rule({ reopen_within_seconds: 600 });
    await send({ host: "db7", zone: "a" }, { dedup_key: "k", title: "Shop is down" });
    await send(null, { dedup_key: "k", status: "resolved" });
    await send({ host: "db8" }, { dedup_key: "k" });
    await send({ host: "db9" }, { dedup_key: "k" });
    assert.equal((await alerts()).length, 1);
    const { labels, varied } = await latest();
    assert.deepEqual(labels, { host: "db9", zone: "a" });
    assert.deepEqual(varied, { host: ["db9", "db8", "db7"] });
    assert.equal((await alerts())[0].title, "Shop is down");
  });

  test("of one that lists what is too many are those of all that it counts", async () => {
    await rule({ identifier_keys: ["host"], max_open: 1 });
    for (const host of ["db1", "db2", "db3"]) await send({ host }, { title: `${host} is down` });
    const [shared] = await alerts();
    assert.deepEqual(shared.labels, { host: "db3" });
    assert.deepEqual(shared.varied, { host: ["db3", "db2"] });
    assert.match(shared.title, /^errors: too many to list/);
  });

  test("of one that lists what is too many are those of all events counted before, also where the last has none", async () => {
    await rule({ fire_after: { count: 2, distinct_sources: 1, window_minutes: 5 }, max_open: 1 });
    for (const [message, host] of [
      ["the disk is full", "db0"],
      ["payments fail now", "db1"],
      ["no mail goes out", "db2"],
    ]) {
      await send({ host }, { message });
      await send(null, { message });
    }
    const [shared] = await alerts();
    assert.match(shared.title, /^errors: too many to list/);
    assert.deepEqual([shared.labels, shared.varied], [{ host: "db2" }, { host: ["db2", "db1"] }]);
  });

  test("of two that turn out to be one are those of both", async () => {
    await rule();
    const backup = (name: string) => ({
      message: `backup of customer ${name} failed after a while`,
    });
    await send({ host: "db1", zone: "a" }, backup("alpha"));
    await send({ host: "db2", rack: "7" }, backup("bravo"));
    await send({ host: "db3" }, backup("charlie"));
    await send({ host: "db4" }, backup("delta"));
    const [open] = (await alerts()).filter(({ state }: { state: string }) => state === "open");
    assert.equal(open.count, 4);
    assert.deepEqual(open.labels, { host: "db4", zone: "a", rack: "7" });
    // Two that were seen in the same second have no order between them.
    assert.equal(open.varied.host[0], "db4");
    assert.deepEqual(open.varied.host.toSorted(), ["db1", "db2", "db3", "db4"]);
    assert.equal(open.title, "backup of customer delta failed after a while");
    const variable = open.title_parts.filter((part: { variable: boolean }) => part.variable);
    assert.deepEqual(variable, [{ text: "delta", variable: true }]);
  });

  test("are written by a firing that is reported again only where it says something new", async () => {
    await rule();
    const firing = { dedup_key: "k", instance: "1" };
    await send({ host: "db7" }, firing);
    const seq = async () => (await alerts())[0].updated_seq;
    const before = await seq();
    await box.clock.turn(10_000);
    await send({ host: "db7" }, firing);
    assert.equal(await seq(), before);
    await send({ host: "db7", value: "97" }, firing);
    assert.notEqual(await seq(), before);
    const [alert] = await alerts();
    assert.deepEqual([alert.count, alert.labels], [1, { host: "db7", value: "97" }]);
  });

  test("of an alert from before there were any are empty, and fill with its next event", async () => {
    await rule();
    await send({ host: "db7" }, { title: "Shop is down" });
    await box.restart(() => {});
    box.tenant.store.write((tx) =>
      tx.sql("UPDATE alerts SET labels = NULL, title = NULL, varied = NULL").run(),
    );
    assert.deepEqual(await latest(), { labels: {}, varied: {}, varied_more: [] });
    assert.equal((await alerts())[0].title, "db of shop is down");
    await send({ host: "db8" });
    assert.deepEqual(await latest(), { labels: { host: "db8" }, varied: {}, varied_more: [] });
  });

  test("a batch that isn't committed leaves nothing in memory", async () => {
    await rule();
    await send({ host: "db7" });
    const { store } = box.tenant;
    const { write } = store;
    store.write = (run, options) =>
      write((tx) => {
        run(tx);
        throw new Error("the disk is full");
      }, options);
    const event = { message: "db of shop is down", level: 500, keys: { host: "db8" } };
    assert.equal((await box.ingest(token, event)).status, 500);
    store.write = write;
    await send({ zone: "a" });
    assert.deepEqual(await latest(), {
      labels: { host: "db7", zone: "a" },
      varied: {},
      varied_more: [],
    });
  });
});

describe("an alert's title", () => {
  test("is what its sender calls it last, else the first line of its last message", async () => {
    await rule();
    const title = async () => (await alerts())[0].title;
    await send(null, { message: "\n  db of shop is down\nsince noon" });
    assert.equal(await title(), "db of shop is down");
    const same = { message: "\n  db of shop is down\nsince noon" };
    await send(null, { ...same, title: "Shop is down" });
    assert.equal(await title(), "Shop is down");
    await send(null, same);
    assert.equal(await title(), "Shop is down");
    await send(null, { ...same, title: "Shop is still down" });
    await box.restart();
    assert.equal(await title(), "Shop is still down");
  });
});

test("words find a title and the values of labels, also those that varied", async () => {
  await rule();
  await send({ host: "db7", zone: "north" }, { title: "Checkout is down" });
  await send({ host: "db8" });
  const found = async (q: string) =>
    (await box.api("GET", `/v1/alerts?q=${encodeURIComponent(q)}`)).body.alerts.length;
  for (const q of ["checkout", "db7", "DB8", "north checkout"]) assert.equal(await found(q), 1, q);
  assert.equal(await found("db9"), 0);
});

describe("what tells an alert apart", () => {
  const apart = async (query = "") => {
    const { alerts } = (await box.api("GET", `/v1/alerts${query}`)).body;
    const said = (of: { apart: { name: string; value: string }[] }) =>
      of.apart.map(({ name, value }) => `${name}=${value}`).join(" ");
    return alerts.map(said);
  };

  test("are the labels that another unresolved alert of its rule lacks or has with other values", async () => {
    await rule({ identifier_keys: ["host"] });
    await send({ zone: "a", host: "db7", service: "shop" });
    assert.deepEqual(await apart(), [""]);
    await send({ zone: "b", host: "db8", service: "shop" });
    await send({ zone: "b", host: "db9", service: "shop", rack: "7" });
    assert.deepEqual(await apart(), [
      "host=db9 zone=b rack=7",
      "host=db8 zone=b",
      "host=db7 zone=a",
    ]);
    const [newest] = await alerts();
    const one = (await box.api("GET", `/v1/alerts/${newest.id}`)).body;
    assert.deepEqual(one.apart, newest.apart);
    const all = (await box.api("GET", `/v1/alerts/${newest.id}/detail`)).body.alert;
    assert.deepEqual(all.apart, newest.apart);
    await box.api("POST", `/v1/alerts/${newest.id}/resolve`);
    assert.deepEqual(await apart("?state=open"), ["host=db8 zone=b", "host=db7 zone=a"]);
    // It differs from what stands by all that they lack.
    assert.deepEqual(await apart("?state=resolved"), ["host=db9 zone=b rack=7"]);
  });

  test("is looked up with one query for each rule of a page", async () => {
    await rule({ identifier_keys: ["host"] });
    for (let n = 0; n < 30; n++) await send({ host: `db${n}` });
    const { store } = box.tenant;
    const asked: string[] = [];
    const { sql } = store;
    store.sql = ((text: string) => {
      if (text.includes("varied_more FROM")) asked.push(text);
      return sql(text);
    }) as typeof sql;
    assert.equal(new Set(await apart()).size, 30);
    store.sql = sql;
    assert.equal(asked.length, 1);
  });
});
