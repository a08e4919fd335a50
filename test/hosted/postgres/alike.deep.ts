import { postgresTest } from "../../support/postgres.ts";
import { alike } from "./alike.ts";

postgresTest("both registries give the same answers, in long stories", (t) =>
  alike(t, { runs: 150, steps: 250 }),
);
