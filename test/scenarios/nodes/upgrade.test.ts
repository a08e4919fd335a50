import assert from "node:assert/strict";
import { postgresTest, testDatabase } from "../../support/postgres.ts";
import { upgradeStory } from "./upgrade.ts";

postgresTest(
  "a node of the next release beside one of this, and back: no box notices, and no page rings twice",
  async (t) => {
    const { url: database } = await testDatabase(t, { empty: true });
    const short = { rounds: 0, seed: 1, boxes: 2, togetherMs: 500, leavesBehind: false };
    const { pages, pushes, changes } = await upgradeStory({ database, ...short });
    assert.ok(pages > 20 && pushes === pages, `${pages} pages`);
    assert.equal(changes, 2);
  },
);
