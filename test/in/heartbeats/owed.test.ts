import assert from "node:assert/strict";
import { test } from "node:test";
import { getProject } from "../../../src/core/projects/projects.ts";
import { createHeartbeat } from "../../../src/in/heartbeats/heartbeats.ts";
import { testPlane } from "../../support/plane.ts";

const success = { word: "success", rid: null, exit: null, message: null } as const;

test("what a full disk kept from the rules is told once there is space, also where the clock was set back meanwhile", async (t) => {
  const plane = testPlane();
  t.after(() => plane.close());
  const { store, heartbeats, disk, id: tenantId } = plane.tenant;
  plane.rule();
  const { id } = store.write((tx) => {
    const body = { name: "backup", period_seconds: 3600, grace_seconds: 60 };
    return createHeartbeat(tx, getProject(tx, "shop"), { tenantId, body }).row;
  });
  await heartbeats.hear(id, success);
  let isFull = true;
  Object.defineProperty(disk, "nearlyFull", { get: () => isFull });
  await plane.minutes(62);
  const open = () => store.sql("SELECT count(*) FROM alerts").pluck().get();
  assert.equal(open(), 0);
  plane.clock.setWall(plane.clock.now() - 86_400_000);
  await plane.minutes(1);
  isFull = false;
  await plane.minutes(1);
  assert.equal(open(), 1);
});
