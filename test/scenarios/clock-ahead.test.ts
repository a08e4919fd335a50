import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";
import { type TestBox, testBox } from "../support/box.ts";
import { type TestProject, testProject } from "../support/channels.ts";
import { answer, hang, type Receiver, startReceiver } from "../support/receiver.ts";
import { busy, pass, settle, through } from "../support/until.ts";

const DAYS_MS = 30 * 86_400_000;

let box: TestBox;
let shop: TestProject;
let receiver: Receiver;
beforeEach(async () => {
  receiver = await startReceiver();
  box = await testBox();
  shop = await testProject(box, "shop");
});
afterEach(async () => {
  await receiver.close();
  await through(box, box.stop());
});

/** Stops the box, sets the machine's clock, and starts it again. */
async function startAgainWith(byMs: number): Promise<void> {
  const set = () => box.clock.setWall(box.clock.now() + byMs);
  await through(box, box.restart(set));
  await settle(box);
}

async function action(): Promise<string> {
  const { body } = await box.api("POST", "/v1/projects/shop/actions", {
    name: "restart",
    method: "POST",
    url: `${receiver.url}/run`,
  });
  return body.id;
}

const executions = async (id: string) =>
  (await box.api("GET", `/v1/projects/shop/actions/${id}/executions`)).body.executions;

test("a page and a run that waited when the box stopped are made though the clock is 30 days ahead at the start", async () => {
  const webhook = await shop.webhook(`${receiver.url}/hook`);
  const run = await action();
  receiver.once(hang, hang);
  await shop.fire(1);
  await busy(box, () => receiver.received.length === 2, "both are under way");
  await startAgainWith(DAYS_MS);
  const again = receiver.received.slice(2).map(({ path }) => path);
  assert.deepEqual(again.sort(), ["/hook", "/run"]);
  assert.equal((await shop.deliveries(webhook))[0]?.status, "delivered");
  assert.equal((await executions(run))[0].status, "succeeded");
});

test("it goes on being tried after a first failure, also when the clock is put right again", async () => {
  const webhook = await shop.webhook(`${receiver.url}/hook`);
  receiver.always(answer(503));
  await shop.fire(1);
  await settle(box);
  await startAgainWith(DAYS_MS);
  await pass(box, 120, 10);
  assert.equal((await shop.deliveries(webhook))[0]?.status, "pending");
  box.clock.setWall(box.clock.now() - DAYS_MS);
  await pass(box, 120, 10);
  assert.equal((await shop.deliveries(webhook))[0]?.status, "pending");
  receiver.always(answer(204));
  await pass(box, 3600, 30);
  assert.equal((await shop.deliveries(webhook))[0]?.status, "delivered");
});

test("what waits for a disabled channel is not given up by the clock, and its streak is no longer for it", async () => {
  const webhook = await shop.webhook(`${receiver.url}/hook`);
  receiver.always(answer(503));
  await shop.fire(1);
  await settle(box);
  const before = box.clock.now();
  await shop.post(`/integrations/${webhook}/disable`);
  await startAgainWith(DAYS_MS);
  await pass(box, 120, 30);
  assert.equal((await shop.deliveries(webhook))[0]?.status, "pending");
  receiver.always(answer(204));
  await shop.post(`/integrations/${webhook}/enable`);
  await settle(box);
  assert.equal((await shop.deliveries(webhook))[0]?.status, "delivered");
  assert.ok(box.clock.now() - before > DAYS_MS);
});

test("the breaker counts no time in which the box was down", async () => {
  const webhook = await shop.webhook(`${receiver.url}/hook`);
  receiver.always(answer(503));
  for (let k = 0; k < 25; k++) await shop.fire(k);
  await pass(box, 600, 5);
  assert.ok((await shop.integration(webhook)).consecutive_failures >= 20);
  await startAgainWith(DAYS_MS);
  await pass(box, 600, 5);
  assert.equal((await shop.integration(webhook)).enabled, true);
});

test("a page that waited a day of the box's own time has failed, whatever its clock did between", async () => {
  const webhook = await shop.webhook(`${receiver.url}/hook`);
  receiver.always(answer(503));
  await shop.fire(1);
  await pass(box, 3600, 60);
  await startAgainWith(DAYS_MS);
  // A try whose next one would come after a day is the last: from 72 minutes before on, by its jitter.
  await pass(box, 21 * 3600, 600);
  assert.equal((await shop.deliveries(webhook))[0]?.status, "pending");
  await pass(box, 3 * 3600, 600);
  assert.equal((await shop.deliveries(webhook))[0]?.status, "failed");
});
