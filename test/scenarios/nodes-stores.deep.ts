import { postgresTest } from "../support/postgres.ts";
import { type Blow, nodesStoresStory } from "./nodes-stores.ts";

/** `BLOWS=SIGKILL,cut ROUNDS=20 TENANTS=8 node --test test/scenarios/nodes-stores.deep.ts` */
const blows = (process.env["BLOWS"] ?? "SIGKILL,SIGTERM,cut,SIGSTOP").split(",") as Blow[];
const rounds = Number(process.env["ROUNDS"] ?? 5);
const count = Number(process.env["TENANTS"] ?? 8);

postgresTest(`${rounds} rounds of ${blows.join(", ")} on nodes of ${count} tenants`, (t) =>
  nodesStoresStory(t, Array.from({ length: rounds }, () => blows).flat(), { count }),
);
