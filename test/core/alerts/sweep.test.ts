import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";
import { createSweep } from "../../../src/core/alerts/sweep.ts";
import { silentLog } from "../../../src/ground/kit/log.ts";
import { storageFull } from "../../../src/ground/store/faults.ts";
import type { Store } from "../../../src/ground/store/store.ts";
import { type Plane, step, testPlane } from "../../support/plane.ts";

let plane: Plane;
beforeEach(() => {
  plane = testPlane();
  plane.account("ann");
});
afterEach(() => plane.close());

/** Opens `n` alerts whose step is due in a minute, without a turn of the loop. */
async function openAlerts(n: number): Promise<void> {
  plane.rule({ escalations: [step(1, ["ann"])] });
  const names = "abcdefghijklmnopqrstuvwxyz";
  for (let i = 0; i < n; i += 1) await plane.fire(`${names[i]} is failing in its own way`);
  assert.equal(plane.last().id, n);
}

const paged = () =>
  plane.tenant.store
    .sql("SELECT DISTINCT alert_id FROM events WHERE event = 'alert.escalated' ORDER BY 1")
    .pluck()
    .all();

test("an alert that throws is pushed into the future, counted, and blocks no other", async () => {
  await openAlerts(9);
  const { store, sweep } = plane.tenant;
  store.write((tx) => tx.sql("UPDATE alerts SET identifiers = '{' WHERE id = 4").run());
  await plane.minutes(1);
  assert.deepEqual(paged(), [1, 2, 3, 5, 6, 7, 8, 9]);
  assert.deepEqual(sweep.stats(), { settled: 8, postponed: 1 });
  assert.equal(plane.alert(4).due_at, plane.start + 120);
  assert.equal(plane.timeline(4).length, 1, "what it did before it threw is undone");
  store.write((tx) => tx.sql("UPDATE alerts SET identifiers = '{}' WHERE id = 4").run());
  await plane.minutes(1);
  assert.deepEqual(paged(), [1, 2, 3, 4, 5, 6, 7, 8, 9]);
});

test("a slice is one commit, and the rest goes in the next ones", async () => {
  await openAlerts(5);
  const { store } = plane.tenant;
  await plane.stop();
  await plane.minutes(5);
  plane.again();
  const slices: number[] = [];
  const sweep = createSweep(plane.tenant.store, silentLog, { slice: 2, budgetMs: 8 });
  let next = sweep.run(0);
  slices.push(paged().length);
  while (next !== null) {
    next = sweep.run(0);
    slices.push(paged().length);
  }
  assert.deepEqual(slices, [2, 4, 5]);
  assert.notEqual(store, plane.tenant.store);
});

test("no alert is begun once a slice has used its time", async () => {
  await openAlerts(5);
  await plane.stop();
  await plane.minutes(5);
  plane.again();
  const sweep = createSweep(plane.tenant.store, silentLog, { slice: 100, budgetMs: 0 });
  sweep.run(0);
  assert.deepEqual(paged(), [1]);
});

test("a full disk is no alert's own fault: the slice fails as a whole and no alert is pushed", async () => {
  await openAlerts(3);
  await plane.stop();
  await plane.minutes(5);
  plane.again();
  const { store } = plane.tenant;
  const full: Store = {
    ...store,
    write() {
      throw storageFull();
    },
  };
  const sweep = createSweep(full, silentLog);
  assert.throws(() => sweep.run(0), { code: "storage_full" });
  assert.equal(sweep.stats().postponed, 0);
  await plane.minutes(1);
  assert.deepEqual(paged(), [1, 2, 3]);
});

test("due_at may lie too early: it is put right and nothing else changes", async () => {
  plane.rule({ auto_resolve_quiet_minutes: 10 });
  await plane.fire();
  await plane.minutes(6);
  await plane.fire();
  const seq = plane.last().updated_seq;
  await plane.minutes(5);
  assert.equal(plane.last().due_at, plane.start + 16 * 60);
  assert.equal(plane.last().updated_seq, seq);
});

test("the job sleeps until the next due time and is woken by a new one", async () => {
  plane.rule({ escalations: [step(3, ["ann"])] });
  await plane.minutes(30);
  await plane.fire();
  await plane.clock.turn(180_000);
  assert.deepEqual(
    plane.events("alert.escalated").map(({ minute }) => minute),
    [33],
  );
});
