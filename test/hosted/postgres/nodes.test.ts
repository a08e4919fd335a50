import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { setImmediate as immediate } from "node:timers/promises";
import { systemRandom } from "../../../src/ground/kit/random.ts";
import type { StoreFault } from "../../../src/ground/store/faults.ts";
import { byLeader } from "../../../src/hosted/nodes/leader.ts";
import { isNodeName, nodeNameOf } from "../../../src/hosted/nodes/name.ts";
import { type LiveNode, type NodeOptions, startNode } from "../../../src/hosted/nodes/node.ts";
import { postgresApns } from "../../../src/hosted/registry/postgres/apns-settings.ts";
import { DatabaseAway } from "../../../src/hosted/registry/postgres/database-faults.ts";
import { postgresPurge } from "../../../src/hosted/registry/postgres/purge.ts";
import { handClock } from "../../support/clock.ts";
import { postgresTest } from "../../support/postgres.ts";
import { scratch } from "../../support/scratch.ts";
import { NOON, nounBench } from "./nouns.ts";

const HOUR = 3_600_000;
const sign = { url: "https://a.example", version: "1.1.0", draining: false };
const silent = { info() {}, warn() {} } as unknown as NodeOptions["log"];

test("a node's name is created once, and an invalid one is refused", (t) => {
  const data = scratch(t);
  const name = nodeNameOf(data, systemRandom);
  assert.match(name, /^[0-9a-f]{16}$/);
  assert.equal(nodeNameOf(data, systemRandom), name);
  assert.equal(readFileSync(join(data, "node.id"), "utf8"), `${name}\n`);
  const other = join(data, "other");
  mkdirSync(other);
  writeFileSync(join(other, "node.id"), "a/b");
  assert.throws(
    () => nodeNameOf(other, systemRandom),
    ({ kind }: StoreFault) => kind === "misconfigured",
  );
  for (const bad of ["", "a/b", "a b", "x".repeat(65)]) assert.ok(!isNodeName(bad), bad);
});

postgresTest(
  "two live nodes can't have one name, and one that stood still learns that it was replaced",
  async (t) => {
    const bench = await nounBench(t);
    const [first, second, other] = [bench.node("n1"), bench.node("n1"), bench.node("n2")];
    assert.deepEqual(await Promise.all([first.nodes.join(sign), other.nodes.join(sign)]), [
      true,
      true,
    ]);
    assert.equal(await second.nodes.join(sign), false);
    assert.equal(await first.nodes.join(sign), true, "its answer may have been lost");
    await bench.made.turn(9_000);
    assert.deepEqual(await first.nodes.renew(sign), {
      kind: "alive",
      atMs: NOON + 9_000,
      nodes: 2,
      isTooOld: false,
    });
    await bench.made.turn(10_000);
    assert.equal(await second.nodes.join(sign), false);
    await bench.made.turn(1);
    assert.equal(await second.nodes.join({ ...sign, draining: true }), true);
    assert.deepEqual(await first.nodes.renew(sign), { kind: "replaced" });
    await first.nodes.leave();
    const rows = await bench.database.query("SELECT id, draining FROM nodes ORDER BY id");
    assert.deepEqual(rows, [
      { id: "n1", draining: true },
      { id: "n2", draining: false },
    ]);
    await bench.database.query("UPDATE meta SET value = 99 WHERE key = 'least'");
    assert.deepEqual(await second.nodes.renew(sign), {
      kind: "alive",
      atMs: NOON + 19_001,
      nodes: 1,
      isTooOld: true,
    });
  },
);

postgresTest(
  "a node whose row is gone, or from a backup, takes its name again if no other process has it",
  async (t) => {
    const bench = await nounBench(t);
    const [cut, other] = [bench.node("n1"), bench.node("n2")];
    const alive = async () => (await cut.nodes.renew(sign)).kind;
    assert.equal(await cut.nodes.join(sign), true);
    // Cut off from its database for so long that its row was deleted.
    await bench.made.turn(48 * HOUR);
    assert.equal(await postgresPurge(other.deps, async () => 0)(), 1);
    assert.equal(await alive(), "alive");
    const rows = "UPDATE nodes SET run = 'of a backup', alive_until =";
    await bench.database.query(`${rows} now() - interval '1 h'`);
    assert.equal(await alive(), "alive");
    await bench.database.query(`${rows} now() + interval '10 s'`);
    assert.equal(await alive(), "replaced");
  },
);

postgresTest(
  "a node that was killed comes back where a database was promoted whose clock is behind",
  async (t) => {
    const bench = await nounBench(t);
    assert.equal(await bench.node("n1").nodes.join(sign), true);
    await bench.made.turn(-25_000);
    const clock = handClock(NOON);
    let end: LiveNode | Error | null = null;
    const starting = startNode({
      name: "n1",
      clock,
      log: silent,
      version: "1.1.0",
      url: () => "",
      nodes: bench.node("n1").nodes,
      onTooOld() {},
      onReplaced() {},
    }).then(
      (node) => {
        end = node;
      },
      (error) => {
        end = error;
      },
    );
    // Only while the process sleeps: a slow database must not use up the time that it tries for.
    while (end === null) {
      if (clock.timers() > 0) {
        await bench.made.turn(500);
        await clock.turn(500);
      } else await immediate();
    }
    await starting;
    assert.ok(!((end as unknown) instanceof Error), String(end));
    await (end as LiveNode).stop();
  },
);

postgresTest(
  "one node leads until it hasn't renewed for 20 s, and hands over when it leaves",
  async (t) => {
    const bench = await nounBench(t);
    const [a, b] = [bench.node("a", -HOUR), bench.node("b", HOUR)];
    await Promise.all([a.nodes.join(sign), b.nodes.join(sign)]);
    const led = await Promise.all([a.nodes.lead("silence"), b.nodes.lead("silence")]);
    assert.deepEqual(led.toSorted(), [false, true]);
    const [leader, other] = led[0] ? [a, b] : [b, a];
    let looks = 0;
    const job = { name: "silence", run: async () => ++looks };
    const asked: boolean[][] = [[], []];
    const [own, theirs] = [leader, other].map(({ nodes }, at) =>
      byLeader(nodes, "silence", job, {
        everyMs: 15_000,
        onAsked: (leads) => asked[at]?.push(leads),
      }),
    );
    for (const _ of [1, 2, 3]) {
      await bench.made.turn(15_000);
      assert.ok(Number(await own?.run(0)) < 10);
      assert.equal(await theirs?.run(100), 115_000);
    }
    assert.equal(looks, 3);
    await bench.made.turn(20_001);
    assert.equal(await theirs?.run(0), 4);
    assert.equal(await own?.run(0), 15_000);
    assert.deepEqual(asked, [
      [true, true, true, false],
      [false, false, false, true],
    ]);
    const away = {
      ...leader.nodes,
      lead: () => Promise.reject(new DatabaseAway("gone")),
    };
    const said: boolean[] = [];
    const how = { everyMs: 1, onAsked: (leads: boolean) => said.push(leads) };
    await assert.rejects(async () => byLeader(away, "silence", job, how).run(0), DatabaseAway);
    assert.deepEqual(said, [false], "nobody could say that it leads");
    assert.equal(await other.nodes.lead("purge"), true);
    await other.nodes.leave();
    assert.equal(await own?.run(0), 5);
    assert.equal(byLeader(null, "silence", job, { everyMs: 1 }), job);
  },
);

postgresTest(
  "after the database's clock was set back, names and jobs of dead nodes become free",
  async (t) => {
    const bench = await nounBench(t);
    const [gone, again, other] = [bench.node("n1"), bench.node("n1"), bench.node("n2")];
    assert.equal(await gone.nodes.join(sign), true);
    assert.equal(await gone.nodes.lead("silence"), true);
    await bench.made.turn(-HOUR);
    assert.equal(await other.nodes.lead("silence"), true);
    assert.equal(await again.nodes.join(sign), true);
    assert.equal(await gone.nodes.join(sign), false);
    assert.equal(await again.nodes.lead("silence"), false);
  },
);

postgresTest(
  "a node renews every 2 s, knows how wrong its clock is, and ends when its program is too old",
  async (t) => {
    const bench = await nounBench(t);
    const clock = handClock(NOON + 90_000);
    const told: string[] = [];
    const options = (name: string): NodeOptions => ({
      name,
      clock,
      log: silent,
      version: "1.1.0",
      url: () => "",
      nodes: bench.node(name).nodes,
      onTooOld: () => told.push("too old"),
      onReplaced: () => told.push("replaced"),
    });
    const node = await startNode(options("n1"));
    assert.equal(node.aheadMs(), 90_000);
    const seen = async () => {
      const sql = `SELECT extract(epoch FROM seen_at)::float8 * 1000 AS at, draining FROM nodes WHERE id = 'n1'`;
      return (await bench.database.query<{ at: number; draining: boolean }>(sql))[0];
    };
    await bench.made.turn(8_000);
    node.drain();
    await clock.turn(2_000);
    let row = await seen();
    while (row?.at !== NOON + 8_000) row = await seen();
    assert.equal(row.draining, true);
    const turnUntil = async (isSo: () => boolean) => {
      while (!isSo()) {
        await clock.turn(500);
        await new Promise((resolve) => setImmediate(resolve));
      }
    };
    // Another process with that name waits for as long as a killed one counts as alive, and is refused.
    let over = false;
    const refused = assert.rejects(
      startNode(options("n1")),
      ({ kind }: StoreFault) => kind === "misconfigured",
    );
    void refused.finally(() => {
      over = true;
    });
    await turnUntil(() => over);
    await refused;
    await bench.database.query("UPDATE meta SET value = 99 WHERE key = 'least'");
    await turnUntil(() => told.length > 0);
    assert.deepEqual(told, ["too old"]);
    await node.stop();
    assert.equal(await seen(), undefined);
  },
);

postgresTest("old claims are deleted in slices, without those that are locked", async (t) => {
  const bench = await nounBench(t);
  const node = bench.node("a");
  const purge = postgresPurge(node.deps, async () => 0);
  await bench.database.query(
    `INSERT INTO relay_claims (tenant_id, alert_id, event, timestamp, created_at)
     SELECT 't', n::text, 'e', n, now() - interval '49 h' FROM generate_series(1, 1200) n`,
  );
  await bench.database.query(
    "INSERT INTO relay_claims (tenant_id, alert_id, event, timestamp) VALUES ('t', 'new', 'e', 1)",
  );
  const slices = await bench.database.transaction(async (tx) => {
    await tx.query("SELECT 1 FROM relay_claims WHERE alert_id = '7' FOR UPDATE");
    return [await purge(), await purge(), await purge()];
  });
  assert.deepEqual(slices, [500, 500, 199]);
  assert.equal(await purge(), 1);
  assert.equal(await purge(), 0);
});

postgresTest(
  "a provider token is made by one of several nodes, and only of the present settings",
  async (t) => {
    const bench = await nounBench(t);
    const [a, b] = ["a", "b"].map((name) => postgresApns(bench.node(name).deps));
    assert.ok(a !== undefined && b !== undefined);
    assert.deepEqual([await a.version(), await a.get()], [0, { kind: "none" }]);
    const settings = {
      keyId: "K",
      teamId: "T",
      topic: "app",
      endpoint: "https://localhost",
      ca: null,
      key: "the key",
    };
    const at = NOON / 1000;
    const fresh = { version: 1, iat: at, jwt: "one", instead: null };
    assert.equal(await a.keepToken(fresh), false);
    await a.set(settings);
    assert.deepEqual(await b.get(), { kind: "set", version: 1, settings });
    const kept = await Promise.all([a.keepToken(fresh), b.keepToken({ ...fresh, jwt: "two" })]);
    assert.deepEqual(kept.toSorted(), [false, true]);
    const jwt = kept[0] ? "one" : "two";
    assert.deepEqual(await b.token(), { at, token: { iat: at, jwt } });
    assert.equal(await b.keepToken({ version: 1, iat: at + 9, jwt: "three", instead: at }), true);
    await b.set({ ...settings, topic: "other" });
    assert.deepEqual(await a.token(), { at, token: null });
    assert.equal(await a.keepToken({ version: 1, iat: at, jwt: "four", instead: null }), false);
    const row = await bench.database.query<{ sealed: string }>("SELECT sealed FROM apns");
    assert.ok(!row[0]?.sealed.includes("the key"));
  },
);

postgresTest("a known key needs no query, and every refusal costs one", async (t) => {
  const bench = await nounBench(t);
  const { tenantId, relayKeyId } = await bench.box();
  const node = bench.node("a");
  let looks = 0;
  const { database } = node.deps;
  const query: typeof database.query = (...asked) => {
    looks++;
    return database.query(...asked);
  };
  const { postgresRelayKeys } = await import("../../../src/hosted/registry/postgres/relay-keys.ts");
  const keys = postgresRelayKeys({ ...node.deps, database: { ...database, query } });
  const looksFor = async (keyId: string, isRefused: boolean) => {
    looks = 0;
    const key = await keys.find(keyId);
    if (isRefused) await keys.lives(keyId, key);
    return { looks, tenantId: key.tenantId };
  };
  assert.deepEqual(await looksFor(relayKeyId, false), { looks: 1, tenantId });
  assert.deepEqual(await looksFor(relayKeyId, false), { looks: 0, tenantId });
  assert.deepEqual(await looksFor(relayKeyId, true), { looks: 1, tenantId });
  assert.deepEqual(await looksFor("rk_unknown\0", true), { looks: 1, tenantId: null });
  await bench.database.query("UPDATE relay_keys SET revoked_at = now()");
  assert.deepEqual(await looksFor(relayKeyId, true), { looks: 1, tenantId });
  assert.deepEqual(await looksFor(relayKeyId, true), { looks: 1, tenantId: null });
});

postgresTest("of keys that are rotated at once one is live, and only the owner may", async (t) => {
  const bench = await nounBench(t);
  const { tenantId } = await bench.box();
  await bench.database.query(
    "INSERT INTO accounts (id, email, email_folded) VALUES ('o', 'o', 'o'), ('m', 'm', 'm')",
  );
  await bench.database.query(
    "INSERT INTO memberships (tenant_id, account_id, role) VALUES ($1, 'o', 'owner'), ($1, 'm', 'member')",
    [tenantId],
  );
  const nodes = [bench.node("a"), bench.node("b")];
  const all = await Promise.all(
    [...nodes, ...nodes].map(({ relayKeys }) => relayKeys.rotate({ tenantId, by: "o" })),
  );
  assert.ok(all.every(({ kind }) => kind === "rotated"));
  const live = await bench.database.query<{ id: string }>(
    "SELECT id FROM relay_keys WHERE revoked_at IS NULL",
  );
  assert.equal(live.length, 1);
  const [winner] = all.flatMap((one) =>
    one.kind === "rotated" && one.credential.keyId === live[0]?.id ? [one.credential] : [],
  );
  const found = await nodes[0]?.relayKeys.find(live[0]?.id ?? "");
  assert.deepEqual(found, { tenantId, secret: winner?.secret });
  const tries = ["m", "x"].map((by) => nodes[0]?.relayKeys.rotate({ tenantId, by }));
  assert.deepEqual(await Promise.all(tries), [{ kind: "not_owner" }, { kind: "not_found" }]);
});
