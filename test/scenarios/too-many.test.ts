import assert from "node:assert/strict";
import { afterEach, beforeEach, describe } from "node:test";
import { type TestBox, testBox } from "../support/box.ts";
import { long, test } from "../support/long.ts";
import fc from "../support/property.ts";

/** A rule whose alerts are too many to list: its further keys share one. */

let box: TestBox;
let token: string;
beforeEach(async () => {
  box = await testBox();
  token = await box.project("p");
});
afterEach(() => box.stop());

const rule = (more: object = {}) =>
  box.api("POST", "/v1/projects/p/rules", {
    name: "errors",
    identifier_keys: ["n"],
    max_open: 3,
    ...more,
  });
const send = async (n: string | number, more: object = {}) => {
  const answer = await box.ingest(token, { message: "it is down", keys: { n: `${n}` }, ...more });
  assert.equal(answer.status, 202);
  return answer.body;
};
const together = (events: readonly object[]) =>
  fetch(`${box.url}/v1/ingest`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/x-ndjson" },
    body: events.map((event) => JSON.stringify(event)).join("\n"),
  });

interface Shown {
  id: string;
  state: string;
  count: number;
  template: string;
  last_message: string;
  level: number;
  identifiers: Record<string, string>;
}
const alerts = async (query = ""): Promise<Shown[]> =>
  (await box.api("GET", `/v1/alerts?limit=500${query}`)).body.alerts;
const shared = ({ template }: Shown) => template === "errors: too many to list";
const standing = async () => (await alerts()).filter(({ state }) => state !== "resolved");
const resolve = (id: string) => box.api("POST", `/v1/alerts/${id}/resolve`);
const ofKey = async (n: string | number) =>
  (await standing()).find(({ identifiers }) => identifiers["n"] === `${n}`);
const kinds = async (id: string): Promise<string[]> =>
  (await box.api("GET", `/v1/alerts/${id}/timeline`)).body.timeline.map(
    ({ kind }: { kind: string }) => kind,
  );

describe("a rule with as many unresolved alerts as it may have", () => {
  test("counts its further keys into one that names them and pages once", async () => {
    const step = { accounts: [box.owner.accountId], after_minutes: 0 };
    await rule({ escalations: [step] });
    for (let n = 1; n <= 12; n++) assert.equal((await send(n, { level: n * 10 })).alerted, true);
    const all = await alerts();
    assert.equal(all.length, 4);
    const [many] = all.filter(shared);
    assert.deepEqual([many?.count, many?.level, many?.identifiers], [9, 120, {}]);
    assert.equal(
      many?.last_message,
      "errors: too many to list: 3 alerts of this rule aren't resolved, and 9 more events are counted here. The latest: n=12; n=11; n=10; n=9; n=8",
    );
    const told = await kinds(many?.id ?? "");
    assert.equal(told.filter((kind) => kind === "escalated").length, 1);
    await send(2);
    assert.equal((await ofKey(2))?.count, 2, "a key with an alert of its own keeps it");
    assert.equal((await standing()).filter(shared)[0]?.count, 9);
  });

  test("has room again for each that is resolved; the shared one stays until somebody ends it", async () => {
    await rule();
    for (let n = 1; n <= 5; n++) await send(n);
    await resolve((await ofKey(1))?.id ?? "");
    await send(6);
    assert.equal((await ofKey(6))?.count, 1);
    await send(7);
    const [many, ...more] = (await standing()).filter(shared);
    assert.deepEqual([many?.count, more.length], [3, 0]);
    await resolve(many?.id ?? "");
    assert.equal((await standing()).length, 3);
    await send(8);
    const [next] = (await standing()).filter(shared);
    assert.ok(next !== undefined && next.id !== many?.id);
    assert.match(next.last_message, /1 more event is counted here. The latest: n=8$/);
  });

  test("counts anew after a start, in a batch, and after one that was undone", async () => {
    await rule();
    await send(1);
    await box.restart();
    box.tenant.store.write((tx) =>
      tx.db.exec(`CREATE TRIGGER bad BEFORE INSERT ON alerts WHEN NEW.last_message = 'bad'
        BEGIN SELECT RAISE(ABORT, 'bad'); END`),
    );
    const event = (n: number, message = "it is down") => ({ message, keys: { n: `${n}` } });
    // What opened in it before the fault never was.
    assert.equal((await together([event(2), event(3, "bad")])).status, 500);
    assert.equal((await standing()).length, 1);
    assert.equal((await together([event(2), event(3), event(4), event(5)])).status, 202);
    const now = await standing();
    assert.equal(now.filter((one) => !shared(one)).length, 3);
    assert.equal(now.find(shared)?.count, 2);
    await box.restart();
    await send(6);
    assert.deepEqual([(await standing()).length, (await standing()).find(shared)?.count], [4, 3]);
  });

  test("never ends the shared one by a sender's word; what fires again has its own where there is room", async () => {
    await rule();
    for (let n = 1; n <= 4; n++) await send(n, { dedup_key: `k${n}` });
    const answer = await send(4, { dedup_key: "k4", status: "resolved" });
    assert.deepEqual([answer.alerted, answer.resolved], [false, 0]);
    assert.equal((await standing()).filter(shared).length, 1);
    await send(1, { dedup_key: "k1", status: "resolved" });
    await send(4, { dedup_key: "k4" });
    assert.equal((await ofKey(4))?.count, 1);
    assert.match((await standing()).find(shared)?.last_message ?? "", /n=4$/);
  });

  test("ends by quiet where its rule says so", async () => {
    await rule({ auto_resolve_quiet_minutes: 5 });
    for (let n = 1; n <= 4; n++) await send(n);
    await box.clock.turn(3 * 60_000);
    await send(9);
    await box.clock.turn(3 * 60_000);
    assert.deepEqual((await standing()).map(shared), [true]);
    await box.clock.turn(3 * 60_000);
    assert.deepEqual(await standing(), []);
  });

  describe("that somebody has", () => {
    const many = async () => (await standing()).find(shared) as Shown;
    const ack = async () => {
      const { id } = await many();
      assert.equal((await box.api("POST", `/v1/alerts/${id}/ack`)).status, 200);
      await box.clock.turn(1000);
      assert.equal((await many()).state, "acknowledged");
      return id;
    };
    /** What one event makes of the shared alert's state. */
    const after = async (n: string | number, more: object = {}) => {
      await send(n, more);
      await box.clock.turn(1000);
      return (await many()).state;
    };
    const full = async () => {
      const step = { accounts: [box.owner.accountId], after_minutes: 0 };
      await rule({ escalations: [step] });
      for (let n = 1; n <= 5; n++) await send(n, { level: 300 });
    };

    test("opens again for a key that it didn't hold, told and with its ladder from the first step", async () => {
      await full();
      const id = await ack();
      const before = (await kinds(id)).length;
      assert.equal(await after("new", { level: 500 }), "open");
      const news = (await kinds(id)).slice(before);
      assert.deepEqual(news, ["joined", "unacknowledged", "renotified", "escalated"]);
      assert.equal((await many()).level, 500);
    });

    test("stays with whoever has it while only what it held comes again, as bad as it was", async () => {
      await full();
      await ack();
      for (const n of [4, 5, 4]) assert.equal(await after(n, { level: 300 }), "acknowledged");
      assert.equal((await many()).count, 5);
      assert.equal(await after(4, { level: 400 }), "open", "worse than it was");
    });

    test("opens once in five minutes for what goes on coming, and at once for what is worse", async () => {
      await full();
      await ack();
      assert.equal(await after("a", { level: 300 }), "open");
      await ack();
      assert.equal(await after("b", { level: 300 }), "acknowledged");
      assert.equal(await after("c", { level: 300 }), "acknowledged");
      const joins = (await kinds((await many()).id)).filter((kind) => kind === "joined");
      assert.equal(joins.length, 2, "one for each time that it opens");
      await box.clock.turn(300_000);
      assert.equal((await many()).state, "open");
      await ack();
      assert.equal(await after("d", { level: 500 }), "open");
    });

    test("opens again before a snooze is over, and for all keys where nobody knows what it held", async () => {
      await full();
      const id = (await many()).id;
      const until = Math.floor(box.clock.now() / 1000) + 3600;
      await box.api("POST", `/v1/alerts/${id}/snooze`, { until });
      assert.equal(await after("x", { level: 300 }), "open");
      await box.clock.turn(600_000);
      await ack();
      await box.restart();
      assert.equal(await after(4, { level: 300 }), "open");
    });

    test("opens again for a key that was over, by its sender or as an alert of its own", async () => {
      const named = (n: number, more: object = {}) => ({ dedup_key: `k${n}`, level: 300, ...more });
      await rule();
      for (let n = 1; n <= 5; n++) await send(n, named(n));
      await ack();
      await send(4, named(4, { status: "resolved" }));
      assert.equal(await after(5, named(5)), "acknowledged");
      assert.equal(await after(4, named(4)), "open");
      await box.clock.turn(600_000);
      await ack();
      await resolve((await ofKey(1))?.id ?? "");
      await send(5, named(5));
      await resolve((await ofKey(5))?.id ?? "");
      await send(8, named(8));
      assert.equal(await after(5, named(5)), "open");
    });

    test("is told what a batch that was undone had brought, once it comes again", async () => {
      await full();
      await ack();
      box.tenant.store.write((tx) =>
        tx.db.exec(`CREATE TRIGGER bad BEFORE INSERT ON timeline WHEN NEW.kind = 'joined'
          BEGIN SELECT RAISE(ABORT, 'bad'); END`),
      );
      const answer = await box.ingest(token, { message: "it is down", keys: { n: "new" } });
      assert.equal(answer.status, 500);
      box.tenant.store.write((tx) => tx.db.exec("DROP TRIGGER bad"));
      assert.equal(await after("new"), "open");
    });
  });

  test("is 200 unless the rule says else; no bound with 0, and for rules from before there was a choice", async () => {
    await rule({ max_open: undefined });
    const { body } = await box.api("GET", "/v1/projects/p/rules/errors");
    assert.equal(body.max_open, 200);
    const flood = Array.from({ length: 210 }, (_, n) => ({ message: "x", keys: { n: `${n}` } }));
    assert.equal((await together(flood)).status, 202);
    assert.equal((await standing()).length, 201);
    assert.equal((await rule({ name: "bad", max_open: -1 })).status, 400);
    assert.equal((await rule({ name: "bad", max_open: 100_001 })).status, 400);
    await box.api("PUT", "/v1/projects/p/rules/errors", { ...ruleBody, max_open: 0 });
    await send("new");
    assert.equal((await ofKey("new"))?.count, 1);
    await box.api("PUT", "/v1/projects/p/rules/errors", ruleBody);
    await send("newer");
    assert.equal(await ofKey("newer"), undefined);
    box.tenant.store.write((tx) =>
      tx.db.exec("UPDATE rules SET body = json_remove(body, '$.max_open')"),
    );
    await box.restart();
    assert.equal((await box.api("GET", "/v1/projects/p/rules/errors")).body.max_open, 0);
    await send("newest");
    assert.equal((await ofKey("newest"))?.count, 1);
  });

  long("holds whatever comes and ends in whatever order, over starts", async () => {
    await rule({ max_open: 2, identifier_keys: ["n"] });
    const keys = new Map<number, number>();
    let many: number | null = null;
    const step = fc.oneof(
      {
        weight: 6,
        arbitrary: fc.record({ do: fc.constant("fire"), n: fc.integer({ min: 0, max: 6 }) }),
      },
      {
        weight: 3,
        arbitrary: fc.record({ do: fc.constant("end"), n: fc.integer({ min: 0, max: 6 }) }),
      },
      { weight: 1, arbitrary: fc.record({ do: fc.constant("end shared"), n: fc.constant(0) }) },
      { weight: 1, arbitrary: fc.record({ do: fc.constant("start"), n: fc.constant(0) }) },
    );
    const end = async (id: string | undefined) => id !== undefined && (await resolve(id));
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        for (const { do: what, n } of steps) {
          if (what === "start") await box.restart();
          if (what === "end") {
            await end((await ofKey(n))?.id);
            keys.delete(n);
          }
          if (what === "end shared") {
            await end((await standing()).find(shared)?.id);
            many = null;
          }
          if (what === "fire") {
            await send(n);
            if (keys.has(n) || keys.size < 2) keys.set(n, (keys.get(n) ?? 0) + 1);
            else many = (many ?? 0) + 1;
          }
        }
        const now = await standing();
        assert.equal(now.find(shared)?.count ?? null, many);
        assert.deepEqual(
          now
            .filter((one) => !shared(one))
            .map((one) => [Number(one.identifiers["n"]), one.count])
            .sort(),
          [...keys].sort(),
        );
      }),
      { numRuns: 20 },
    );
  });
});

const ruleBody = { identifier_keys: ["n"] };
