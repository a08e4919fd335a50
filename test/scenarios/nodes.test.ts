import assert from "node:assert/strict";
import { postgresTest } from "../support/postgres.ts";
import { nodesStory } from "./nodes.ts";

postgresTest(
  "two nodes, three blows, one of them the database's: every page arrives, none twice for nothing",
  async () => {
    const story = { blows: 3, seed: 1, boxes: 2, failOverEvery: 3 };
    const { blows, pages, pushes } = await nodesStory(story);
    assert.ok(blows["fail-over"] === 1 && blows.kill > 0, JSON.stringify(blows));
    assert.ok(pages > 50 && pushes >= pages, `${pages} pages`);
  },
);
