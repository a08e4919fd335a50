import assert from "node:assert/strict";
import { afterEach, beforeEach, describe } from "node:test";
import { countAlerts } from "../../../src/core/alerts/counts.ts";
import { type Person, type TestBox, testBox } from "../../support/box.ts";
import { long, test } from "../../support/long.ts";
import fc from "../../support/property.ts";

/** Occurrences by the minute, and the figures that lists show: kept by whatever is done to alerts. */

let box: TestBox;
let token: string;
let ann: Person;
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
beforeEach(async () => {
  box = await testBox();
  ann = box.person("member", "ann@example.org");
  token = await box.project("shop");
});
afterEach(() => box.stop());

const rule = (more: object = {}) =>
  box.api("POST", "/v1/projects/shop/rules", {
    name: "any",
    identifier_keys: ["n"],
    dedup_window_minutes: 0,
    ...more,
  });
const send = (n: string, more: object = {}) =>
  box.ingest(token, { message: "payment failed", keys: { n }, ...more });
const ALL =
  "(SELECT alert_id, slot, n FROM alert_buckets UNION ALL SELECT alert_id, slot, n FROM alert_minutes)";
const slots = (id = 1) =>
  box.tenant.store
    .sql<[number], { slot: number; n: number }>(
      `SELECT slot, n FROM ${ALL} WHERE alert_id = ? ORDER BY slot`,
    )
    .all(id);
const sums = () =>
  box.tenant.store
    .sql<[], { id: number; count: number; sum: number | null }>(
      `SELECT id, count, (SELECT sum(n) FROM ${ALL} WHERE alert_id = id) AS sum FROM alerts`,
    )
    .all();

/** What the kept figures say, beside what there is. */
function figures() {
  const { store } = box.tenant;
  const count = (where: string) =>
    store.sql<[], number>(`SELECT count(*) FROM alerts WHERE ${where}`).pluck().get();
  const { mine: _, ...kept } = countAlerts(store, { accountId: ann.accountId });
  const real = {
    open: count("state = 'open'"),
    acknowledged: count("state = 'acknowledged'"),
    resolved: count("state = 'resolved'"),
    silenced: count("silenced_by IS NOT NULL"),
  };
  const drifted = store
    .sql<[], number>(
      "SELECT count(*) FROM alert_people p WHERE p.state <> (SELECT state FROM alerts WHERE id = p.alert_id)",
    )
    .pluck()
    .get();
  return { kept, real, drifted };
}

describe("occurrences", () => {
  test("are counted by the minute and shown newest last", async () => {
    await rule();
    for (let i = 0; i < 3; i++) await send("a");
    await box.clock.turn(2 * MINUTE);
    for (let i = 0; i < 2; i++) await send("a");
    const { body } = await box.api("GET", "/v1/alerts?buckets=4");
    assert.deepEqual(body.alerts[0].buckets, [0, 3, 0, 2]);
    assert.equal((await box.api("GET", "/v1/alerts")).body.alerts[0].buckets, undefined);
  });

  test("what a window counted before the alert opened stands where it opened", async () => {
    await rule({ fire_after: { count: 3, window_minutes: 5 } });
    await send("a");
    await box.clock.turn(MINUTE);
    await send("a");
    await send("a");
    assert.deepEqual(
      slots().map(({ n }) => n),
      [3],
    );
  });

  long("are hours after six hours, lose none by it, and go with their alert", async () => {
    await rule();
    for (let i = 0; i < 90; i++) {
      await send("a");
      await box.clock.turn(MINUTE);
    }
    assert.equal(slots().length, 90);
    await box.clock.turn(5 * HOUR);
    assert.ok(slots().length > 30, "the younger hour is kept by the minute");
    await box.clock.turn(3 * HOUR);
    const merged = slots();
    assert.ok(merged.length <= 3, `${merged.length} slots`);
    assert.ok(merged.every(({ slot }) => slot % 3600 === 0));
    assert.equal(
      merged.reduce((sum, { n }) => sum + n, 0),
      90,
    );
    await box.api("DELETE", "/v1/projects/shop");
    assert.deepEqual(slots(), []);
  });

  long(
    "of many alerts touch few pages, and minutes of one that is gone go by themselves",
    async () => {
      await rule({ max_open: 0 });
      const { store } = box.tenant;
      const lines = (n: number) =>
        Array.from({ length: n }, (_, i) =>
          JSON.stringify({ message: "payment failed", keys: { n: `${i}` } }),
        ).join("\n");
      const sendAll = (n: number) =>
        fetch(`${box.url}/v1/ingest`, {
          method: "POST",
          headers: { authorization: `Bearer ${token}`, "content-type": "application/x-ndjson" },
          body: lines(n),
        }).then(async (answer) => assert.equal(answer.status, 202, await answer.text()));
      for (let minute = 0; minute < 30; minute++) {
        await sendAll(50);
        await box.clock.turn(MINUTE);
      }
      const isOfLatest =
        "SELECT count(*) FROM alert_minutes WHERE slot = (SELECT max(slot) FROM alert_minutes)";
      assert.equal(store.sql<[], number>(isOfLatest).pluck().get(), 50);
      const key = store
        .sql<[], { name: string; seqno: number }>(
          "SELECT name, seqno FROM pragma_index_info('sqlite_autoindex_alert_minutes_1')",
        )
        .all();
      assert.deepEqual(
        key.map(({ name }) => name),
        ["slot", "alert_id"],
      );
      await box.api("DELETE", "/v1/projects/shop");
      await box.clock.turn(8 * HOUR);
      assert.equal(store.sql<[], number>(`SELECT count(*) FROM ${ALL}`).pluck().get(), 0);
    },
  );

  test("a batch that isn't committed leaves neither rows nor counts in memory", async () => {
    await rule();
    await send("a");
    const { store } = box.tenant;
    store.db.exec(
      "CREATE TEMP TRIGGER refuse BEFORE UPDATE OF count ON main.alerts BEGIN SELECT RAISE(ABORT, 'no'); END",
    );
    assert.equal((await send("a")).status, 500);
    store.db.exec("DROP TRIGGER refuse");
    await send("a");
    assert.deepEqual(sums(), [{ id: 1, count: 2, sum: 2 }]);
  });
});

test("whatever happens, minutes add up to counts, and kept figures are what there is", async () => {
  await rule({
    reopen_within_seconds: 120,
    auto_resolve_quiet_minutes: 30,
    max_open: 4,
    escalations: [{ after_minutes: 1, accounts: [ann.accountId] }],
  });
  const id = fc.integer({ min: 1, max: 8 });
  const steps = fc.array(
    fc.oneof(
      {
        weight: 4,
        arbitrary: fc.record({ send: fc.constantFrom("a", "b", "c", "d", "e", "f") }),
      },
      fc.record({ say: fc.constantFrom("ack", "unack", "resolve"), id }),
      fc.record({ turn: fc.constantFrom(1, 2, 31) }),
      fc.record({ silence: fc.constantFrom(1, 5) }),
      fc.record({ name: fc.constantFrom("x", "y"), status: fc.constantFrom("firing", "resolved") }),
    ) as fc.Arbitrary<Record<string, string | number>>,
    { minLength: 1, maxLength: 25 },
  );
  await fc.assert(
    fc.asyncProperty(steps, async (all) => {
      for (const step of all) {
        if ("send" in step) await send(String(step["send"]));
        if ("say" in step) await box.api("POST", `/v1/alerts/${step["id"]}/${step["say"]}`);
        if ("turn" in step) await box.clock.turn(Number(step["turn"]) * MINUTE);
        if ("silence" in step) {
          const ends_at = Math.floor(box.clock.now() / 1000) + Number(step["silence"]) * 60;
          const match = { rule: "any", identifiers: { n: "a" } };
          await box.api("POST", "/v1/silences", { match, ends_at, reason: "r" });
        }
        if ("name" in step) await send("n", { dedup_key: step["name"], status: step["status"] });
      }
      for (const { id: of, count, sum } of sums()) assert.equal(sum, count, `alert ${of}`);
      const { kept, real, drifted } = figures();
      assert.deepEqual(kept, real);
      assert.equal(drifted, 0);
    }),
    { numRuns: 30 },
  );
});

describe("whose an alert is", () => {
  test("whom it paged, who was given it and who acknowledged it have it among theirs", async () => {
    const bob = box.person("member", "bob@example.org");
    await rule({ escalations: [{ after_minutes: 0, accounts: [ann.accountId] }] });
    for (const n of ["a", "b", "c"]) await send(n);
    await box.api("POST", "/v1/alerts/1/ack", undefined, bob.key);
    await box.api("POST", "/v1/alerts/2/assign", { accounts: [bob.accountId] });
    const mine = async (key: string, more = "") => {
      const { body } = await box.api(
        "GET",
        `/v1/alerts?mine=true&counts=true${more}`,
        undefined,
        key,
      );
      return [body.alerts.map((one: { id: string }) => one.id), body.counts.mine];
    };
    assert.deepEqual(await mine(ann.key), [["3", "2", "1"], 3]);
    assert.deepEqual(await mine(bob.key, "&order=need"), [["2", "1"], 2]);
    assert.deepEqual(await mine(box.owner.key), [[], 0]);
    await box.api("POST", "/v1/alerts/1/resolve", undefined, ann.key);
    assert.deepEqual(await mine(bob.key), [["2", "1"], 1]);
    assert.deepEqual(await mine(bob.key, "&state=open,acknowledged"), [["2"], 1]);
    const { body } = await box.api("GET", "/v1/alerts/1");
    const now = Math.floor(box.clock.now() / 1000);
    assert.deepEqual(
      [body.opened_at, body.acked_at, body.acked_by, body.resolved_at],
      [now, now, bob.accountId, now],
    );
    await box.api("DELETE", "/v1/projects/shop");
    assert.deepEqual(await mine(bob.key), [[], 0]);
  });
});

test("a query that can't go together or is none is refused", async () => {
  const refused = async (query: string) => (await box.api("GET", `/v1/alerts?${query}`)).body.error;
  for (const query of [
    "q=a&before=3",
    "mine=true&since_seq=0",
    "order=need&after=x",
    "after=9.1.1",
  ])
    assert.equal((await refused(query))?.code, "invalid_request", query);
  for (const query of [
    "state=open,gone",
    "state=",
    "mine=yes",
    "buckets=0",
    `q=${"x".repeat(201)}`,
  ])
    assert.equal((await refused(query))?.code, "invalid_request", query);
  assert.equal(await refused("state=open,open,resolved&silenced=false&min_level=3"), undefined);
});
