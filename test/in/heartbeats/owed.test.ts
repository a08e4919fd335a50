import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { getProject } from "../../../src/core/projects/projects.ts";
import { createHeartbeat } from "../../../src/in/heartbeats/heartbeats.ts";
import { paused } from "../../../src/in/heartbeats/state.ts";
import { testPlane } from "../../support/plane.ts";

const success = { word: "success", rid: null, exit: null, message: null } as const;
const DAY_MS = 86_400_000;

/** A job that has reported once, and a disk that a test fills. */
async function withJob(t: TestContext) {
  const plane = testPlane();
  t.after(() => plane.close());
  const { store, heartbeats, disk, id: tenantId } = plane.tenant;
  plane.rule();
  const { id } = store.write((tx) => {
    const body = { name: "backup", period_seconds: 3600, grace_seconds: 60 };
    return createHeartbeat(tx, getProject(tx, "shop"), { tenantId, body }).row;
  });
  await heartbeats.hear(id, success);
  const room = { isFull: false };
  Object.defineProperty(disk, "nearlyFull", { get: () => room.isFull });
  const open = () =>
    store.sql("SELECT count(*) FROM alerts WHERE state <> 'resolved'").pluck().get();
  return { plane, heartbeats, id, room, open };
}

test("what a full disk kept from the rules is told once there is space, also where the clock was set back meanwhile", async (t) => {
  const { plane, room, open } = await withJob(t);
  room.isFull = true;
  await plane.minutes(62);
  assert.equal(open(), 0);
  plane.clock.setWall(plane.clock.now() - DAY_MS);
  await plane.minutes(1);
  room.isFull = false;
  await plane.minutes(1);
  assert.equal(open(), 1);
});

test("the same of a pause, after which a heartbeat waits for nothing else", async (t) => {
  const { plane, heartbeats, id, room, open } = await withJob(t);
  await plane.minutes(62);
  assert.equal(open(), 1);
  room.isFull = true;
  await plane.minutes(1);
  await heartbeats.change(id, (_, beat) => paused(beat));
  assert.equal(open(), 1);
  plane.clock.setWall(plane.clock.now() - DAY_MS);
  await plane.minutes(1);
  room.isFull = false;
  await plane.minutes(1);
  assert.equal(open(), 0);
});
