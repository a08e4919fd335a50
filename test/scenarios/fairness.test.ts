import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { type TestBox, testBox } from "../support/box.ts";
import { testProject } from "../support/channels.ts";
import { realClock } from "../support/clock.ts";
import { drip, hang, type Receiver, startReceiver } from "../support/receiver.ts";
import { until } from "../support/until.ts";

const STUCK = 50;
const HEALTHY = 5;
const ALERTS = 30;

let box: TestBox;
const receivers: Receiver[] = [];
before(async () => {
  box = await testBox({}, realClock());
});
after(async () => {
  for (const receiver of receivers) await receiver.close();
  await box.stop();
});

async function receiver(): Promise<Receiver> {
  const started = await startReceiver();
  receivers.push(started);
  return started;
}

test(`${STUCK} endpoints that never answer don't delay the others, and hold a socket each`, async () => {
  const shop = await testProject(box, "shop");
  const silent = await receiver();
  silent.always(hang);
  const slow = await receiver();
  slow.always(drip());
  for (let i = 0; i < STUCK; i++) await shop.webhook(`${i % 2 === 0 ? silent.url : slow.url}/${i}`);
  const sentAt = new Map<string, number>();
  const delays: number[] = [];
  const well = await receiver();
  well.always((response, _socket, { body }) => {
    delays.push(performance.now() - (sentAt.get(JSON.parse(body).alert_id) ?? Number.NaN));
    response.writeHead(204).end();
  });
  for (let i = 0; i < HEALTHY; i++) await shop.webhook(`${well.url}/${i}`);

  for (let k = 1; k <= ALERTS; k++) {
    sentAt.set(String(k), performance.now());
    await shop.fire(k);
    await pause(30);
  }
  await until(() => delays.length === ALERTS * HEALTHY, "every healthy endpoint has every alert");
  delays.sort((a, b) => a - b);
  const p95 = delays[Math.floor(delays.length * 0.95)] ?? Number.NaN;
  // Behind one that is stuck, each would wait until its attempt is given up, after ten seconds.
  assert.ok(p95 < 5000, `p95 ${p95} ms`);
  assert.ok(silent.open + slow.open <= STUCK, `${silent.open + slow.open} sockets`);
});
