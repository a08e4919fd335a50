import { postgresTest, testDatabase } from "../support/postgres.ts";
import {
  type BoxFaultName,
  boxFaults,
  type StoreFaultName,
  spoiltBox,
  spoiltStores,
  storeFaults,
} from "./nodes/programs.ts";
import { nodesStoresStory } from "./nodes-stores.ts";

/** Two nodes with tenants of their own: `node --test test/scenarios/nodes-stores.deep.ts` has every blow, many times. */

postgresTest(
  "a node that is killed, leaves, stands still or is cut off loses no tenant's event",
  async (t) => {
    const { took, ...seen } = await nodesStoresStory(["SIGKILL", "SIGTERM", "cut", "SIGSTOP"], {
      tenants: 3,
      isOrderly: true,
      at: await testDatabase(t),
    });
    t.diagnostic(JSON.stringify({ ...seen, took }));
  },
);

postgresTest("what the deep tests plant stands in the program as it is now", async () => {
  for (const fault of Object.keys(storeFaults) as StoreFaultName[]) await spoiltStores(fault);
  for (const fault of Object.keys(boxFaults) as BoxFaultName[]) await spoiltBox(fault);
});
