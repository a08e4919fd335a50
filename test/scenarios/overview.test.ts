import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Overview } from "../../src/tenant/overview.ts";
import { type TestBox, testBox } from "../support/box.ts";
import { testProject } from "../support/channels.ts";
import { box as run } from "../support/command-line.ts";
import { answer, type Receiver, startReceiver } from "../support/receiver.ts";
import { settle, through } from "../support/until.ts";

let box: TestBox;
let receiver: Receiver;
before(async () => {
  receiver = await startReceiver();
  box = await testBox();
});
after(async () => {
  await receiver.close();
  await through(box, box.stop());
});

const overview = async (query = "", key?: string): Promise<Overview> => {
  const got = await box.api("GET", `/v1/overview${query}`, undefined, key);
  assert.equal(got.status, 200, JSON.stringify(got.body));
  return got.body;
};

test("everything in one answer: counts, who is on call, readiness, what came in the last hour", async () => {
  const shop = await testProject(box, "shop");
  const other = await box.project("archive");
  const layer = { name: "l", rotation_start: 1_700_000_000, shift_minutes: 1440 };
  await box.api("POST", "/v1/projects/shop/oncall/schedules", {
    name: "primary",
    timezone: "UTC",
    layers: [{ ...layer, participants: [box.owner.accountId] }],
  });
  const [good, bad] = [await shop.webhook(receiver.url), await shop.webhook(`${receiver.url}/bad`)];
  receiver.always((response, socket, request) =>
    answer(request.path === "/bad" ? 500 : 200)(response, socket, request),
  );
  await shop.fire(1);
  await settle(box);
  await box.clock.turn(120_000);
  await shop.fire(2);
  await shop.fire(3);
  await settle(box);
  await box.ingest(other, { message: "x" });
  await box.api("POST", "/v1/alerts/1/ack");

  const at = Math.floor(box.clock.now() / 1000);
  const { projects, ready, ...all } = await overview();
  assert.deepEqual([all.at, all.next], [at, null]);
  assert.deepEqual(all.alerts, { open: 2, acknowledged: 1, resolved: 0, silenced: 0, mine: 1 });
  assert.ok(ready?.status === "degraded" || ready?.status === "ok", JSON.stringify(ready));
  const [archive, shown] = projects;
  assert.deepEqual([archive?.project, archive?.sources[0]?.hour], ["archive", 1]);
  assert.deepEqual(shown?.alerts.open, 2);
  assert.deepEqual(shown?.channels, { works: 1, failing: 1, off: 0, never_tried: 0 });
  assert.deepEqual(shown?.on_call, [
    {
      schedule: "primary",
      off: false,
      account_id: box.owner.accountId,
      accounts: [box.owner.accountId],
    },
  ]);
  assert.equal(shown?.rules, 1);
  const [app] = shown?.sources ?? [];
  assert.deepEqual([app?.name, app?.kind, app?.last_event_at, app?.hour], ["app", "events", at, 3]);
  assert.deepEqual(app?.minutes.slice(-3), [1, 0, 2]);
  assert.equal(app?.minutes.length, 60);

  await box.api("POST", `/v1/projects/shop/integrations/${good}/disable`);
  await box.api("DELETE", `/v1/projects/shop/integrations/${bad}`);
  const later = await overview("?after=archive&limit=1");
  assert.deepEqual(
    later.projects.map(({ project, channels }) => [project, channels]),
    [["shop", { works: 0, failing: 0, off: 1, never_tried: 0 }]],
  );
  assert.equal((await overview("?limit=1")).next, "archive");

  const { out } = await run(["overview"], { env: { BOX_URL: box.url, BOX_KEY: box.owner.key } });
  assert.match(out, /2 open \(0 silenced\), 1 acknowledged, 1 yours/);
  assert.match(out, /^shop +2 +1 +1 off +primary: owner@example\.org$/m);
  assert.match(out, /^shop +app +events +3 /m);
});

test("the hour begins anew with the program; when a source was heard last is known", async () => {
  const before = (await overview()).projects.find(({ project }) => project === "shop");
  await box.restart();
  await box.clock.turn(60_000);
  const { projects } = await overview();
  const [app] = projects.find(({ project }) => project === "shop")?.sources ?? [];
  assert.deepEqual([app?.hour, app?.last_event_at], [0, before?.sources[0]?.last_event_at]);
});

test("what is rolled back was not heard", async () => {
  const token = await box.project("torn");
  const { db } = box.tenant.store;
  await box.api("POST", "/v1/projects/torn/rules", { name: "any" });
  db.exec("CREATE TEMP TRIGGER fails BEFORE INSERT ON alerts BEGIN SELECT raise(ABORT, 'no'); END");
  assert.equal((await box.ingest(token, { message: "down" })).status, 500);
  db.exec("DROP TRIGGER fails");
  const { projects } = await overview();
  const [app] = projects.find(({ project }) => project === "torn")?.sources ?? [];
  assert.deepEqual([app?.hour, app?.last_event_at], [0, null]);
});
