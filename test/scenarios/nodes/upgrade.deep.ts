import assert from "node:assert/strict";
import { postgresTest } from "../../support/postgres.ts";
import { startPostgresPair } from "../../support/postgres-pair.ts";
import { upgradeStory } from "./upgrade.ts";

postgresTest(
  "nodes are upgraded and set back one after the other, until a release leaves the others behind: nothing is lost",
  async (t) => {
    const pair = await startPostgresPair();
    t.after(() => pair.stop());
    const database = `postgres://box@${encodeURIComponent(pair.socket())}/box`;
    const { pages, changes } = await upgradeStory({ database, rounds: 5, seed: 1, boxes: 6 });
    assert.ok(pages > 500, `${pages} pages`);
    assert.equal(changes, 22);
  },
);
