import { postgresTest } from "../support/postgres.ts";
import { standbyStory } from "./standby.ts";

/** Two machines of one box: `node --test test/scenarios/standby.deep.ts` has every blow, many times. */

postgresTest(
  "a machine that stands by takes the box when its owner leaves, and when it stands still",
  (t) => standbyStory(t, ["SIGTERM", "SIGSTOP"]),
);
