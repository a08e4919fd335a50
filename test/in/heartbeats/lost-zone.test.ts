import assert from "node:assert/strict";
import { test } from "node:test";
import { getProject } from "../../../src/core/projects/projects.ts";
import { createHeartbeat } from "../../../src/in/heartbeats/heartbeats.ts";
import { defaultRule, type Plane, step, testPlane } from "../../support/plane.ts";

const success = { word: "success", rid: null, exit: null, message: null } as const;
/** Not the heartbeats' own alerts. */
const match = { ...defaultRule.match, sources: ["app"] };
const HOUR_MS = 3_600_000;

/** An hourly job that has reported once; `change` is what another program would have written. */
async function hourly(plane: Plane, change: string): Promise<string> {
  const { store, heartbeats, id: tenantId } = plane.tenant;
  const body = { name: "backup", cron: "0 * * * *", timezone: "UTC", grace_seconds: 600 };
  const { id } = store.write((tx) =>
    createHeartbeat(tx, getProject(tx, "shop"), { tenantId, body }),
  ).row;
  await heartbeats.hear(id, success);
  store.write((tx) => void tx.sql(`UPDATE heartbeats SET ${change} WHERE id = ?`).run(id));
  return id;
}

const stateOf = ({ tenant }: Plane, id: string) =>
  tenant.store.sql("SELECT state FROM heartbeats WHERE id = ?").pluck().get(id);

test("a job in a zone that this program doesn't know reports and is missed, by UTC", async (t) => {
  const plane = testPlane();
  t.after(() => plane.close());
  const id = await hourly(plane, "timezone = 'Europe/Atlantis'");
  await plane.tenant.heartbeats.hear(id, success);
  assert.equal(stateOf(plane, id), "up");
  await plane.minutes(180);
  assert.equal(stateOf(plane, id), "down");
});

for (const change of ["timezone = 'Europe/Atlantis'", "cron = 'no cron'"])
  test(`a job with ${change} stops no other work after a start or a jump`, async (t) => {
    const plane = testPlane();
    t.after(() => plane.close());
    for (const name of ["ann", "bob"]) plane.account(name);
    plane.rule({ match, escalations: [step(0, ["ann"]), step(120, ["bob"])] });
    await plane.fire();
    await hourly(plane, change);
    await plane.stop();
    await plane.clock.turn(1.2 * HOUR_MS);
    plane.again();
    assert.equal(plane.tenant.watch.ready(), true);
    plane.clock.setWall(plane.clock.now() + HOUR_MS);
    await plane.minutes(1);
    assert.equal(plane.tenant.watch.state().lastJump?.by, 3600);
    await plane.minutes(150);
    assert.deepEqual(
      plane.events("alert.escalated").map(({ accounts }) => accounts),
      [["ann"], ["bob"]],
    );
  });
