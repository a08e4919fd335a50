import { postgresTest } from "../../support/postgres.ts";
import { alike } from "./alike.ts";

postgresTest("both registries give the same answers to any calls", (t) =>
  alike(t, { runs: 3, steps: 120 }),
);
