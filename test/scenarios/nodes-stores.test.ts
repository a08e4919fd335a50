import { postgresTest } from "../support/postgres.ts";
import { nodesStoresStory } from "./nodes-stores.ts";

/** Two nodes with tenants of their own: `node --test test/scenarios/nodes-stores.deep.ts` has every blow, many times. */

postgresTest(
  "a node that is killed, leaves, stands still or is cut off loses no tenant's event",
  (t) => nodesStoresStory(t, ["SIGKILL", "SIGTERM", "cut", "SIGSTOP"], { count: 3 }),
);
