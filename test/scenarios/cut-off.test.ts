import assert from "node:assert/strict";
import { after, before } from "node:test";
import pino from "pino";
import type { Log } from "../../src/ground/kit/log.ts";
import { LOOK_EVERY_SECONDS } from "../../src/hosted/watch.ts";
import { type FakeApns, startFakeApns } from "../support/apns.ts";
import { handClock } from "../support/clock.ts";
import { ask, signature, type TestHosted, testHosted, useApns } from "../support/hosted-role.ts";
import { long, test } from "../support/long.ts";
import { until } from "../support/until.ts";

/** The network in front of the hosted role is cut: every box is well, and none is heard. */

const BOXES = 24;

interface Box {
  keyId: string;
  secret: string;
}

const logged: string[] = [];
const log: Log = pino({ base: null }, { write: (line) => logged.push(JSON.parse(line).msg) });

let hosted: TestHosted;
let apns: FakeApns;
const boxes: Box[] = [];

before(async () => {
  apns = await startFakeApns();
  hosted = await testHosted({ metricsOpen: true, relayRate: "0" }, handClock(), { log });
  await useApns(hosted, apns);
  const { registry } = hosted.role;
  for (let n = 0; n < BOXES; n++) {
    const { id: tenantId } = await registry.tenants.add({ kind: "box" });
    const { account } = await registry.accounts.add(`p${n}@example.com`);
    const first = await registry.pairings.first({
      tenantId,
      accountId: account.id,
      boxAccountId: `box-${n}`,
    });
    assert.ok(first.kind === "paired");
    const token = n.toString(16).padStart(64, "0");
    await registry.devices.put({
      accountId: account.id,
      token,
      platform: "ios",
      criticalAlerts: false,
    });
    boxes.push(first.credential);
  }
});

after(async () => {
  await hosted.stop();
  await apns.close();
});

async function beat(box: Box): Promise<void> {
  const timestamp = Math.floor(hosted.clock.now() / 1000);
  const body = JSON.stringify({ event: "box.heartbeat", alert_id: "", project: "", timestamp });
  const answer = await ask(`${hosted.url}/v1/relay/${box.keyId}`, {
    method: "POST",
    body,
    headers: signature(hosted, box, body),
  });
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
}

/** Lets the time pass in which the service looks; each minute those of `heard` say that they live. */
async function pass(minutes: number, heard: readonly Box[]): Promise<void> {
  for (let second = 0; second < minutes * 60; second += LOOK_EVERY_SECONDS) {
    if (second % 60 === 0) await Promise.all(heard.map(beat));
    await hosted.clock.turn(LOOK_EVERY_SECONDS * 1000);
    await until(() => hosted.role.scheduler.running === 0, "the look ends");
  }
}

const shown = () => apns.received.splice(0).map(({ body }) => body.aps.alert.title);
const readiness = async () => (await hosted.call("GET", "/readyz")).body;
const metric = async (name: string) => {
  const { body } = await hosted.call("GET", "/metrics");
  return Number(new RegExp(`^${name} (\\d+)$`, "m").exec(body)?.[1]);
};

test("a cut of ten minutes pages nobody; who is still silent afterwards is told", async () => {
  await pass(3, boxes);
  assert.equal((await readiness()).status, "ok");

  await pass(10, []);
  assert.deepEqual(shown(), []);
  const cut = await readiness();
  assert.deepEqual([cut.ready, cut.status], [true, "degraded"]);
  const check = cut.checks.find(({ name }: { name: string }) => name === "boxes");
  assert.match(
    check.detail,
    /^24 of 24 boxes send no heartbeat: check the network and load balancer/,
  );
  assert.equal(await metric("box_hosted_silence_held"), 1);
  assert.equal(await metric("box_hosted_boxes_unheard"), BOXES);

  const held =
    "most boxes send no heartbeat: this service is probably cut off, so no missing heartbeat is reported";
  assert.deepEqual(logged.splice(0), [held]);

  const [dead, ...living] = boxes;
  assert.ok(dead);
  await pass(4, living);
  assert.deepEqual(shown(), []);
  assert.deepEqual(logged.splice(0), [
    "boxes send heartbeats again: missing ones count from now on",
  ]);
  assert.equal((await readiness()).status, "ok");
  assert.equal(await metric("box_hosted_silence_held"), 0);
  await pass(2, living);
  assert.deepEqual(shown(), ["Box is silent"]);
  await pass(1, boxes);
  assert.deepEqual(shown(), ["Box is back"]);
});

long("boxes that die one after the other are told, however many", async () => {
  await pass(3, boxes);
  for (let gone = 1; gone <= 15; gone += 2) {
    await pass(6, boxes.slice(gone));
    assert.ok(shown().length > 0, `${gone}`);
  }
  assert.equal((await readiness()).status, "ok");
});
