import assert from "node:assert/strict";
import { test } from "node:test";
import { postgresTest } from "../support/postgres.ts";
import { type Fault, faults, spoilt } from "./nodes/programs.ts";
import { nodesStory } from "./nodes.ts";

// Whether they are found takes long (nodes.deep.ts); that they can be planted mustn't get lost meanwhile.
for (const fault of Object.keys(faults) as Fault[])
  test(`it can be planted that ${fault}`, async () => {
    await spoilt(fault);
  });

postgresTest(
  "two nodes, three blows, one of them the database's: every page arrives, none twice for nothing",
  async () => {
    const story = { blows: 3, seed: 1, boxes: 2, failOverEvery: 3 };
    const { blows, pages, pushes } = await nodesStory(story);
    assert.ok(blows["fail-over"] === 1 && blows.kill > 0, JSON.stringify(blows));
    assert.ok(pages > 50 && pushes >= pages, `${pages} pages`);
  },
);
