import assert from "node:assert/strict";
import test, { type TestContext } from "node:test";
import { createHourCounts } from "../../../src/in/ingest/hour-counts.ts";
import { sweepHours } from "../../../src/in/ingest/hour-rows.ts";
import { type TestBox, testBox } from "../../support/box.ts";

/** Counts of hours that aren't written yet when what they count goes away. */

async function started(t: TestContext): Promise<TestBox> {
  const box = await testBox();
  t.after(() => box.stop());
  return box;
}

async function send({ url }: TestBox, token: string, message: string): Promise<number> {
  const { status } = await fetch(`${url}/v1/ingest`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ message, level: 400 }),
  });
  return status;
}

const rule = { name: "errors", match: { min_level: 400 } };

/** It has counted an event a moment ago, and a rule of it has changed since. */
async function deleteProject(box: TestBox, token: string): Promise<void> {
  assert.equal(await send(box, token, "disk full"), 202);
  assert.equal((await box.api("POST", "/v1/projects/gone/rules", rule)).status, 201);
  assert.equal((await box.api("DELETE", "/v1/projects/gone")).status, 200);
}

const counted = ({ tenant: { store } }: TestBox) =>
  store.sql<[], number>("SELECT sum(n) FROM hour_counts").pluck().get();

test("what a deleted project counted last stops no other's events", async (t) => {
  const box = await started(t);
  const [gone, other] = [await box.project("gone"), await box.project("other")];
  assert.equal(await send(box, other, "disk full"), 202);
  await deleteProject(box, gone);
  await box.clock.turn(61_000);
  assert.equal(await send(box, other, "disk full"), 202);
  await box.clock.turn(61_000);
  assert.equal(counted(box), 2);
});

test("what a deleted project counted last isn't the next one's", async (t) => {
  const box = await started(t);
  await deleteProject(box, await box.project("gone"));
  // The store gives it the id of the deleted one's counts.
  const next = await box.project("next");
  assert.equal(await send(box, next, "disk full"), 202);
  await box.clock.turn(61_000);
  assert.equal(await send(box, next, "disk full"), 202);
  await box.clock.turn(61_000);
  assert.equal(counted(box), 2);
});

test("what a series counted before a sweep took it isn't the next one's", async (t) => {
  const box = await started(t);
  await box.project("one");
  const { store } = box.tenant;
  const projectId = store.sql<[], number>("SELECT id FROM projects").pluck().get() ?? 0;
  const counts = createHourCounts();
  const count = (selection: string, since: number) =>
    store.write((tx) => {
      const { id: series } = counts.series(tx, { projectId, selection, since });
      counts.add(tx, { series, key: "1" }, false);
      return series;
    });
  const swept = count("before", 1);
  store.write((tx) => sweepHours(tx, 100));
  counts.forgetSeries(projectId);
  assert.equal(count("after", 2), swept);
  store.write((tx) => counts.finish(tx));
  assert.equal(counted(box), 1);
});
