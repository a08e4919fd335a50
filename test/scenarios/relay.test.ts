import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { type Answer, testBox } from "../support/box.ts";
import { ask } from "../support/hosted-role.ts";
import { long, test } from "../support/long.ts";
import { type RelayStory, relayStory } from "../support/relay-story.ts";

async function begin(t: TestContext): Promise<RelayStory> {
  const story = await relayStory();
  t.after(() => story.close());
  return story;
}

/** A project whose every event opens an alert; posts one. */
async function alarming(story: RelayStory, project: string, rule: object = {}) {
  const token = await story.box.project(project);
  const made = await story.box.api("POST", `/v1/projects/${project}/rules`, {
    name: "any",
    identifier_keys: ["host"],
    ...rule,
  });
  assert.equal(made.status, 201, JSON.stringify(made.body));
  return (host: string) =>
    story.box.ingest(token, { message: "Disk is full", level: 400, keys: { host } });
}

const relayRow = async (story: RelayStory, project: string) => {
  const row = story.box.tenant.store
    .sql(
      `SELECT i.* FROM integrations i JOIN projects p ON p.id = i.project_id
       WHERE p.name = ? AND i.relay = 1`,
    )
    .get(project);
  return row as {
    id: string;
    last_error: string | null;
    url: string;
    consecutive_failures: number;
  };
};

const deliveries = (story: RelayStory): string[] =>
  story.box.tenant.store
    .sql("SELECT event || ' ' || alert_id || ' ' || status FROM deliveries ORDER BY id")
    .pluck()
    .all() as string[];

test("from a pairing code to a phone that rings", async (t) => {
  const story = await begin(t);
  const before = await alarming(story, "early");
  const read = () => story.box.api("GET", "/v1/relay", undefined, story.ada.key);
  const none = { configured: false, name: "hosted-relay", relay_url: "" };
  assert.deepEqual((await read()).body, none);

  await story.putRelay();
  const { relay_url } = story.relay;
  assert.deepEqual((await read()).body, { ...none, configured: true, relay_url });
  const after = await alarming(story, "later");
  await before("a");
  await after("b");
  await story.settle();
  assert.deepEqual(story.shown().sort(), ["ada: early: any", "ada: later: any"]);
  const [push] = story.apns.received;
  assert.equal(push?.body.aps.alert.body, "Disk is full (×1)");
  assert.deepEqual(deliveries(story), ["alert.opened 1 delivered", "alert.opened 2 delivered"]);
  const timeline = await story.box.api("GET", "/v1/alerts/1/timeline");
  const told = timeline.body.timeline.find((entry: { kind: string }) => entry.kind === "delivered");
  assert.equal(told.detail.integration, "hosted-relay");
});

test("the second person pairs with a receipt, checked at the address that the box announced", async (t) => {
  const story = await begin(t);
  await story.putRelay();
  await story.settle();
  const known = await story.hosted.role.registry.tenants.get(story.tenantId);
  assert.deepEqual([known?.boxUrl, known?.boxTenantId], [story.box.url, story.box.tenant.id]);

  const ben = await story.join("ben");
  const fire = await alarming(story, "shop");
  await fire("a");
  await story.settle();
  assert.deepEqual(story.shown().sort(), ["ada: shop: any", "ben: shop: any"]);
  const list = await story.hosted.call("GET", `/v1/tenants/${story.tenantId}/pairings`, {
    token: ben.token,
  });
  assert.equal(list.body.pairings.length, 2);
});

long(
  "an escalation reaches those it names, and whoever was unpaired is left alone from then on",
  async (t) => {
    const story = await begin(t);
    await story.putRelay();
    await story.settle();
    const [ben, cat] = [await story.join("ben"), await story.join("cat")];
    const fire = await alarming(story, "shop", {
      escalations: [
        { accounts: [ben.boxAccountId], after_minutes: 5 },
        { accounts: [story.ada.boxAccountId, cat.boxAccountId], after_minutes: 10 },
      ],
    });
    await fire("a");
    await story.settle();
    const all = (title: string) => ["ada", "ben", "cat"].map((name) => `${name}: ${title}`);
    assert.deepEqual(story.shown().sort(), all("shop: any"));
    await story.pass(5 * 60, 15);
    assert.deepEqual(story.shown(), ["ben: shop: any"]);

    const gone = await story.hosted.call(
      "DELETE",
      `/v1/tenants/${story.tenantId}/pairings/${cat.accountId}`,
      { token: story.ada.token },
    );
    assert.deepEqual(gone.body, { revoked: true });
    await story.pass(5 * 60, 15);
    assert.deepEqual(story.shown(), ["ada: shop: any"]);
    await fire("b");
    await story.settle();
    assert.deepEqual(story.shown().sort(), ["ada: shop: any", "ben: shop: any"]);
  },
);

long(
  "after an hour without the relay everything still fresh is pushed, in order, one at a time",
  async (t) => {
    const story = await begin(t);
    await story.putRelay();
    const fire = await alarming(story, "shop", { auto_resolve_quiet_minutes: 0 });
    await story.pass(60);
    await story.hosted.stopServing();
    for (const host of ["a", "b", "c", "d", "e", "f"]) {
      await fire(host);
      await story.settle();
      await story.pass(10 * 60, 30);
    }
    // What somebody has taken care of meanwhile is no news any more.
    await story.box.api("POST", "/v1/alerts/2/ack");
    await story.box.api("POST", "/v1/alerts/4/resolve");
    const row = await relayRow(story, "shop");
    assert.match(String(row.last_error), /refused/);
    const asked = story.box.tenant.outbox.deliveries.counts.failed;
    assert.ok(asked < 60 * 60, `${asked} attempts in an hour`);
    assert.deepEqual(story.shown(), []);

    await story.hosted.serveAgain();
    // The next heartbeat finds the relay, whenever the pages' own next tries would be.
    await story.pass(70);
    const alerts = story.apns.received.map(({ body }) => body["alert_id"]);
    assert.deepEqual(alerts, ["1", "3", "5", "6"]);
    assert.equal(story.apns.mostStreams, 1);
    assert.deepEqual(deliveries(story), [
      "alert.opened 1 delivered",
      "alert.opened 2 dropped",
      "alert.opened 3 delivered",
      "alert.opened 4 dropped",
      "alert.opened 5 delivered",
      "alert.opened 6 delivered",
    ]);
    assert.equal((await relayRow(story, "shop")).last_error, null);
    await story.pass(600, 15);
    assert.deepEqual(story.shown().length, 4, "nobody was told of a silence that was ours");
  },
);

long(
  "a box that goes silent pages its people once, and once when it is back; a planned stop pages nobody",
  async (t) => {
    const story = await begin(t);
    await story.putRelay();
    await story.pass(120, 15);
    await story.box.restart();
    await story.pass(60, 15);
    assert.deepEqual(story.shown(), []);

    await story.box.tenant.scheduler.stop();
    await story.pass(300, 15);
    assert.deepEqual(story.shown(), []);
    await story.pass(45, 15);
    assert.deepEqual(story.shown(), ["ada: Box is silent"]);
    await story.pass(1800, 15);
    assert.deepEqual(story.shown(), []);
    await story.box.restart();
    await story.pass(60, 15);
    assert.deepEqual(story.shown(), ["ada: Box is back"]);
  },
);

test("a rotated key is a 401 that the box names; the new one sends what waited", async (t) => {
  const story = await begin(t);
  await story.putRelay();
  const fire = await alarming(story, "shop");
  const rotated = await story.hosted.call("POST", `/v1/tenants/${story.tenantId}/relay-key`, {
    token: story.ada.token,
  });
  await fire("a");
  await story.pass(120);
  const row = await relayRow(story, "shop");
  assert.equal(row.last_error, "http 401: the relay key was rotated or revoked");
  assert.match(String(story.box.tenant.news?.contact().error), /rotated/);
  assert.deepEqual(story.shown(), []);
  const health = await story.box.api("GET", "/readyz");
  const check = health.body.checks.find((one: { name: string }) => one.name === "relay");
  assert.deepEqual([check.ok, /rotated/.test(check.detail)], [false, true]);

  const { relay_key_id, relay_secret } = rotated.body;
  const relay_url = `${story.hosted.url}/v1/relay/${relay_key_id}`;
  await story.putRelay({ relay_url, relay_secret });
  await story.pass(10);
  assert.deepEqual(story.shown(), ["ada: shop: any"]);
  const mended = await relayRow(story, "shop");
  assert.deepEqual([mended.url, mended.last_error], [relay_url, null]);
  assert.equal(story.box.tenant.news?.contact().error, null);
});

long("a page that was answered when the relay died is not pushed twice", async (t) => {
  const story = await begin(t);
  await story.putRelay();
  const fire = await alarming(story, "shop");
  await story.pass(1);
  const ringing = story.apns.seen(1);
  let release = () => {};
  const held = new Promise<void>((done) => {
    release = done;
  });
  story.apns.script(story.ada.device, { until: held, next: { status: 200 } });
  await fire("a");
  await story.clock.turn(0);
  await ringing;
  const stopping = story.hosted.stopServing();
  release();
  await story.through(stopping);
  await story.settle();
  await story.hosted.serveAgain();
  await story.pass(30);
  assert.deepEqual(story.shown(), ["ada: shop: any"]);
  assert.deepEqual(deliveries(story), ["alert.opened 1 delivered"]);
});

long(
  "a relay is proved before it is wired, and its removal pages nobody for the silence",
  async (t) => {
    const story = await begin(t);
    const fire = await alarming(story, "shop");
    const { relay_url, relay_secret } = story.relay;
    const put = (body: object) => story.box.api("PUT", "/v1/relay", { ...body, test: true });
    const wrong = await put({ relay_url, relay_secret: "w".repeat(43) });
    assert.deepEqual([wrong.status, wrong.body.error.code], [422, "relay_not_proved"]);
    assert.equal((await put({ relay_url, relay_secret })).status, 200);
    await story.settle();
    await fire("a");
    await story.settle();
    assert.deepEqual(story.shown(), ["ada: shop: any"]);
    assert.equal((await story.box.api("DELETE", "/v1/relay")).status, 200);
    await story.pass(900, 60);
    assert.deepEqual(story.shown(), []);
  },
);

long(
  "once the relay has no phone of somebody whom a ladder pages, readiness names them",
  async (t) => {
    const story = await begin(t);
    await story.putRelay();
    await story.settle();
    const ben = await story.join("ben");
    const fire = await alarming(story, "shop", { escalations: [{ accounts: [ben.boxAccountId] }] });
    const reach = async () => {
      const { body } = await story.box.api("GET", "/readyz", undefined, story.ada.key);
      return body.checks.find(({ name }: { name: string }) => name === "reach");
    };
    await fire("a");
    await story.settle();
    assert.ok(story.shown().includes("ben: shop: any"));
    assert.equal((await reach()).ok, true);
    await story.hosted.call("DELETE", `/v1/tenants/${story.tenantId}/pairings/${ben.accountId}`, {
      token: story.ada.token,
    });
    await fire("b");
    await story.settle();
    // The opening is everybody's who is paired; Ben's page reached no phone, so the fallback has it, who is the owner.
    assert.deepEqual(story.shown(), ["ada: shop: any", "ada: shop: any"]);
    const { ok, detail } = await reach();
    assert.equal(ok, false);
    assert.match(detail, /^ben@example\.com is paged by rule any of shop, .*no phone of theirs/);
  },
);

long(
  "a second box with the same key is told to its people, the relay and both boxes",
  async (t) => {
    const story = await begin(t);
    await story.putRelay();
    const copy = await testBox({}, story.clock);
    let isStopped = false;
    const stop = async () => {
      if (!isStopped) await copy.stop();
      isStopped = true;
    };
    t.after(stop);
    const { relay_url, relay_secret } = story.relay;
    const put = await copy.api("PUT", "/v1/relay", { relay_url, relay_secret });
    assert.equal(put.status, 200, JSON.stringify(put.body));
    const detail = async (ask: (path: string) => Promise<Answer>, name: string) => {
      const { body } = await ask("/readyz");
      const found = body.checks.find((one: { name: string }) => one.name === name);
      return [found.ok, found.detail];
    };
    const boxes = [story.box, copy].map((box) => (path: string) => ask(box.url + path, {}));
    const hosted = (path: string) => story.hosted.call("GET", path);
    for (const box of boxes) assert.equal((await detail(box, "relay"))[0], true);
    assert.equal((await detail(hosted, "boxes"))[0], true);
    await story.pass(300, 15);
    assert.deepEqual(story.shown(), ["ada: Two boxes page as one"]);
    for (const box of boxes)
      assert.match(String(await detail(box, "relay")), /^false,another box pages/);
    assert.match(String(await detail(hosted, "boxes")), /^false,.*1 keys are used by two boxes/);

    await stop();
    await story.pass(600, 15);
    assert.equal((await detail(boxes[0] as (typeof boxes)[0], "relay"))[0], true);
    assert.equal((await detail(hosted, "boxes"))[0], true);
  },
);
