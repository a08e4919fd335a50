import assert from "node:assert/strict";
import type { Claim, ClaimTaken } from "../../../src/hosted/registry/claims.ts";
import { deviceToken } from "../../support/hosted.ts";
import fc from "../../support/property.ts";
import { type ContractBench, type ContractRegistry, contractBox, together } from "./bench.ts";

const HOLD_MS = 15_000;
const DAY = 86_400_000;
const PAGES = 3;

/** Claims: a page rings a phone once. */
export function claimsContract({ name, test, open }: ContractRegistry): void {
  test(`${name}: of several claims of a page at once one holds it; a done page stays done, with its phones`, async (t) => {
    const bench = await open(t);
    const { registry } = bench;
    const { tenantId, relayKeyId } = await contractBox(registry);
    const key = { tenantId, alertId: "1", event: "alert.opened", timestamp: 1 };
    const take = () => together(bench, 8, (node) => node.claims.take(key, { relayKeyId }));
    const held = holdsOf(await take());
    assert.equal(held.length, 1);
    const [first] = held;
    assert.ok(first !== undefined);
    assert.deepEqual(first.reached, []);
    assert.deepEqual(await registry.claims.holders(tenantId), [first.claim.holder]);
    const [ada, bob] = [deviceToken(1), deviceToken(2)];
    await registry.claims.settle(first.claim, { reached: [ada], done: false, devices: 1 });
    assert.deepEqual(await registry.claims.holders(tenantId), []);
    const [second] = holdsOf(await take());
    assert.deepEqual(second?.reached, [ada]);
    assert.ok(second !== undefined);
    const over = { reached: [ada, bob], done: true, devices: 2 };
    // Repeated, as after a lost answer.
    await Promise.all([0, 1].map(() => registry.claims.settle(second.claim, over)));
    await registry.claims.settle(first.claim, { reached: [], done: false, devices: 0 });
    const done = { kind: "done", devices: 2 };
    assert.deepEqual(await take(), Array(8).fill(done));
    const other = { ...key, tenantId: "0000000000000000" };
    assert.deepEqual(await registry.claims.take(other, { relayKeyId }), { kind: "revoked" });
    assert.equal(
      (await registry.claims.take({ ...key, event: "x" }, { relayKeyId: null })).kind,
      "taken",
    );
  });

  test(`${name}: claims are kept for two days`, async (t) => {
    const { registry, clock } = await open(t);
    const { tenantId } = await contractBox(registry);
    const key = { tenantId, alertId: "1", event: "e", timestamp: 1 };
    const [hold] = holdsOf([await registry.claims.take(key, { relayKeyId: null })]);
    assert.ok(hold !== undefined);
    await registry.claims.settle(hold.claim, { reached: ["a"], done: true, devices: 1 });
    await clock.turn(2 * DAY - 1000);
    assert.equal(await registry.purge(), 0);
    await clock.turn(1000);
    assert.equal(await registry.purge(), 1);
    assert.equal((await registry.claims.take(key, { relayKeyId: null })).kind, "taken");
  });

  test(`${name}: a page that is tried again after two days keeps its hold and its result`, async (t) => {
    const { registry, clock } = await open(t);
    const { tenantId } = await contractBox(registry);
    const key = { tenantId, alertId: "1", event: "e", timestamp: 1 };
    const take = async () => {
      const [hold] = holdsOf([await registry.claims.take(key, { relayKeyId: null })]);
      assert.ok(hold !== undefined);
      return hold;
    };
    const failed = { reached: ["a"], done: false, devices: 1 };
    await registry.claims.settle((await take()).claim, failed);
    await clock.turn(2 * DAY);
    const second = await take();
    assert.equal(await registry.purge(), 0, "it is being pushed");
    await registry.claims.settle(second.claim, { ...failed, reached: ["b"], devices: 2 });
    assert.equal(await registry.purge(), 0, "it was tried just now");
    const third = await take();
    assert.deepEqual(third.reached.toSorted(), ["a", "b"]);
    await clock.turn(1000);
    await registry.claims.settle(third.claim, { reached: ["c"], done: true, devices: 3 });
    assert.equal(await registry.purge(), 0, "its answer may have been lost");
    const again = await registry.claims.take(key, { relayKeyId: null });
    assert.deepEqual(again, { kind: "done", devices: 3 });
    await clock.turn(2 * DAY);
    assert.equal(await registry.purge(), 1);
  });

  test(`${name}: each page follows its model, for any actions of two nodes and any difference of their clocks`, async (t) => {
    const bench = await open(t, { apartMs: 3_600_000 });
    const { tenantId, relayKeyId } = await contractBox(bench.registry);
    let round = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 25 }), async (steps) => {
        const world = newWorld(bench, { tenantId, relayKeyId, round: round++ });
        for (const one of steps) await world.play(one);
      }),
      { numRuns: 20 },
    );
  });
}

const holdsOf = (taken: readonly ClaimTaken[]) =>
  taken.flatMap((one) => (one.kind === "taken" ? [one] : []));

type Step =
  | { does: "take"; node: 0 | 1; page: number }
  | { does: "settle"; node: 0 | 1; hold: number; reached: readonly number[]; done: boolean }
  | { does: "pass"; ms: number }
  | { does: "restart"; node: 0 | 1 };

const node = fc.constantFrom<0 | 1>(0, 1);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ does: fc.constant("take" as const), node, page: fc.nat(PAGES - 1) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      does: fc.constant("settle" as const),
      node,
      hold: fc.nat(20),
      reached: fc.uniqueArray(fc.nat(4), { maxLength: 3 }),
      done: fc.boolean(),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      does: fc.constant("pass" as const),
      // No sum of these is exactly the end of a hold.
      ms: fc.constantFrom(1_001, 7_003, HOLD_MS - 990, HOLD_MS + 1_020),
    }),
  },
  { weight: 1, arbitrary: fc.record({ does: fc.constant("restart" as const), node }) },
);

interface ModelPage {
  holder: { id: string; node: 0 | 1; until: number } | null;
  reached: Set<string>;
  done: number | null;
}

/** The pages of one story, and their expected state. */
function newWorld(
  { nodes, clock }: ContractBench,
  { tenantId, relayKeyId, round }: { tenantId: string; relayKeyId: string; round: number },
) {
  const isOne = nodes[0] === nodes[1];
  const pages = Array.from(
    { length: PAGES },
    (): ModelPage => ({ holder: null, reached: new Set(), done: null }),
  );
  const holds: { claim: Claim; page: ModelPage; before: number }[] = [];
  const isHeld = ({ holder }: ModelPage) => holder !== null && clock.now() < holder.until;

  async function take(by: 0 | 1, n: number): Promise<void> {
    const page = pages[n] as ModelPage;
    const key = { tenantId, alertId: `${round}-${n}`, event: "e", timestamp: round };
    const taken = await nodes[by].claims.take(key, { relayKeyId });
    if (page.done !== null) return assert.deepEqual(taken, { kind: "done", devices: page.done });
    if (isHeld(page)) return assert.deepEqual(taken, { kind: "in_flight" });
    assert.ok(taken.kind === "taken", taken.kind);
    assert.deepEqual([...taken.reached].sort(), [...page.reached].sort());
    page.holder = { id: taken.claim.holder, node: by, until: clock.now() + HOLD_MS };
    holds.push({ claim: taken.claim, page, before: page.reached.size });
  }

  /** A node that lost its hold ends nothing, but its reached devices count. */
  async function settle(one: Step & { does: "settle" }): Promise<void> {
    const hold = holds[one.hold % Math.max(1, holds.length)];
    if (hold === undefined) return;
    const { claim, page, before } = hold;
    const reached = one.reached.map(deviceToken);
    const devices = before + reached.length;
    await nodes[one.node].claims.settle(claim, { reached, done: one.done, devices });
    for (const token of reached) page.reached.add(token);
    if (page.holder?.id !== claim.holder) return;
    page.holder = null;
    if (one.done) page.done = devices;
  }

  return {
    async play(one: Step): Promise<void> {
      if (one.does === "take") await take(one.node, one.page);
      else if (one.does === "settle") await settle(one);
      else if (one.does === "pass") await clock.turn(one.ms);
      else {
        await nodes[one.node].claims.releaseMine();
        for (const page of pages) if (isOne || page.holder?.node === one.node) page.holder = null;
      }
      const live = pages.flatMap((page) => (isHeld(page) ? [page.holder?.id] : []));
      const told = new Set(await nodes[0].claims.holders(tenantId));
      for (const id of live) assert.ok(told.has(id ?? ""));
      const ours = pages.flatMap(({ holder }) => (holder === null ? [] : [holder.id]));
      for (const id of ours) if (!live.includes(id)) assert.ok(!told.has(id));
    },
  };
}
