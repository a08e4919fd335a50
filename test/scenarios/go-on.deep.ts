import { postgresTest } from "../support/postgres.ts";
import { awayStory, takenStory } from "./go-on.ts";

postgresTest("for ten minutes the database is away", (t) =>
  awayStory(t, [1_000, 6_000, 60_000, 540_000]),
);

postgresTest("a machine that is killed while it hands over hands all of it over, once", (t) =>
  takenStory(t, { kills: Number(process.env["KILLS"] ?? 12) }),
);
