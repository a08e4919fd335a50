import { postgresTest } from "../support/postgres.ts";
import { awayStory, takenStory } from "./go-on.ts";

/** A box that goes on without its database: `go-on.deep.ts` takes ten minutes for it. */

postgresTest(
  "while the database is away, what comes is answered and rings, and what people do holds",
  (t) => awayStory(t, [1_000, 6_000]),
);

postgresTest(
  "what a machine confirmed alone is in the store of the one that took the box meanwhile, once",
  (t) => takenStory(t, { kills: 0 }),
);
