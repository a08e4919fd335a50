import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type TestBox, testBox } from "../support/box.ts";

let box: TestBox;
before(async () => {
  box = await testBox();
});
after(() => box.stop());

test("an event becomes an alert that is seen, acknowledged and resolved", async () => {
  const token = await box.project("shop", { retain_logs: true });
  const rule = await box.api("POST", "/v1/projects/shop/rules", {
    name: "errors",
    match: { min_level: 400 },
  });
  assert.equal(rule.status, 201);

  const quiet = await box.ingest(token, { message: "User 42 logged in", level: 200 });
  assert.equal(quiet.status, 202);
  assert.equal(quiet.body.alerted, false);
  assert.match(quiet.body.template_id, /^[0-9a-f]{16}$/);

  const loud = await box.ingest(token, {
    message: "User 42 failed login from 10.0.0.1",
    level: 400,
  });
  assert.deepEqual([loud.status, loud.body.alerted], [202, true]);
  const again = await box.ingest(token, {
    message: "User 43 failed login from 10.0.0.9",
    level: 500,
  });
  assert.equal(again.body.template_id, loud.body.template_id);

  const pulled = await box.api("GET", "/v1/pull");
  assert.equal(pulled.body.alerts.length, 1);
  const [alert] = pulled.body.alerts;
  assert.deepEqual(
    [alert.id, alert.project, alert.rule, alert.state, alert.count, alert.level],
    ["1", "shop", "errors", "open", 2, 500],
  );
  assert.equal(alert.template, "User <*> failed login from <*>");
  assert.deepEqual(pulled.body.config_versions, [{ project: "shop", version: 3 }]);

  const acked = await box.api("POST", "/v1/alerts/1/ack");
  assert.equal(acked.body.state, "acknowledged");
  assert.ok(acked.body.updated_seq > alert.updated_seq);
  const resolved = await box.api("POST", "/v1/alerts/1/resolve");
  assert.equal(resolved.body.state, "resolved");
  assert.equal((await box.api("POST", "/v1/alerts/1/ack")).body.state, "resolved");

  await box.ingest(token, { message: "User 7 failed login from 10.0.0.2", level: 400 });
  const list = await box.api("GET", "/v1/alerts?project=shop");
  assert.deepEqual(
    list.body.alerts.map((a: { id: string; count: number }) => [a.id, a.count]),
    [
      ["2", 1],
      ["1", 2],
    ],
  );
  const tail = await box.api("GET", `/v1/projects/shop/logtail?template=${loud.body.template_id}`);
  assert.equal(tail.body.messages.length, 3);
  assert.equal(tail.body.messages[2].message, "User 7 failed login from 10.0.0.2");
});

test("200 parallel events of one rule make exactly one alert, ids in commit order", async () => {
  const token = await box.project("storm");
  await box.api("POST", "/v1/projects/storm/rules", { name: "any" });
  const answers = await Promise.all(
    Array.from({ length: 200 }, (_, i) => box.ingest(token, { message: `disk ${i} is failing` })),
  );
  assert.ok(answers.every(({ status, body }) => status === 202 && body.alerted));
  const { body } = await box.api("GET", "/v1/alerts?project=storm");
  assert.deepEqual(
    body.alerts.map((a: { count: number }) => a.count),
    [200],
  );
});

test("what was answered 202 is there after a restart, and windows go on counting", async () => {
  const token = await box.project("window");
  await box.api("POST", "/v1/projects/window/rules", {
    name: "three",
    fire_after: { count: 3, window_minutes: 5 },
  });
  for (let i = 0; i < 2; i++) await box.ingest(token, { message: "queue is full" });
  await box.restart();
  await box.clock.turn(4 * 60_000);
  const third = await box.ingest(token, { message: "queue is full" });
  assert.equal(third.body.alerted, true);
  const { body } = await box.api("GET", "/v1/alerts?project=window");
  assert.equal(body.alerts[0].count, 3);
});
