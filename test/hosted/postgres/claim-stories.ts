import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { systemRandom } from "../../../src/ground/kit/random.ts";
import type { Claim, ClaimTaken } from "../../../src/hosted/registry/claims.ts";
import fc from "../../support/property.ts";
import { type NounsOfNode, nounBench } from "./nouns.ts";
import { forwarded, openTo } from "./wire.ts";

const HOUR = 3_600_000;
const HOLD_MS = 15_000;

/** A page in a model without failures. */
interface Page {
  holder: string | null;
  until: number;
  reached: Set<string>;
  done: number | null;
}

const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant("take" as const), node: fc.nat(1), page: fc.nat(3) }),
  },
  // Several at once, from both nodes: the database decides which one wins.
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("rush" as const), page: fc.nat(3) }) },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant("settle" as const),
      which: fc.nat(20),
      token: fc.nat(5),
      done: fc.boolean(),
      twice: fc.boolean(),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("turn" as const),
      ms: fc.constantFrom(1, 5_000, 14_999, 15_001, 60_000),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("restart" as const), node: fc.nat(1) }) },
);

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** Random stories of two nodes, their clocks two hours apart, against a model. */
export async function claimStories(
  t: TestContext,
  { runs, steps, pooled = false }: { runs: number; steps: number; pooled?: boolean },
): Promise<void> {
  const bench = await nounBench(t, { pooled });
  const nodes = [bench.node("behind", -HOUR), bench.node("ahead", HOUR)] as const;
  const turn = (ms: number) => bench.made.turn(ms);
  const { tenantId, relayKeyId } = await bench.box();
  let story = 0;
  const tell = (what: Step[]) =>
    tellStory({ nodes, turn, what, box: { tenantId, relayKeyId }, story: ++story });
  await fc.assert(fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: steps }), tell), {
    numRuns: runs,
  });
}

async function tellStory(given: {
  nodes: readonly [NounsOfNode, NounsOfNode];
  turn(ms: number): Promise<void>;
  what: readonly Step[];
  box: { tenantId: string; relayKeyId: string };
  story: number;
}): Promise<void> {
  const { nodes, box, story } = given;
  const pages = [0, 1, 2, 3].map(
    (): Page => ({ holder: null, until: 0, reached: new Set(), done: null }),
  );
  const held: { claim: Claim; node: 0 | 1; page: Page; before: number }[] = [];
  let now = 0;
  const take = (node: number, page: number) =>
    nodes[node as 0 | 1].claims.take(
      { tenantId: box.tenantId, alertId: `${story}/${page}`, event: "alert.opened", timestamp: 1 },
      { relayKeyId: box.relayKeyId },
    );
  const expected = (page: Page) => {
    if (page.done !== null) return "done";
    return page.holder !== null && page.until >= now ? "in_flight" : "taken";
  };
  const took = (node: number, page: Page, result: ClaimTaken) => {
    if (result.kind === "done") assert.equal(result.devices, page.done);
    if (result.kind !== "taken") return;
    assert.deepEqual(new Set(result.reached), page.reached);
    page.holder = result.claim.holder;
    page.until = now + HOLD_MS;
    held.push({ claim: result.claim, node: node as 0 | 1, page, before: page.reached.size });
  };
  for (const one of given.what) {
    if (one.kind === "turn") {
      now += one.ms;
      await given.turn(one.ms);
    } else if (one.kind === "take") {
      const page = pages[one.page] as Page;
      const wanted = expected(page);
      const result = await take(one.node, one.page);
      assert.equal(result.kind, wanted);
      took(one.node, page, result);
    } else if (one.kind === "rush") {
      const page = pages[one.page] as Page;
      const wanted = expected(page);
      const results = await Promise.all([0, 1, 0, 1].map((node) => take(node, one.page)));
      const winners = results.filter(({ kind }) => kind === "taken").length;
      assert.equal(winners, wanted === "taken" ? 1 : 0);
      for (const [at, result] of results.entries()) took(at % 2, page, result);
    } else if (one.kind === "settle" && held.length > 0) {
      // Also a claim that was settled, or whose hold another has by now.
      const { claim, node, page, before } = held[one.which % held.length] as (typeof held)[number];
      const tokens = [`t${one.token}`];
      const devices = before + 1;
      const settle = () =>
        nodes[node].claims.settle(claim, { reached: tokens, done: one.done, devices });
      await settle();
      if (one.twice) await settle();
      for (const token of tokens) page.reached.add(token);
      if (page.holder !== claim.holder) continue;
      page.holder = null;
      if (one.done) page.done = devices;
    } else if (one.kind === "restart") {
      await nodes[one.node as 0 | 1].claims.releaseMine();
      const name = ["behind/", "ahead/"][one.node] ?? "";
      for (const page of pages)
        if (page.holder?.startsWith(name) && page.until > now) page.holder = null;
    }
  }
}

/**
 * Two nodes whose connections are lost again and again, mostly before the answer. Each page is pushed once: a repeated
 * request gets its own hold, and a settled page stays settled.
 */
export async function cutStories(t: TestContext, { pages }: { pages: number }): Promise<void> {
  const bench = await nounBench(t);
  const { tenantId, relayKeyId } = await bench.box();
  let lost = 0;
  const loses = () => systemRandom.fraction() < 0.05 && ++lost > 0;
  const nodes = await Promise.all(
    ["a", "b"].map(async (name) => {
      const { port } = await forwarded(t, bench.made, { loses });
      return bench.node(name, 0, openTo(t, bench.made, `127.0.0.1:${port}`).database);
    }),
  );
  const pushes = new Map<string, number>();
  const deliver = async (n: number): Promise<void> => {
    const key = { tenantId, alertId: `cut ${n}`, event: "alert.opened", timestamp: n };
    for (let tries = 0; tries < 50; tries++) {
      const node = nodes[(n + tries) % 2] as NounsOfNode;
      const taken = await node.claims.take(key, { relayKeyId });
      if (taken.kind === "done") return assert.equal(taken.devices, 1);
      assert.equal(taken.kind, "taken", "nobody else asks for it");
      if (taken.kind !== "taken") return;
      assert.deepEqual(taken.reached, []);
      pushes.set(key.alertId, (pushes.get(key.alertId) ?? 0) + 1);
      await node.claims.settle(taken.claim, { reached: ["t"], done: true, devices: 1 });
    }
    throw new Error("a page that is never done");
  };
  let next = 0;
  const lane = async () => {
    while (next < pages) await deliver(next++);
  };
  await Promise.all(Array.from({ length: 8 }, lane));
  assert.ok(lost > 0, "no connection was lost");
  assert.deepEqual(new Set(pushes.values()), new Set([1]));
  assert.equal(pushes.size, pages);
}
