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

const FLOOD = 3000;

test(`a flood of one rule lets another rule's page, and one of a higher level, through within a few turns`, async () => {
  const town = await receiver();
  const held: (() => void)[] = [];
  town.always((response) => void held.push(() => response.writeHead(204).end()));
  const token = await box.project("town");
  const rule = (name: string, tag: string) =>
    box.api("POST", "/v1/projects/town/rules", {
      name,
      identifier_keys: ["k"],
      max_open: 0,
      match: { tags: [tag] },
    });
  await rule("flood", "flood");
  await rule("till", "till");
  await box.api("POST", "/v1/projects/town/webhooks", { url: town.url });
  const event = (k: number, tag: string, level = 400) => ({
    message: "it is down",
    keys: { k },
    tags: [tag],
    level,
  });
  for (let k = 0; k < FLOOD; k += 500) {
    const lines = Array.from({ length: 500 }, (_, i) => JSON.stringify(event(k + i, "flood")));
    const answer = await fetch(`${box.url}/v1/ingest`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/x-ndjson" },
      body: lines.join("\n"),
    });
    assert.equal(answer.status, 202);
  }
  await box.ingest(token, event(1, "till"));
  await box.ingest(token, event(-1, "flood", 500));

  town.always((response) => void response.writeHead(204).end());
  for (const answer of held) answer();
  await until(() => town.received.length === FLOOD + 2, "everything arrives");
  const told = town.received.map(({ body }) => JSON.parse(body));
  const till = told.findIndex(({ rule: name }) => name === "till");
  const worst = told.findIndex(({ level }) => level === 500);
  // What was under way when they came goes before them, and their own turns.
  assert.ok(till <= held.length + 3, `the other rule's page is number ${till} of ${told.length}`);
  assert.ok(worst <= held.length + 3, `the higher level's page is number ${worst}`);
  assert.ok(held.length < 10, `${held.length} were under way`);
  const flood = told.filter(({ rule: name, level }) => name === "flood" && level === 400);
  const ids = flood.map(({ alert_id }) => Number(alert_id));
  assert.ok(
    ids.every((id, i) => Math.abs(id - (ids[0] ?? 0) - i) <= 64 + 2),
    "a rule's own go in order, as far as many at a time do",
  );
});

test("an alert that gets worse takes what still waits of it along, and its own order stays", async () => {
  const port = await receiver();
  const held: (() => void)[] = [];
  port.always((response) => void held.push(() => response.writeHead(204).end()));
  const token = await box.project("port");
  await box.api("POST", "/v1/projects/port/rules", { name: "any", identifier_keys: ["k"] });
  await box.api("POST", "/v1/projects/port/webhooks", { url: port.url });
  const fire = (k: number, level: number) =>
    box.ingest(token, { message: "it is down", keys: { k }, level });
  for (let k = 1; k <= 60; k++) await fire(k, 400);
  await fire(60, 500);
  const { body } = await box.api("GET", "/v1/alerts?limit=1");
  const worst = body.alerts[0].id;
  assert.equal((await box.api("POST", `/v1/alerts/${worst}/ack`)).status, 200);

  port.always((response) => void response.writeHead(204).end());
  for (const answer of held) answer();
  await until(() => port.received.length === 61, "everything arrives");
  const told = port.received.map(({ body: text }) => JSON.parse(text));
  const places = told.flatMap(({ alert_id }, i) => (alert_id === worst ? [i] : []));
  assert.deepEqual(
    places.map((i) => told[i].event),
    ["alert.opened", "alert.acknowledged"],
  );
  assert.ok(Math.max(...places) < held.length + 10, `they are numbers ${places}`);
});
