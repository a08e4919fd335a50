import assert from "node:assert/strict";
import { postgresTest } from "../support/postgres.ts";
import { type StoreFaultName, spoiltStores, storeFaults } from "./nodes/programs.ts";
import { blowsOf, hardBlows, IN_VAIN, nodesStoresStory, type StoreBlow } from "./nodes-stores.ts";

/** `ROUNDS=100 TENANTS=8 NODES=3 SEED=2 node --test test/scenarios/nodes-stores.deep.ts` */
const of = (name: string, otherwise: number) => Number(process.env[name] ?? otherwise);
const rounds = of("ROUNDS", 500);
const [tenants, nodes, seed] = [of("TENANTS", 8), of("NODES", 2), of("SEED", 1)];

postgresTest(
  `${rounds} blows on ${nodes} nodes of ${tenants} tenants: nothing is lost`,
  async (t) => {
    const seen = await nodesStoresStory(blowsOf(rounds, seed), { nodes, tenants, seed });
    t.diagnostic(JSON.stringify(seen));
  },
);

const EACH: StoreBlow[] = ["SIGTERM", "SIGKILL", "SIGSTOP", "cut"];

postgresTest("how long each blow is felt", async (t) => {
  const times = Array.from({ length: of("TIMES", 5) }, () => EACH).flat();
  const { took } = await nodesStoresStory(times, { tenants, isOrderly: true });
  t.diagnostic(JSON.stringify(took));
});

/** A promise was broken: a story that merely takes too long has found nothing. */
const isBroken = (error: unknown) =>
  error instanceof assert.AssertionError && !error.message.startsWith(IN_VAIN);

/** While rows are held an operator adds a key. */
const HOLDS = Array<StoreBlow>(5).fill("rows held, then killed");

for (const fault of Object.keys(storeFaults) as StoreFaultName[])
  postgresTest(`planted, that ${fault}: it is found`, async () => {
    const program = await spoiltStores(fault);
    // In order, so that others answer for whoever is struck, which most faults need to show.
    const how = { program, tenants, nodes, seed, isOrderly: true };
    const isOfKeys = fault === "an operator's key is forgotten before it is kept";
    const story = nodesStoresStory(isOfKeys ? HOLDS : hardBlows(20), how);
    await assert.rejects(story, isBroken);
  });
