import assert from "node:assert/strict";
import { postgresTest } from "../../support/postgres.ts";
import { NOON, type NounBench, type NounsOfNode, nounBench } from "./nouns.ts";

const GAP_SECONDS = 120;
const at = NOON / 1000;

/** Looks every 15 s, as the leader does, for so many seconds. */
async function pass(bench: NounBench, by: NounsOfNode, seconds: number) {
  let look = await by.heartbeats.look(GAP_SECONDS);
  for (let left = seconds; left > 0; left -= 15) {
    await bench.made.turn(Math.min(left, 15) * 1000);
    look = await by.heartbeats.look(GAP_SECONDS);
  }
  return look;
}

postgresTest(
  "a silence and its end owe one page each, by the database's clock, and a planned stop owes none",
  async (t) => {
    const bench = await nounBench(t);
    const [a, b] = [bench.node("a", -3_600_000), bench.node("b", 3_600_000)];
    const [quiet, gone, alive] = [await bench.box(), await bench.box(), await bench.box()];
    const beat = (box: typeof quiet, by = a) => by.heartbeats.beat({ ...box, stamp: at });
    assert.deepEqual(await Promise.all([beat(quiet), beat(alive), beat(quiet, b)]), [
      "heard",
      "heard",
      "heard",
    ]);
    assert.equal(await a.heartbeats.goodbye({ ...gone, stamp: at }), "heard");
    // An older report that arrives late changes nothing.
    assert.equal(await b.heartbeats.beat({ ...gone, stamp: at - 1 }), "heard");
    await b.heartbeats.look(GAP_SECONDS);
    await pass(bench, a, 240);
    await beat(alive, b);
    const look = await pass(bench, a, 75);
    assert.deepEqual(look, {
      at: at + 315,
      held: false,
      heldSince: null,
      watched: 2,
      unheard: 1,
      twins: 0,
    });
    const [owed, ...others] = await b.heartbeats.owed(10);
    assert.deepEqual(others, []);
    assert.deepEqual(owed, {
      tenantId: quiet.tenantId,
      boxUrl: null,
      news: "silent",
      at: at + 315,
      heardAt: at,
    });
    assert.ok(owed !== undefined);
    await b.heartbeats.paid({ ...owed, at: owed.at - 1 });
    assert.equal((await a.heartbeats.owed(10)).length, 1, "another page than this one");
    await b.heartbeats.paid(owed);
    assert.deepEqual(await a.heartbeats.owed(10), []);
    await bench.made.turn(700);
    await beat(quiet);
    const [back] = await a.heartbeats.owed(10);
    assert.deepEqual([back?.news, back?.tenantId], ["back", quiet.tenantId]);
    assert.ok(back !== undefined);
    await a.heartbeats.paid(back);
    assert.deepEqual(await a.heartbeats.owed(10), []);
  },
);

postgresTest(
  "after a time without looks, or a database clock set back, every box counts as heard",
  async (t) => {
    const bench = await nounBench(t);
    const node = bench.node("a");
    const box = await bench.box(200);
    await node.heartbeats.beat({ ...box, stamp: at });
    await node.heartbeats.look(GAP_SECONDS);
    await bench.made.turn(600_000);
    await pass(bench, node, 180);
    assert.deepEqual(await node.heartbeats.owed(10), []);
    await bench.made.turn(-3_600_000);
    await pass(bench, node, 180);
    assert.deepEqual(await node.heartbeats.owed(10), []);
    await pass(bench, node, 30);
    assert.equal((await node.heartbeats.owed(10)).length, 1);
  },
);

postgresTest(
  "when most boxes are unheard looks are held, and every box counts as heard once more than half are",
  async (t) => {
    const bench = await nounBench(t);
    const node = bench.node("a");
    const boxes = await Promise.all(Array.from({ length: 30 }, () => bench.box()));
    const beats = (some: typeof boxes) =>
      Promise.all(some.map((box) => node.heartbeats.beat({ ...box, stamp: at })));
    await beats(boxes);
    await node.heartbeats.look(GAP_SECONDS);
    const cut = await pass(bench, node, 600);
    assert.deepEqual([cut.held, cut.watched, cut.unheard], [true, 30, 30]);
    assert.ok(cut.heldSince !== null && cut.heldSince <= at + 105);
    assert.deepEqual(await node.heartbeats.owed(100), []);
    await beats(boxes.slice(0, 16));
    assert.equal((await node.heartbeats.look(GAP_SECONDS)).held, false);
    assert.deepEqual(await node.heartbeats.owed(100), []);
    for (let minute = 0; minute < 6; minute++) {
      await pass(bench, node, 60);
      await beats(boxes.slice(0, 16));
    }
    const owed = await node.heartbeats.owed(100);
    assert.equal(owed.length, 14);
    // The page names the time of the last real heartbeat.
    assert.ok(owed.every(({ heardAt }) => heardAt === at));
  },
);

postgresTest("a heartbeat whose statement had to wait doesn't replace a later one", async (t) => {
  const bench = await nounBench(t);
  const [late, node] = [bench.node("a"), bench.node("b")];
  const [first, box] = [await bench.box(), await bench.box()];
  const beat = (by: NounsOfNode, of: typeof box) => by.heartbeats.beat({ ...of, stamp: at });
  await Promise.all([beat(node, first), beat(node, box)]);
  await bench.made.turn(10_000);
  let waited: Promise<unknown> | null = null;
  await bench.database.transaction(async (tx) => {
    await tx.query("SELECT 1 FROM heartbeats WHERE tenant_id = $1 FOR UPDATE", [first.tenantId]);
    waited = Promise.all([beat(late, first), beat(late, box)]);
    await bench.waiting(1);
    await bench.made.turn(280_000);
    assert.equal(await beat(node, box), "heard");
  });
  await waited;
  const heard = "SELECT extract(epoch FROM heard_at)::int AS at FROM heartbeats ORDER BY tenant_id";
  assert.deepEqual(await bench.database.query(heard), [{ at: at + 10 }, { at: at + 290 }]);
});

postgresTest(
  "a look locks the silent boxes' rows in the order in which heartbeats do",
  async (t) => {
    const bench = await nounBench(t);
    const node = bench.node("a");
    const [first, second] = [await bench.box(), await bench.box()];
    await node.heartbeats.beat({ ...second, stamp: at });
    await node.heartbeats.beat({ ...first, stamp: at });
    // A changed row comes after the others in the table.
    await bench.database.query("UPDATE tenants SET plan = 'pro' WHERE id = $1", [first.tenantId]);
    await bench.database.query("ANALYZE");
    await node.heartbeats.look(GAP_SECONDS);
    await pass(bench, node, 300);
    await bench.made.turn(15_000);
    let look: Promise<unknown> | null = null;
    await bench.database.transaction(async (tx) => {
      const lock = "SELECT 1 FROM heartbeats WHERE tenant_id = $1 FOR UPDATE";
      await tx.query(lock, [first.tenantId]);
      look = node.heartbeats.look(GAP_SECONDS);
      await bench.waiting(1);
      await bench.database.query(`${lock} NOWAIT`, [second.tenantId]);
    });
    await look;
    assert.equal((await node.heartbeats.owed(10)).length, 2);
  },
);

postgresTest("a heartbeat with a revoked key is refused and stores nothing", async (t) => {
  const bench = await nounBench(t);
  const node = bench.node("a");
  const [box, other] = [await bench.box(), await bench.box()];
  await bench.database.query("UPDATE relay_keys SET revoked_at = now() WHERE id = $1", [
    box.relayKeyId,
  ]);
  const told = await Promise.all([
    node.heartbeats.beat({ ...box, stamp: at }),
    node.heartbeats.goodbye({ ...other, stamp: at }),
    node.heartbeats.beat({ tenantId: box.tenantId, relayKeyId: other.relayKeyId, stamp: at }),
  ]);
  assert.deepEqual(told, [null, "heard", null]);
  assert.deepEqual(await bench.database.query("SELECT tenant_id, planned FROM heartbeats"), [
    { tenant_id: other.tenantId, planned: true },
  ]);
});

postgresTest(
  "an outage is a time without a live node, is stored once, and every node reads it",
  async (t) => {
    const bench = await nounBench(t);
    const [a, b] = [bench.node("a"), bench.node("b")];
    assert.deepEqual(await a.uptime.begin(), []);
    assert.deepEqual(await b.uptime.begin(), []);
    // One of two nodes is away for a while, which is no outage.
    for (let n = 0; n < 6; n++) {
      await bench.made.turn(10_000);
      assert.equal(await a.uptime.beat(), null);
    }
    assert.equal(await b.uptime.beat(), null);
    await bench.made.turn(30_000);
    assert.equal(await b.uptime.beat(), null);
    await bench.made.turn(300_000);
    const outage = { from: at + 90, to: at + 390 };
    const told = await Promise.all([a.uptime.beat(), b.uptime.beat()]);
    const later = await Promise.all([a.uptime.beat(), b.uptime.beat()]);
    for (const n of [0, 1]) assert.deepEqual([told[n] ?? later[n]], [outage]);
    assert.deepEqual(await bench.node("c").uptime.begin(), [outage]);
  },
);
