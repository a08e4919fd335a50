import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, test } from "node:test";
import { type TestBox, testBox } from "../support/box.ts";

/** Names of a message vary, so all of them join one alert. An acknowledgement is only for those that it held. */

let box: TestBox;
let token: string;
beforeEach(async () => {
  box = await testBox();
  token = await box.project("p");
  await box.api("POST", "/v1/projects/p/rules", {
    name: "down",
    identifier_keys: ["site"],
    escalations: [{ accounts: [box.owner.accountId], after_minutes: 0 }],
  });
});
afterEach(() => box.stop());

/** What one event makes of the only alert's state. */
const after = async (message: string, more: object = {}) => {
  const answer = await box.ingest(token, { message, level: 400, ...more });
  assert.equal(answer.status, 202);
  await box.clock.turn(1000);
  return (await only()).state;
};
const only = async () => {
  const { alerts } = (await box.api("GET", "/v1/alerts")).body;
  assert.equal(alerts.length, 1);
  return alerts[0] as { id: string; state: string };
};
const acknowledge = async () => {
  await box.api("POST", `/v1/alerts/${(await only()).id}/ack`);
  assert.equal((await only()).state, "acknowledged");
};
const history = async (): Promise<{ kind: string; detail: Record<string, unknown> }[]> =>
  (await box.api("GET", `/v1/alerts/${(await only()).id}/timeline`)).body.timeline;

describe("an acknowledged alert", () => {
  test("opens again, told and with its ladder, for a name that it didn't hold", async () => {
    await after("orders-api is down");
    await acknowledge();
    assert.equal(await after("orders-api is down"), "acknowledged");
    const before = (await history()).length;
    assert.equal(await after("billing-api is down"), "open");
    const news = (await history()).slice(before);
    assert.deepEqual(
      news.map(({ kind }) => kind),
      ["joined", "unacknowledged", "renotified", "escalated"],
    );
    assert.equal(news[0]?.detail["what"], "billing-api is down");
  });

  for (const [first, second] of [
    ["snapshot orders is missing", "snapshot billing is missing"],
    ["lost the queue: orders", "lost the queue: billing"],
    ['no way to subnet "orders": refused', 'no way to subnet "billing": refused'],
    ["lost partitions [orders, mail]", "lost partitions [billing]"],
    ["peer orders-3 is gone", "peer billing-3 is gone"],
  ] as const)
    test(`opens again for another name: ${second}`, async () => {
      await after(first);
      await acknowledge();
      assert.equal(await after(second), "open");
    });

  test("stays with whoever has it for names that it held when they took it, and for numbers", async () => {
    await after("orders-api lost 3 packets");
    await after("billing-api lost 4 packets");
    await acknowledge();
    for (const said of [
      "orders-api lost 7 packets",
      "billing-api lost 9 packets",
      "orders-api lost 3 packets",
    ])
      assert.equal(await after(said), "acknowledged");
  });

  test("opens once in five minutes for further names, at once for one that is worse", async () => {
    await after("orders-api is down");
    await acknowledge();
    assert.equal(await after("billing-api is down"), "open");
    await acknowledge();
    assert.equal(await after("mail-api is down"), "acknowledged");
    await box.clock.turn(300_000);
    assert.equal((await only()).state, "open");
    await acknowledge();
    assert.equal(await after("web-api is down", { level: 500 }), "open");
  });

  test("is one of lines that always differ after five texts: a sixth is no news", async () => {
    for (const name of ["orders", "billing", "mail", "web", "stock"])
      await after(`${name}-api is down`);
    await acknowledge();
    await box.clock.turn(600_000);
    assert.equal(await after("shop-api is down"), "acknowledged");
  });

  test("holds after a start what its last message said", async () => {
    await after("orders-api is down");
    await after("billing-api is down");
    await acknowledge();
    await box.restart();
    assert.equal(await after("billing-api is down"), "acknowledged");
    assert.equal(await after("orders-api is down"), "open");
  });

  test("is left alone where its sender says what is one trouble", async () => {
    const named = { dedup_key: "db", status: "firing" };
    await after("orders-api is down", named);
    await acknowledge();
    assert.equal(await after("billing-api is down", named), "acknowledged");
  });

  test("is told what a batch that was undone had brought, once it comes again", async () => {
    await after("orders-api is down");
    await acknowledge();
    box.tenant.store.write((tx) =>
      tx.db.exec(`CREATE TRIGGER bad BEFORE INSERT ON timeline WHEN NEW.kind = 'joined'
        BEGIN SELECT RAISE(ABORT, 'bad'); END`),
    );
    assert.equal((await box.ingest(token, { message: "billing-api is down" })).status, 500);
    box.tenant.store.write((tx) => tx.db.exec("DROP TRIGGER bad"));
    assert.equal(await after("billing-api is down"), "open");
  });

  test("of before is none of a later alert's", async () => {
    await after("orders-api is down");
    await after("billing-api is down");
    await box.api("POST", `/v1/alerts/${(await only()).id}/resolve`);
    await box.ingest(token, { message: "orders-api is down", level: 400 });
    const { alerts } = (await box.api("GET", "/v1/alerts?state=open")).body;
    await box.api("POST", `/v1/alerts/${alerts[0].id}/ack`);
    await box.ingest(token, { message: "billing-api is down", level: 400 });
    await box.clock.turn(1000);
    assert.equal((await box.api("GET", `/v1/alerts/${alerts[0].id}`)).body.state, "open");
  });
});
