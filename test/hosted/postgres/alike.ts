import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { systemRandom } from "../../../src/ground/kit/random.ts";
import { openSqliteRegistry } from "../../../src/hosted/registry/sqlite/registry.ts";
import { handClock } from "../../support/clock.ts";
import { plainSealer } from "../../support/hosted.ts";
import fc from "../../support/property.ts";
import { scratch } from "../../support/scratch.ts";
import { Draws, type Side, sorted } from "./alike-side.ts";
import { verbs } from "./alike-verbs.ts";
import { openOnPostgres } from "./contract-bench.ts";

const OFTEN = ["addAccount", "putDevice", "pairLater", "take", "settle", "beat", "look", "turn"];
const command = fc.record({
  verb: fc.constantFrom(...Object.keys(verbs), ...OFTEN, ...OFTEN),
  draws: fc.array(fc.nat(1_000), { minLength: 8, maxLength: 8 }),
});

/** Sorts an object's fields, because their order has no meaning. */
const byName = (_: string, value: unknown) =>
  typeof value === "object" && value !== null && !Array.isArray(value)
    ? Object.fromEntries(sorted(Object.entries(value), ([name]) => name))
    : value;

/** A side's answer, with labels in place of random values. All errors count as equal. */
async function said(side: Side, { verb, draws }: { verb: string; draws: number[] }) {
  let answer: unknown;
  try {
    answer = (await verbs[verb]?.(side, new Draws(draws))) ?? null;
  } catch (error) {
    if (error instanceof TypeError || error instanceof assert.AssertionError) throw error;
    return { fault: true };
  }
  // One of them can't store this character, and replaces it.
  let text = JSON.stringify(answer, byName).replaceAll("\\u0000", "\u{2400}");
  for (const [value, name] of side.labels) text = text.replaceAll(value, name);
  return text;
}

/** A box with people, so that more happens; then random commands. */
const BEGIN = ["addTenant", "addAccount", "addAccount", "putMember", "pairFirst", "putDevice"].map(
  (verb, n) => ({ verb, draws: Array<number>(8).fill(verb === "addAccount" ? 4 * n : 0) }),
);

/** Both registries get the same random commands, and must give the same answers. */
export async function alike(t: TestContext, { runs, steps }: { runs: number; steps: number }) {
  await fc.assert(
    fc.asyncProperty(fc.array(command, { minLength: steps, maxLength: steps }), async (story) => {
      const sides = [onFile(t), await onDatabase(t)] as const;
      for (const one of [...BEGIN, ...story]) {
        const [file, database] = await Promise.all(sides.map((side) => said(side, one)));
        assert.deepEqual(database, file, one.verb);
      }
      for (const { close } of sides) close();
    }),
    // A shorter story isn't searched for, because each needs a database.
    { numRuns: runs, endOnFailure: true },
  );
}

const newSide = () => ({
  accounts: [],
  tenants: [],
  keys: [],
  sessions: [],
  claims: [],
  readAtMs: 0,
  tokens: 0,
  labels: new Map<string, string>(),
});

function onFile(t: TestContext): Side {
  const clock = handClock();
  const registry = openSqliteRegistry({
    path: `${scratch(t)}/hosted.db`,
    clock,
    random: systemRandom,
    sealer: () => plainSealer,
  });
  const close = () => registry.close();
  return { ...newSide(), registry, close, now: clock.now, turn: clock.turn };
}

async function onDatabase(t: TestContext): Promise<Side> {
  const { registry, nodes, clock } = await openOnPostgres(t);
  const close = () => {
    for (const node of nodes) node.close();
  };
  return { ...newSide(), registry, close, ...clock };
}
