import assert from "node:assert/strict";
import { test } from "node:test";
import { isAtRest } from "../../src/hosted/tenant-rest.ts";
import { testPlane } from "../support/plane.ts";

test("an idle tenant isn't searched for what no longer comes while something else keeps it open", async (t) => {
  const plane = testPlane();
  t.after(() => plane.close());
  let searched = 0;
  const nextMissing = () => {
    searched++;
    return null;
  };
  const { tenant } = plane;
  const entry = {
    tenant: { ...tenant, ingest: { ...tenant.ingest, nextMissing } },
    plan: "free" as const,
    openedAt: Number.NEGATIVE_INFINITY,
    usedAt: Number.NEGATIVE_INFINITY,
    epoch: 1,
  };
  const atRest = () => isAtRest(entry, { mono: 0, now: plane.clock.now(), warmMs: 0 });
  plane.rule({ auto_resolve_quiet_minutes: 1 });
  await plane.fire();
  await plane.minutes(0.75);
  assert.deepEqual([atRest(), searched], [false, 0]);
  await plane.minutes(1);
  assert.deepEqual([atRest(), searched], [true, 1]);
});
