import assert from "node:assert/strict";
import { systemClock } from "../../../src/ground/kit/clock.ts";
import { systemRandom } from "../../../src/ground/kit/random.ts";
import type { ClaimTaken } from "../../../src/hosted/registry/claims.ts";
import { postgresClaims } from "../../../src/hosted/registry/postgres/claims.ts";
import { postgresDevices } from "../../../src/hosted/registry/postgres/devices.ts";
import type { DatabaseValue } from "../../../src/hosted/registry/postgres/line.ts";
import { migrateDatabase } from "../../../src/hosted/registry/postgres/migrate.ts";
import { plainSealer } from "../../support/hosted.ts";
import { postgresTest, testDatabase } from "../../support/postgres.ts";
import { claimStories, cutStories } from "./claim-stories.ts";
import { NOON, type NounBench, nounBench } from "./nouns.ts";

const HOUR = 3_600_000;
const page = (tenantId: string, alertId = "1") => ({
  tenantId,
  alertId,
  event: "alert.opened",
  timestamp: 1_767_600_000,
});
const taken = (result: ClaimTaken) => {
  if (result.kind !== "taken") throw new Error(result.kind);
  return result;
};

postgresTest(
  "a page is held by one of two nodes, whatever their clocks say, until the hold is over",
  async (t) => {
    const bench = await nounBench(t);
    const [early, late] = [bench.node("early", -HOUR), bench.node("late", HOUR)];
    const { tenantId, relayKeyId } = await bench.box();
    const by = { relayKeyId };
    const first = taken(await early.claims.take(page(tenantId), by));
    assert.deepEqual(await late.claims.take(page(tenantId), by), { kind: "in_flight" });
    assert.deepEqual(await late.claims.holders(tenantId), [first.claim.holder]);
    await bench.made.turn(15_000);
    assert.deepEqual(await late.claims.take(page(tenantId), by), { kind: "in_flight" });
    await bench.made.turn(1);
    const second = taken(await late.claims.take(page(tenantId), by));
    // A node that stood still ends nothing, but its reached devices count.
    await early.claims.settle(first.claim, { reached: ["aa"], done: true, devices: 1 });
    assert.deepEqual(await early.claims.take(page(tenantId), by), { kind: "in_flight" });
    await late.claims.settle(second.claim, { reached: ["bb"], done: false, devices: 1 });
    const third = taken(await early.claims.take(page(tenantId), by));
    assert.deepEqual(third.reached, ["aa", "bb"]);
    const last = { reached: ["bb", "cc"], done: true, devices: 3 };
    await early.claims.settle(third.claim, last);
    await early.claims.settle(third.claim, last);
    assert.deepEqual(await late.claims.take(page(tenantId), by), { kind: "done", devices: 3 });
    assert.deepEqual(await late.claims.holders(tenantId), []);
  },
);

/**
 * Calls while another transaction has locked the row that `first` names, and checks that the row `last` is free
 * meanwhile: rows are locked in one order, whatever their order in the table or in the call.
 */
async function inOrder(
  { database, waiting }: NounBench,
  { first, last, ask }: { first: string; last: string; ask(): Promise<unknown> },
): Promise<void> {
  const asked = await database.transaction(async (tx) => {
    await tx.query(`${first} FOR UPDATE`);
    const answer = ask();
    await waiting(1);
    const free = await database.query(`${last} FOR UPDATE SKIP LOCKED`);
    return { answer, free: free.length };
  });
  await asked.answer;
  assert.equal(asked.free, 1, last);
}

postgresTest(
  "statements that change many rows lock them in one order, so that none deadlock",
  async (t) => {
    const bench = await nounBench(t);
    const node = bench.node("a");
    const [one, two] = [await bench.box(), await bench.box()];
    // The last ones are the first in their tables.
    await bench.database.query(
      "INSERT INTO accounts (id, email, email_folded) VALUES ('o', 'o', 'o')",
    );
    const devices = postgresDevices(node.deps);
    const tokens = ["a", "b"];
    const put = async () => {
      for (const token of tokens.toReversed())
        await devices.put({ accountId: "o", token, platform: "ios", criticalAlerts: false });
    };
    await put();
    const device = (token: string) => `SELECT 1 FROM devices WHERE token = '${token}'`;
    for (const asked of [tokens, tokens.toReversed()])
      for (const verdicts of [
        { gone: [], bad: asked },
        { gone: asked.map((token) => ({ token, atMs: null })), bad: [] },
      ]) {
        await inOrder(bench, {
          first: device("a"),
          last: device("b"),
          ask: () => devices.retire({ readAtMs: NOON, ...verdicts }),
        });
        await put();
      }
    for (const { tenantId, relayKeyId } of [two, one]) {
      await node.claims.take(page(tenantId), { relayKeyId });
      await node.heartbeats.beat({ tenantId, relayKeyId, stamp: 1 });
      await bench.made.turn(1);
    }
    const of = (table: string, { tenantId }: { tenantId: string }) =>
      `SELECT 1 FROM ${table} WHERE tenant_id = '${tenantId}'`;
    await inOrder(bench, {
      first: of("relay_claims", one),
      last: of("relay_claims", two),
      ask: () => node.claims.releaseMine(),
    });
    assert.deepEqual(await node.claims.holders(two.tenantId), []);
    // The clock is set back behind the time of their heartbeats.
    await bench.made.turn(-HOUR);
    await inOrder(bench, {
      first: of("heartbeats", one),
      last: of("heartbeats", two),
      ask: () => node.heartbeats.look(120),
    });
  },
);

postgresTest(
  "of many requests for a page on two nodes one claims it, and each gets its own page's answer",
  async (t) => {
    const bench = await nounBench(t);
    const nodes = [bench.node("a"), bench.node("b")];
    const { tenantId, relayKeyId } = await bench.box();
    const asked = Array.from({ length: 120 }, (_, n) => ({
      node: nodes[n % 2] ?? bench.node("c"),
      // A page must not be lost because of a character that PostgreSQL can't store.
      alertId: `\0${n % 30}`,
    }));
    const results = await Promise.all(
      asked.map(({ node, alertId }) => node.claims.take(page(tenantId, alertId), { relayKeyId })),
    );
    const byPage = Map.groupBy(results.entries(), ([at]) => asked[at]?.alertId);
    assert.equal(byPage.size, 30);
    for (const of of byPage.values())
      assert.deepEqual(of.map(([, { kind }]) => kind).sort(), [
        "in_flight",
        "in_flight",
        "in_flight",
        "taken",
      ]);
    const ids = results.flatMap((one) => (one.kind === "taken" ? [one.claim.id] : []));
    assert.equal(new Set(ids).size, 30);
  },
);

postgresTest(
  "a key must be live in the statement that takes the hold, and belong to the tenant",
  async (t) => {
    const bench = await nounBench(t);
    const node = bench.node("a");
    const [box, other] = [await bench.box(), await bench.box()];
    const { relayKeyId } = box;
    assert.deepEqual(await node.claims.take(page(other.tenantId), { relayKeyId }), {
      kind: "revoked",
    });
    assert.equal(
      (await node.claims.take(page(box.tenantId, "2"), { relayKeyId: null })).kind,
      "taken",
    );
    await bench.database.query("UPDATE relay_keys SET revoked_at = now() WHERE id = $1", [
      relayKeyId,
    ]);
    assert.deepEqual(await node.claims.take(page(box.tenantId), { relayKeyId }), {
      kind: "revoked",
    });
    assert.deepEqual(await node.claims.holders(box.tenantId).then(({ length }) => length), 1);
  },
);

postgresTest("a revocation sees every hold that was taken with the key", async (t) => {
  const bench = await nounBench(t);
  const node = bench.node("a");
  const { tenantId, relayKeyId } = await bench.box();
  let during: Promise<ClaimTaken> | null = null;
  await bench.database.transaction(async (tx) => {
    await tx.query("UPDATE relay_keys SET revoked_at = now() WHERE id = $1", [relayKeyId]);
    during = node.claims.take(page(tenantId), { relayKeyId });
    // This doesn't wait, because pages of other boxes are in the same statement.
    assert.deepEqual(await during, { kind: "in_flight" });
  });
  assert.deepEqual(await node.claims.take(page(tenantId), { relayKeyId }), { kind: "revoked" });
  assert.deepEqual(await node.claims.holders(tenantId), []);
});

postgresTest(
  "a hold whose answer was lost with the connection is the same hold when it is asked for again",
  async (t) => {
    const bench = await nounBench(t);
    const { tenantId, relayKeyId } = await bench.box();
    const node = bench.node("a");
    const { database } = node.deps;
    // The first answer is lost after the commit.
    let lost = 0;
    const query: typeof database.query = async (sql, values, limits) => {
      const rows = await database.query<never>(sql, values, limits);
      if (!sql.includes("INSERT INTO relay_claims") || lost++ > 0) return rows;
      return database.query<never>(sql, values, limits);
    };
    const claims = postgresClaims({ ...node.deps, database: { ...database, query } });
    const held = taken(await claims.take(page(tenantId), { relayKeyId }));
    assert.deepEqual(await claims.holders(tenantId), [held.claim.holder]);
  },
);

postgresTest("a node that starts frees its own holds, and no other node's", async (t) => {
  const bench = await nounBench(t);
  const { tenantId } = await bench.box();
  const [a, b] = [bench.node("node-1"), bench.node("node-10")];
  const by = { relayKeyId: null };
  await a.claims.take(page(tenantId, "a"), by);
  await b.claims.take(page(tenantId, "b"), by);
  await bench.node("node-1").claims.releaseMine();
  assert.equal((await b.claims.take(page(tenantId, "a"), by)).kind, "taken");
  assert.equal((await a.claims.take(page(tenantId, "b"), by)).kind, "in_flight");
});

postgresTest(
  "a database whose clock is behind its predecessor's keeps no page held for longer than a minute",
  async (t) => {
    const bench = await nounBench(t);
    const { tenantId } = await bench.box();
    const [dead, alive] = [bench.node("dead"), bench.node("alive")];
    const by = { relayKeyId: null };
    await dead.claims.take(page(tenantId), by);
    await bench.made.turn(-HOUR);
    const next = taken(await alive.claims.take(page(tenantId), by));
    assert.deepEqual(await dead.claims.take(page(tenantId), by), { kind: "in_flight" });
    assert.deepEqual(await dead.claims.holders(tenantId), [next.claim.holder]);
    // A request from a little before the hold was taken sees one that ends later than its own would.
    await bench.made.turn(-20_000);
    assert.deepEqual(await dead.claims.take(page(tenantId), by), { kind: "in_flight" });
  },
);

postgresTest(
  "pages are claimed and settled in one order of rows, whatever order they came in",
  async (t) => {
    const bench = await nounBench(t);
    const { tenantId } = await bench.box();
    const node = bench.node("a");
    const take = (alertId: string) =>
      node.claims.take(page(tenantId, alertId), { relayKeyId: null });
    const held = [taken(await take("2")), taken(await take("1"))];
    await bench.made.turn(16_000);
    const result = { reached: ["aa"], done: false, devices: 1 };
    const both = [
      () => Promise.all(held.map(({ claim }) => node.claims.settle(claim, result))),
      () => Promise.all(["2", "1"].map(take)),
    ];
    for (const ask of both) {
      let asked: Promise<unknown> | null = null;
      await bench.database.transaction(async (tx) => {
        await tx.query("SELECT 1 FROM relay_claims WHERE alert_id = '1' FOR UPDATE");
        asked = ask();
        await bench.waiting(1);
        // A statement that waits for the first row has locked none of the others, so no deadlock can arise.
        await bench.database.query(
          "SELECT 1 FROM relay_claims WHERE alert_id = '2' FOR UPDATE NOWAIT",
        );
      });
      await asked;
    }
  },
);

postgresTest(
  "two nodes that claim, settle, stand still and retry give the results of a model without failures",
  (t) => claimStories(t, { runs: 12, steps: 25 }),
);

postgresTest("lost connections and answers neither repeat nor lose a page", (t) =>
  cutStories(t, { pages: 100 }),
);

postgresTest(
  "a tenant's holders are read from the latest seconds, not from two days",
  async (t) => {
    const made = await testDatabase(t, { empty: true });
    const database = made.open();
    await migrateDatabase(database);
    await database.query(
      `INSERT INTO relay_claims (tenant_id, alert_id, event, timestamp, holder, held_until, created_at, done_at, devices)
     SELECT 'busy', n, 'alert.opened', 1, NULL, now() - n * interval '1 s', now() - n * interval '1 s', now(), 1
     FROM generate_series(1, 20000) n`,
    );
    await database.query("ANALYZE relay_claims");
    const asked: [sql: string, values: readonly DatabaseValue[]][] = [];
    const query: typeof database.query = (sql, values = [], limits) => {
      asked.push([sql, values]);
      return database.query<never>(sql, values, limits);
    };
    const bench = { sealer: plainSealer, random: systemRandom, node: "a", clock: systemClock };
    const claims = postgresClaims({ ...bench, database: { ...database, query } });
    const held = taken(await claims.take(page("busy", "new"), { relayKeyId: null }));
    asked.length = 0;
    assert.deepEqual(await claims.holders("busy"), [held.claim.holder]);
    await claims.releaseMine();
    assert.deepEqual(await claims.holders("busy"), []);
    const plans = asked.slice(0, 2);
    for (const [sql, values] of plans) {
      const plan = JSON.stringify(await database.query(`EXPLAIN (FORMAT JSON) ${sql}`, values));
      assert.match(plan, /relay_claims_held/, plan);
      assert.doesNotMatch(plan, /Seq Scan/, plan);
    }
  },
);

postgresTest("settling a hold writes to no index", async (t) => {
  const { database } = await nounBench(t);
  const indexes = await database.query<{ text: string }>(
    "SELECT indexdef AS text FROM pg_indexes WHERE tablename = 'relay_claims'",
  );
  assert.ok(indexes.length > 3);
  for (const { text } of indexes) assert.doesNotMatch(text, /holder|reached|devices|done_at/);
});
