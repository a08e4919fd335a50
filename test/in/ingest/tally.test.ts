import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";
import { renderMetrics } from "../../../src/app/operate/metrics.ts";
import { defaultRule, type Plane, testPlane } from "../../support/plane.ts";

let plane: Plane;
beforeEach(() => {
  plane = testPlane();
});
afterEach(() => plane.close());

test("events that no rule matched are counted for their source", async () => {
  plane.rule({
    match: { ...defaultRule.match, min_level: 400 },
    fire_after: { count: 2, distinct_sources: 1, window_minutes: 5 },
  });
  const of = { sourceId: 1, projectId: 1, source: "app" };
  assert.deepEqual(plane.tenant.ingest.tallies(), []);
  // Counting towards a window is a match, too.
  for (const level of [100, 200, 400, 500]) await plane.fire("disk is failing", level);
  assert.deepEqual(plane.tenant.ingest.tallies(), [
    {
      ...of,
      accepted: 4,
      unmatched: 2,
      unmatchedResolves: 0,
      clockSuspects: 0,
      fired: 0,
      seenAt: Math.floor(plane.clock.now() / 1000),
    },
  ]);
  assert.match(
    renderMetrics(plane.tenant),
    /^box_ingest_unmatched_total\{project="shop",source="app"\} 2$/m,
  );
});

test("uncommitted events are not counted", async () => {
  const { store } = plane.tenant;
  plane.rule({ match: { ...defaultRule.match, min_level: 400 } });
  store.db.exec(
    "CREATE TRIGGER refuse BEFORE INSERT ON alerts BEGIN SELECT RAISE(ABORT, 'not now'); END",
  );
  await Promise.allSettled([plane.fire("disk is failing", 400)]);
  await plane.fire("disk is failing", 100);
  assert.deepEqual(
    plane.tenant.ingest.tallies().map(({ accepted, unmatched }) => [accepted, unmatched]),
    [[1, 1]],
  );
});

test("deleting a source deletes its counts", async () => {
  const { store, ingest } = plane.tenant;
  await plane.fire();
  assert.equal(ingest.tallies().length, 1);
  store.write((tx) => {
    tx.sql("DELETE FROM sources").run();
    tx.note({ topic: "sources" });
  });
  assert.deepEqual(ingest.tallies(), []);
});
