import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, test } from "node:test";
import { PAGES } from "../../src/tenant/change-listeners.ts";
import { type TestBox, testBox } from "../support/box.ts";
import fc from "../support/property.ts";
import { settle, until } from "../support/until.ts";

let box: TestBox;
beforeEach(async () => {
  box = await testBox();
});
afterEach(() => box.stop());

const changes = async (since: string, more = "") =>
  (await box.api("GET", `/v1/changes?since=${since}${more}`)).body;

/** An open stream: all that it said, and its end. */
async function stream(headers: Record<string, string> = {}) {
  const gone = new AbortController();
  const answer = await fetch(`${box.url}/v1/changes`, {
    headers: { authorization: `Bearer ${box.owner.key}`, accept: "text/event-stream", ...headers },
    signal: gone.signal,
  });
  let said = "";
  const decoder = new TextDecoder();
  const ended = (async () => {
    for await (const chunk of answer.body ?? []) said += decoder.decode(chunk);
  })().catch(() => {});
  const events = () =>
    said
      .split("\n\n")
      .filter((part) => part.includes("event:"))
      .map((part) => ({
        id: /^id: (.*)$/m.exec(part)?.[1] ?? "",
        event: /^event: (.*)$/m.exec(part)?.[1],
        topics: JSON.parse(/^data: (.*)$/m.exec(part)?.[1] ?? "{}").topics,
      }));
  return { answer, events, ended, said: () => said, leave: () => gone.abort() };
}

describe("asked again and again", () => {
  test("it names what is written and what happens to alerts, once each, and nothing of a reader", async () => {
    const { next, reset } = (await box.api("GET", "/v1/changes")).body;
    assert.equal(reset, true);
    assert.deepEqual(await changes(next), { next, reset: false, topics: [] });
    const token = await box.project("shop");
    await box.api("POST", "/v1/projects/shop/rules", { name: "any" });
    await box.ingest(token, { message: "down" });
    await box.api("GET", "/v1/alerts");
    const page = await changes(next);
    assert.equal(page.reset, false);
    for (const topic of ["projects", "project:shop", "rule:shop/any", "alerts", "alert:1"])
      assert.ok(page.topics.includes(topic), topic);
    assert.deepEqual((await changes(page.next)).topics, []);
    await box.api("POST", "/v1/alerts/1/ack");
    assert.deepEqual((await changes(page.next)).topics, ["alerts", "alert:1"]);
  });

  test("a step of a ladder, which pages somebody, names its alert", async () => {
    const token = await box.project("shop");
    const escalations = [{ accounts: [box.owner.accountId], after_minutes: 10 }];
    await box.api("POST", "/v1/projects/shop/rules", { name: "any", escalations });
    await box.ingest(token, { message: "down" });
    await settle(box);
    const { next } = (await box.api("GET", "/v1/changes")).body;
    await box.clock.turn(601_000);
    await settle(box);
    const { topics } = await changes(next);
    for (const topic of ["alerts", "alert:1"]) assert.ok(topics.includes(topic), topics.join());
  });

  test("a silence names the open alerts that it marks, and its end those that it lets go", async () => {
    const token = await box.project("shop");
    await box.api("POST", "/v1/projects/shop/rules", { name: "any" });
    await box.ingest(token, { message: "down" });
    await settle(box);
    const ends = Math.floor(box.clock.now() / 1000) + 3600;
    const before = await changes((await box.api("GET", "/v1/changes")).body.next);
    const asked = { ids: ["1"], verb: "silence", until: ends, reason: "deploy" };
    assert.equal((await box.api("POST", "/v1/alerts/bulk", asked)).status, 200);
    const marked = await changes(before.next);
    for (const topic of ["silences", "alerts", "alert:1"])
      assert.ok(marked.topics.includes(topic), topic);
    await box.clock.turn(3_601_000);
    await settle(box);
    const over = await changes(marked.next);
    for (const topic of ["alerts", "alert:1"]) assert.ok(over.topics.includes(topic), topic);
  });

  test("parked it answers soon after the commit, else when its time is over", async () => {
    const { next } = (await box.api("GET", "/v1/changes")).body;
    const waiting = changes(next, "&wait=30");
    await until(() => box.tenant.changes.listening === 1, "1 listening");
    await box.api("POST", "/v1/projects", { name: "shop" });
    await box.clock.turn(100);
    const page = await waiting;
    assert.deepEqual(page.topics.sort(), ["project:shop", "projects"]);
    const late = changes(page.next, "&wait=30");
    await until(() => box.tenant.changes.listening === 1, "1 listening");
    await box.clock.turn(30_000);
    assert.deepEqual((await late).topics, []);
    assert.equal(box.tenant.changes.listening, 0);
  });

  test("what isn't known is a reset: another start, nonsense, what is too long ago", async () => {
    const { next } = (await box.api("GET", "/v1/changes")).body;
    for (let i = 0; i < 1025; i++) {
      box.tenant.changes.told([{ topic: "people" }]);
      box.tenant.changes.after(null);
    }
    for (const since of [next, "x", "", "0-0", `${next}99999`])
      assert.equal((await changes(since)).reset, true, since);
    const now = (await box.api("GET", "/v1/changes")).body.next;
    await box.restart();
    assert.equal((await changes(now)).reset, true);
  });
});

describe("as a stream", () => {
  test("it goes on, joins what is close together, catches up after a break, beats, and says bye", async () => {
    const open = await stream();
    assert.equal(open.answer.headers.get("content-type"), "text/event-stream");
    await until(() => open.events().length === 1, "event 1");
    assert.equal(open.events()[0]?.event, "reset");
    await box.api("POST", "/v1/projects", { name: "a" });
    await box.api("POST", "/v1/projects", { name: "b" });
    await box.clock.turn(100);
    await until(() => open.events().length === 2, "event 2");
    assert.deepEqual(open.events()[1]?.topics.sort(), ["project:a", "project:b", "projects"]);
    await box.clock.turn(15_000);
    await until(() => open.said().endsWith(": \n\n"), "a beat");
    open.leave();
    await until(() => box.tenant.changes.listening === 0, "0 listening");
    await box.api("POST", "/v1/projects", { name: "c" });
    const again = await stream({ "last-event-id": open.events()[1]?.id ?? "" });
    await until(() => again.events().length === 1, "event 1");
    assert.deepEqual(again.events()[0]?.topics.sort(), ["project:c", "projects"]);
    await box.restart();
    await again.ended;
    assert.equal(again.events().at(-1)?.event, "bye");
  });

  test("while much changes it tells twice a second, and nothing is missed", async () => {
    const open = await stream();
    await until(() => open.events().length === 1, "event 1");
    for (let i = 0; i < 40; i++) {
      box.tenant.changes.told([{ topic: "endpoint", id: `${i}` }]);
      await box.clock.turn(50);
    }
    await box.clock.turn(1000);
    const seen = () => new Set(open.events().flatMap(({ topics }) => topics ?? []));
    await until(() => seen().size === 40, "all are told");
    assert.ok(open.events().length <= 7, `${open.events().length}`);
    open.leave();
  });

  test("pages are told within 20 ms of a pause, ten times a second while much changes, and only of what they show", async () => {
    const { changes: hub } = box.tenant;
    const told: Record<string, number[]> = { list: [], other: [], reader: [] };
    const from = box.clock.mono();
    const listen = (name: string, how?: Parameters<typeof hub.listen>[2]) =>
      hub.listen(name, () => told[name]?.push(box.clock.mono() - from), how);
    const deliveries = (topic: string) => topic.startsWith("deliveries:");
    listen("list", { pace: PAGES, wakes: deliveries });
    listen("other", { pace: PAGES, wakes: (topic) => topic === "people" });
    listen("reader");
    const tell = () => hub.told([{ topic: "endpoint", id: "1" }]);
    tell();
    await box.clock.turn(20);
    assert.deepEqual(told, { list: [20], other: [], reader: [] });
    await box.clock.turn(1000);
    assert.deepEqual(told, { list: [20], other: [], reader: [100] });
    for (let i = 0; i < 200; i++) {
      tell();
      await box.clock.turn(10);
    }
    const { list = [], reader = [] } = told;
    assert.ok(list.length >= 15 && list.length <= 21, `${list.length} in two seconds`);
    assert.ok(list.every((at, i) => i === 0 || at - (list[i - 1] ?? 0) >= 100));
    assert.ok(reader.length <= 6, `${reader.length} in two seconds`);
    // In the middle of what others show.
    hub.told([{ topic: "people" }]);
    await box.clock.turn(70);
    assert.equal(told["other"]?.length, 1);
    assert.ok((told["other"]?.[0] ?? 0) - 3020 <= 70);
  });

  test("one too many is refused, and whoever leaves makes room", async () => {
    const leave = Array.from({ length: 200 }, () =>
      box.tenant.changes.listen(
        box.tenant.store.sql("SELECT id FROM api_keys").pluck().get() as string,
        () => {},
      ),
    );
    const refused = await stream();
    assert.equal(refused.answer.status, 429);
    await refused.ended;
    leave[0]?.();
    const open = await stream();
    assert.equal(open.answer.status, 200);
    open.leave();
    for (const one of leave) one?.();
  });
});

test("whatever is told and asked in whatever order, a reader is told all of it or to read anew", () => {
  const step = fc.oneof(
    fc.record({ tell: fc.array(fc.nat(200), { maxLength: 90 }) }),
    fc.record({ ask: fc.constant(true) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const { changes: hub } = box.tenant;
      let { next } = hub.after(null);
      let owed = new Set<string>();
      for (const one of [...steps, { ask: true }])
        if ("tell" in one) {
          hub.told(one.tell.map((n) => ({ topic: "endpoint", id: `${n}` })));
          for (const n of one.tell) owed.add(`deliveries:${n}`);
        } else {
          const page = hub.after(next);
          assert.equal(page.reset, false);
          assert.deepEqual(new Set(page.topics), owed);
          next = page.next;
          owed = new Set();
        }
    }),
    { numRuns: 200 },
  );
});
