import assert from "node:assert/strict";
import { test } from "node:test";
import { getProject } from "../../../src/core/projects/projects.ts";
import { createHeartbeat } from "../../../src/in/heartbeats/heartbeats.ts";
import { testPlane } from "../../support/plane.ts";

const success = { word: "success", rid: null, exit: null, message: null } as const;

test("reports of one moment share a commit, and one that fails doesn't affect the others", async (t) => {
  const plane = testPlane();
  t.after(() => plane.close());
  const { store, heartbeats, id: tenantId } = plane.tenant;
  const ids = store.write((tx) =>
    Array.from({ length: 100 }, (_, i) => {
      const body = { name: `job ${i}`, cron: "0 3 * * *", timezone: "Europe/Vienna" };
      return createHeartbeat(tx, getProject(tx, "shop"), { tenantId, body }).row.id;
    }),
  );
  store.write((tx) =>
    tx.sql("UPDATE heartbeats SET cron = 'no cron' WHERE id = ?").run(ids[50] as string),
  );
  let commits = 0;
  store.onCommit(() => {
    commits += 1;
  });
  const answers = await Promise.allSettled(
    [...ids, "gone"].map((id) => heartbeats.hear(id, success)),
  );
  const refused = answers.flatMap(({ status }, i) => (status === "rejected" ? [i] : []));
  assert.deepEqual(refused, [50, 100]);
  const states = store.sql("SELECT state, count(*) AS n FROM heartbeats GROUP BY state").all();
  assert.deepEqual(states, [
    { state: "new", n: 1 },
    { state: "up", n: 99 },
  ]);
  assert.equal(store.sql("SELECT count(*) FROM heartbeat_runs").pluck().get(), 99);
  assert.ok(commits <= 3, `${commits} commits`);
});
