import assert from "node:assert/strict";
import { postgresTest } from "../support/postgres.ts";
import { type Fault, faults } from "./nodes/programs.ts";
import { nodesStory } from "./nodes.ts";

postgresTest(
  "500 blows on two nodes and their database: every page arrives, none twice for nothing",
  async () => {
    const { blows } = await nodesStory({ blows: 500, seed: 1 });
    assert.equal(blows["fail-over"], 50);
  },
);

for (const fault of Object.keys(faults) as Fault[])
  postgresTest(`planted, that ${fault}: it is found`, () =>
    assert.rejects(
      nodesStory({ blows: 200, seed: 1, fault }),
      /rang twice|was pushed|counts the phone/,
    ),
  );
