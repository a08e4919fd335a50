import assert from "node:assert/strict";
import { postgresTest } from "../../support/postgres.ts";
import { standbyStory } from "./standby.ts";

for (const end of ["back", "gone", "database"] as const)
  postgresTest(
    `the standby (or the database) is lost for 45 s, ${end}: pages wait, none is lost or told of too early, and others may connect`,
    async () => {
      const result = await standbyStory({ awayMs: 45_000, seed: 1, end });
      const { answers, waited, connections, unreadyMs, wrongly } = result;
      const shown = JSON.stringify(result);
      assert.deepEqual(
        Object.keys(answers).filter((status) => !["409", "503"].includes(status)),
        [],
        shown,
      );
      // A page that had just rung is noted for as long as its hold lasts.
      assert.ok(waited.median < 9_000 && waited.most < 17_000, shown);
      assert.ok(connections < 70, shown);
      assert.ok(wrongly === 0 && unreadyMs.every((ms) => ms > 5_000 && ms < 20_000), shown);
    },
  );
