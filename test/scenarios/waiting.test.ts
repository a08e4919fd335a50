import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, test } from "node:test";
import { type TestBox, testBox } from "../support/box.ts";
import { settle } from "../support/until.ts";

/** A rule with for_minutes opens what lasts, and nothing else (contract §22, 8). */

let box: TestBox;
let token: string;
const rule = (more: object = {}) => ({ name: "errors", for_minutes: 10, ...more });
const put = async (more: object) => {
  const { name, ...body } = rule(more);
  assert.equal((await box.api("PUT", `/v1/projects/p/rules/${name}`, body)).status, 200);
  await settle(box);
};
beforeEach(async () => {
  box = await testBox();
  token = await box.project("p");
  await box.api("POST", "/v1/projects/p/rules", rule());
});
afterEach(() => box.stop());

const now = () => Math.floor(box.clock.now() / 1000);
const turn = async (seconds: number) => {
  await box.clock.turn(seconds * 1000);
  await settle(box);
};
const send = async (event: object) => (await box.ingest(token, event)).body;
const named = (more: object = {}) => send({ message: "disk is full", dedup_key: "disk", ...more });
const ended = (more: object = {}) => named({ status: "resolved", ...more });
const alerts = async () => (await box.api("GET", "/v1/alerts")).body.alerts;
const waiting = async () =>
  (await box.api("GET", "/v1/projects/p/rules/errors/waiting")).body.waiting;

describe("what its sender can end", () => {
  test("opens when the time is over, once, also where it was said only once", async () => {
    assert.equal((await named()).alerted, false);
    await turn(599);
    assert.deepEqual(await alerts(), []);
    assert.equal((await waiting()).length, 1);
    await turn(1);
    const [alert, ...others] = await alerts();
    assert.equal(alert.last_message, "disk is full");
    assert.deepEqual(others, []);
    assert.deepEqual(await waiting(), []);
    const { timeline } = (await box.api("GET", `/v1/alerts/${alert.id}/timeline`)).body;
    assert.equal(timeline[0].detail.waited_since, now() - 600);
  });

  test("opens nothing where it ended in time, and starts anew after it", async () => {
    await named();
    await turn(590);
    assert.equal((await ended()).resolved, 0);
    await turn(300);
    assert.deepEqual(await alerts(), []);
    await named();
    await turn(590);
    assert.deepEqual(await alerts(), []);
    await turn(10);
    assert.equal((await alerts()).length, 1);
  });

  test("is forgotten at its end though the rule leaves its alerts to people", async () => {
    await put({ ends_with_source: false });
    await named();
    await ended();
    await turn(700);
    assert.deepEqual(await alerts(), []);
  });

  test("goes on where the end is of an earlier firing", async () => {
    await named({ instance: "200" });
    await ended({ instance: "100" });
    await turn(600);
    assert.equal((await alerts()).length, 1);
  });

  test("is told with its highest level, its last text and all that it said", async () => {
    await named({ level: 400, keys: { host: "a" } });
    await turn(60);
    await named({ level: 500, message: "disk is very full", keys: { host: "b" } });
    await turn(60);
    await named({ level: 300 });
    await turn(480);
    const [alert] = await alerts();
    assert.equal(alert.level, 500);
    assert.equal(alert.count, 3);
    assert.deepEqual(alert.varied.host, ["b", "a"]);
  });

  test("that arrives in the second in which it is due is counted into the alert", async () => {
    await named();
    await box.clock.turn(600_000);
    await named();
    assert.equal((await alerts()).length, 1);
  });
});

describe("what no sender ends", () => {
  const say = () => send({ message: "the queue is long" });

  test("opens where it still came in the last third", async () => {
    await say();
    await turn(400);
    await say();
    await turn(200);
    assert.equal((await alerts())[0].count, 2);
  });

  test("opens nothing where it came no more, and starts anew", async () => {
    await say();
    await turn(399);
    await say();
    await turn(300);
    assert.deepEqual(await alerts(), []);
    await say();
    await turn(500);
    await say();
    await turn(100);
    assert.equal((await alerts())[0].count, 2);
  });

  test("waits only once it has fired", async () => {
    await put({ fire_after: { count: 2, distinct_sources: 1, window_minutes: 5 } });
    await say();
    await turn(250);
    assert.deepEqual(await waiting(), []);
    await say();
    await turn(500);
    await say();
    await turn(100);
    assert.equal((await alerts())[0].count, 3);
  });
});

describe("a box that was off", () => {
  test("waits for the sender's next word, or two minutes, before it opens what was due meanwhile", async () => {
    await named();
    await box.restart(() => box.clock.turn(700_000));
    await settle(box);
    assert.deepEqual(await alerts(), []);
    await turn(119);
    assert.deepEqual(await alerts(), []);
    await turn(1);
    assert.equal((await alerts()).length, 1);
  });

  test("opens it at the sender's word, and forgets it at the sender's end", async () => {
    await named();
    await send({ message: "link is down", dedup_key: "link" });
    await box.restart(() => box.clock.turn(700_000));
    await named();
    await send({ message: "link is up", dedup_key: "link", status: "resolved" });
    await settle(box);
    await turn(1);
    assert.deepEqual(
      (await alerts()).map(({ last_message }: { last_message: string }) => last_message),
      ["disk is full"],
    );
    await turn(900);
    assert.equal((await alerts()).length, 1);
  });

  test("waits for two of the sender's usual intervals", async () => {
    await named({ instance: "1" });
    await turn(200);
    await named({ instance: "1" });
    await box.restart(() => box.clock.turn(700_000));
    await turn(399);
    assert.deepEqual(await alerts(), []);
    await turn(1);
    assert.equal((await alerts()).length, 1);
  });

  test("listens for a third of the time to what has no end", async () => {
    await send({ message: "the queue is long" });
    await send({ message: "the disk is slow" });
    await box.restart(() => box.clock.turn(700_000));
    await turn(150);
    await send({ message: "the queue is long" });
    await turn(1);
    assert.deepEqual(
      (await alerts()).map(({ last_message }: { last_message: string }) => last_message),
      ["the queue is long"],
    );
    await turn(600);
    assert.equal((await alerts()).length, 1);
    assert.deepEqual(await waiting(), []);
  });
});

describe("while something waits", () => {
  test("a clock that is set moves nothing", async () => {
    await named();
    box.clock.setWall(box.clock.now() + 3_600_000);
    await turn(2);
    assert.deepEqual(await alerts(), []);
    box.clock.setWall(box.clock.now() - 7_200_000);
    await turn(590);
    assert.deepEqual(await alerts(), []);
    await turn(10);
    assert.equal((await alerts()).length, 1);
  });

  test("a rule's new time counts from when it fired, and a rule that is gone opens nothing", async () => {
    await named();
    await turn(60);
    await put({ for_minutes: 2 });
    await turn(59);
    assert.deepEqual(await alerts(), []);
    await turn(1);
    assert.equal((await alerts()).length, 1);
    await send({ message: "link is down", dedup_key: "link" });
    await box.api("DELETE", "/v1/projects/p/rules/errors");
    await turn(900);
    assert.equal((await alerts()).length, 1);
  });

  test("a rule that waits no more opens it at once", async () => {
    await named();
    await put({ for_minutes: 0 });
    await turn(1);
    assert.equal((await alerts()).length, 1);
  });

  test("a silence takes it when it opens", async () => {
    await named();
    const until = now() + 3600;
    await box.api("POST", "/v1/silences", {
      project: "p",
      rule: "errors",
      starts_at: now(),
      ends_at: until,
      reason: "work",
    });
    await turn(600);
    assert.notEqual((await alerts())[0].silenced, null);
  });

  test("max_open holds for what opens together", async () => {
    await put({ max_open: 2, identifier_keys: ["host"] });
    for (const host of ["a", "b", "c", "d"])
      await send({ message: "slow", dedup_key: "slow", keys: { host } });
    await turn(600);
    const all = await alerts();
    assert.equal(all.length, 3);
    assert.ok(all.some(({ template }: { template: string }) => /too many to list/.test(template)));
  });

  test("templates that become one open one alert, when the first would have", async () => {
    const say = (word: string) => send({ message: `customer ${word} took far too long` });
    await say("orders");
    await turn(100);
    await say("stock");
    await turn(400);
    await say("mail");
    await turn(100);
    const all = await alerts();
    assert.equal(all.length, 1);
    assert.equal(all[0].count, 3);
  });
});

test("a rule that doesn't wait asks for nothing that waits", async () => {
  await put({ for_minutes: 0 });
  const { store } = box.tenant;
  const asked: string[] = [];
  const prepare = store.db.prepare.bind(store.db);
  store.db.prepare = ((text: string) => {
    asked.push(text);
    return prepare(text);
  }) as typeof store.db.prepare;
  await named();
  await ended();
  await send({ message: "a line like no other before" });
  assert.deepEqual(
    asked.filter((text) => /\bwaiting\b/.test(text)),
    [],
  );
  assert.equal((await alerts()).length, 2);
});
