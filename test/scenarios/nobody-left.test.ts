import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { mergeAlerts } from "../../src/core/alerts/merge.ts";
import type { Person, TestBox } from "../support/box.ts";
import { configureRelay } from "../support/channels.ts";
import { pagedStory, reachBy, toldIn } from "../support/contacts.ts";
import { answer } from "../support/receiver.ts";
import { pass, settle } from "../support/until.ts";

/** Whoever an alert paged last is gone, or nothing reaches them any more, when it is told again. */

/** Alerts that page whoever is on call: Ann by an override of an hour, then Bob. */
async function onCallStory(t: TestContext, more: object) {
  const story = await pagedStory(t);
  const { box, receiver, ann, bob, rule } = story;
  await reachBy(box, ann, receiver, "/ann");
  await reachBy(box, bob, receiver, "/bob");
  const now = Math.floor(box.clock.now() / 1000);
  const path = "/v1/projects/shop/oncall/schedules";
  const layer = { name: "all", participants: [bob.accountId], rotation_start: now - 60 };
  await box.api("POST", path, {
    name: "primary",
    timezone: "UTC",
    layers: [{ ...layer, shift_minutes: 1440 }],
  });
  const override = { account_id: ann.accountId, starts_at: now - 1, ends_at: now + 3600 };
  assert.equal((await box.api("POST", `${path}/primary/overrides`, override)).status, 201);
  const step = { after_minutes: 0, accounts: [], schedules: ["primary"], repeat_minutes: 0 };
  await rule([step], more);
  const removed = async ({ accountId }: Person) => {
    const gone = await box.api("DELETE", `/v1/accounts/${accountId}`);
    assert.equal(gone.status, 200, JSON.stringify(gone.body));
    await settle(box);
  };
  const told = () => story.told().filter((one) => one.includes(" page "));
  return { ...story, told, removed };
}

test("a reopened alert whose people were removed pages who is on call now", async (t) => {
  const { box, ann, fire, told, removed } = await onCallStory(t, { reopen_within_seconds: 86_400 });
  const named = { dedup_key: "disk" };
  const id = await fire(1, named);
  assert.deepEqual(told(), [`/ann page ${id}`]);
  await fire(1, { ...named, status: "resolved" });
  told();
  await pass(box, 7200, 600);
  await removed(ann);
  assert.equal(await fire(1, named), id);
  assert.deepEqual(told(), [`/bob page ${id}`]);
});

test("an acknowledgement that is taken back pages on where its people are gone", async (t) => {
  const { box, ann, fire, told, removed } = await onCallStory(t, {});
  const id = await fire(1);
  assert.deepEqual(told(), [`/ann page ${id}`]);
  assert.equal((await box.api("POST", `/v1/alerts/${id}/ack`)).status, 200);
  await pass(box, 7200, 600);
  await removed(ann);
  told();
  assert.equal((await box.api("POST", `/v1/alerts/${id}/unack`)).status, 200);
  await settle(box);
  assert.deepEqual(told(), [`/bob page ${id}`]);
});

test("a renotify pages on where nothing reaches its people any more", async (t) => {
  const { box, ann, fire, told } = await onCallStory(t, { renotify_minutes: 90 });
  const id = await fire(1);
  assert.deepEqual(told(), [`/ann page ${id}`]);
  const base = "/v1/accounts/me/contacts";
  for (const one of (await box.api("GET", base, undefined, ann.key)).body.contacts)
    assert.equal((await box.api("DELETE", `${base}/${one.id}`, undefined, ann.key)).status, 200);
  await settle(box);
  told();
  await pass(box, 91 * 60, 600);
  assert.deepEqual(told(), [`/bob page ${id}`]);
});

test("a fallback whom nothing reaches has the owners beside it", async (t) => {
  const { box, receiver, ann, bob, rule, fire, ...story } = await pagedStory(t);
  const owner = box.person("owner", "olga@example.org");
  await reachBy(box, owner, receiver, "/olga");
  const fallback = { accounts: [bob.accountId], schedules: [] };
  assert.equal((await box.api("PUT", "/v1/fallback", fallback)).status, 200);
  await rule([story.step(ann)]);
  story.told();
  const id = await fire(1);
  assert.deepEqual(story.told(), [`/olga page ${id}`]);
});

test("whose phones were unpaired is not waited for once the relay says so", async (t) => {
  const { box, receiver, ann, bob, rule, fire, step, timeline } = await pagedStory(t);
  await reachBy(box, bob, receiver, "/bob");
  configureRelay(box, "shop", `${receiver.url}/relay`);
  receiver.always(answer(200, { relayed: false, devices: 0 }));
  await rule([step(ann), step(bob, 30)]);
  const id = await fire(1);
  const last = receiver.received.findLast(({ path }) => path === "/bob");
  assert.deepEqual(
    toldIn(last).alerts.map((one) => one.alert_id),
    [id],
  );
  const kinds = (await timeline(id)).map(({ kind }) => kind);
  assert.ok(kinds.includes("unreachable"), String(kinds));
});

test("whom the relay has no phone for is not waited for once their alert has become one with another", async (t) => {
  const { box, receiver, ann, bob, rule, fire, step, timeline } = await pagedStory(t);
  await reachBy(box, bob, receiver, "/bob");
  configureRelay(box, "shop", `${receiver.url}/relay`);
  const { store } = box.tenant;
  let isMerged = false;
  receiver.always((response, socket, request) => {
    const isLost = request.body.includes("alert.escalated") && request.body.includes('"2"');
    if (isLost && !isMerged) {
      isMerged = true;
      const templateId = store.sql("SELECT template_id FROM alerts").pluck().get() as string;
      store.write((tx) => mergeAlerts(tx, [1, 2], { alertKey: "one", templateId }));
    }
    const devices = isLost ? 0 : 1;
    answer(200, { relayed: devices > 0, devices })(response, socket, request);
  });
  await rule([step(ann), step(bob, 30)]);
  const first = await fire(1);
  await pass(box, 60);
  const second = await fire(2);
  await pass(box, 2);
  assert.ok(isMerged);
  const last = receiver.received.findLast(({ path }) => path === "/bob");
  assert.deepEqual(
    toldIn(last).alerts.map((one) => one.alert_id),
    [first],
  );
  const pushes = async (id: string) =>
    (await timeline(id)).filter(
      ({ kind, detail }) => kind === "delivered" && detail["event"] === "alert.escalated",
    ).length;
  assert.deepEqual([await pushes(first), await pushes(second)], [3, 0]);
});

for (const said of [{ relayed: false }, { relayed: false, devices: "none" }])
  test(`whom the relay relayed nothing to is not waited for, though it counts no phones: ${JSON.stringify(said)}`, async (t) => {
    const { box, receiver, ann, bob, rule, fire, step } = await pagedStory(t);
    await reachBy(box, bob, receiver, "/bob");
    configureRelay(box, "shop", `${receiver.url}/relay`);
    receiver.always(answer(200, said));
    await rule([step(ann), step(bob, 30)]);
    const id = await fire(1);
    assert.deepEqual(
      toldIn(receiver.received.findLast(({ path }) => path === "/bob")).alerts.map(
        (one) => one.alert_id,
      ),
      [id],
    );
  });

for (const [what, said] of [
  ["an event that pages nobody", { opened: { relayed: false }, page: { relayed: true } }],
  [
    "a page that it had before",
    { opened: { relayed: true }, page: { relayed: false, duplicate: true } },
  ],
] as const)
  test(`whom the relay relayed nothing to is waited for where that was ${what}`, async (t) => {
    const { box, receiver, ann, bob, rule, fire, step, timeline } = await pagedStory(t);
    await reachBy(box, bob, receiver, "/bob");
    configureRelay(box, "shop", `${receiver.url}/relay`);
    receiver.always((response, socket, request) => {
      const isOpened = request.body.includes("alert.opened");
      answer(200, isOpened ? said.opened : said.page)(response, socket, request);
    });
    await rule([step(ann, 1), step(ann, 2), step(bob, 300)]);
    const id = await fire(1);
    await pass(box, 600, 30);
    const kinds = (await timeline(id)).map(({ kind }) => kind);
    assert.equal(kinds.filter((kind) => kind === "escalated").length, 2, String(kinds));
    assert.ok(!kinds.includes("unreachable"), String(kinds));
  });

/** A channel of kind apns, as `box integration add-apns` or a configuration of the hosted service makes it. */
async function apnsRow(box: TestBox): Promise<void> {
  const made = await box.api("POST", "/v1/projects/shop/integrations", { type: "apns" });
  assert.equal(made.status, 201, JSON.stringify(made.body));
}

test("on a box a channel of kind apns reaches nobody", async (t) => {
  const { box, receiver, ann, rule, fire, step } = await pagedStory(t);
  await reachBy(box, box.owner, receiver, "/owner");
  await apnsRow(box);
  await rule([step(ann)]);
  const id = await fire(1);
  const pages = receiver.received.map(toldIn).filter(({ purpose }) => purpose === "page");
  assert.deepEqual(
    pages.map(({ alerts }) => alerts.map(({ alert_id }) => alert_id)),
    [[id]],
  );
});

for (const isApns of [false, true])
  for (const how of ["is removed", "is switched off", "wants no more"])
    test(`where the relay ${how} while a push waits, others are paged then${isApns ? ", beside a channel of kind apns, too" : ""}`, async (t) => {
      const { box, receiver, ann, bob, rule, fire, step } = await pagedStory(t);
      await reachBy(box, bob, receiver, "/bob");
      const channel = configureRelay(box, "shop", `${receiver.url}/relay`);
      if (isApns) await apnsRow(box);
      const paged = () => receiver.received.filter(({ path }) => path === "/bob").slice(1).length;
      let status = 503;
      receiver.always((response, socket, request) =>
        answer(request.path === "/relay" ? status : 204)(response, socket, request),
      );
      await rule([step(ann), step(bob, 300)]);
      await fire(1);
      await pass(box, 60, 30);
      assert.equal(paged(), 0);
      if (how === "is removed")
        assert.equal((await box.api("DELETE", "/v1/relay")).body.dropped_deliveries, 2);
      const off = `/v1/projects/shop/integrations/${channel}/disable`;
      if (how === "is switched off") assert.equal((await box.api("POST", off)).status, 200);
      status = 410;
      await pass(box, 180, 30);
      assert.equal(paged(), 1);
    });

/** Ann, Bob and the owner Olga, each with a way that can be taken from them. */
async function threeWays(t: TestContext) {
  const story = await pagedStory(t);
  const { box, receiver, ann, bob } = story;
  const olga = box.person("owner", "olga@example.org");
  const ways = [
    [ann, "/ann"],
    [bob, "/bob"],
    [olga, "/olga"],
  ] as const;
  for (const [who, path] of ways) await reachBy(box, who, receiver, path);
  const told = () => story.told().filter((one) => one.includes(" page "));
  /** Nothing reaches them any more. */
  const mute = async ({ key }: Person) => {
    const base = "/v1/accounts/me/contacts";
    for (const { id } of (await box.api("GET", base, undefined, key)).body.contacts)
      assert.equal((await box.api("DELETE", `${base}/${id}`, undefined, key)).status, 200);
    await settle(box);
  };
  const does = async (id: string, verb: string, body: object = {}, key?: string) => {
    const { status } = await box.api("POST", `/v1/alerts/${id}/${verb}`, body, key);
    assert.equal(status, 200, verb);
    await settle(box);
  };
  const unruled = () => box.api("DELETE", "/v1/projects/shop/rules/errors");
  const now = () => Math.floor(box.clock.now() / 1000);
  /** What is told from now on, for so many minutes. */
  const toldIn = async (minutes: number) => {
    told();
    await pass(box, minutes * 60, 60);
    return told();
  };
  return { ...story, olga, mute, does, unruled, now, toldIn };
}

for (const isDeleted of [false, true])
  test(`a snooze that ends pages others where nothing reaches whoever had the alert, and its rule ${isDeleted ? "is deleted" : "has no ladder"}`, async (t) => {
    const { ann, rule, step, fire, does, mute, unruled, now, toldIn } = await threeWays(t);
    await rule(isDeleted ? [step(ann)] : []);
    const id = await fire(1);
    await does(id, "assign", { accounts: [ann.accountId] });
    await does(id, "snooze", { until: now() + 600 });
    if (isDeleted) await unruled();
    await mute(ann);
    assert.deepEqual(await toldIn(15), [`/olga page ${id}`]);
  });

test("a silence that ends pages the ladder where nothing reaches whom the alert was given to", async (t) => {
  const { box, ann, bob, rule, step, fire, does, mute, now, toldIn } = await threeWays(t);
  await rule([step(bob)]);
  const silence = { match: {}, all: true, critical: true, reason: "x", ends_at: now() + 600 };
  await box.api("POST", "/v1/silences", { ...silence, starts_at: now() - 1 });
  const id = await fire(1);
  await does(id, "assign", { accounts: [ann.accountId] });
  await mute(ann);
  assert.deepEqual(await toldIn(60), [`/bob page ${id}`]);
});

for (const renotify_minutes of [30, 0])
  test(`a repeat of a rung that nothing reaches any more pages others each time, with a renotify after ${renotify_minutes}`, async (t) => {
    const { ann, bob, rule, step, fire, mute, toldIn } = await threeWays(t);
    await rule([step(ann), { ...step(bob, 30), repeat_minutes: 30 }], { renotify_minutes });
    const id = await fire(1);
    await mute(bob);
    const told = await toldIn(180);
    assert.ok(told.length >= 5, String(told));
    assert.deepEqual(new Set(told), new Set([`/olga page ${id}`]));
  });

test("others are paged where one of the paged people is removed and nothing reaches the rest", async (t) => {
  const { box, ann, bob, rule, fire, does, mute, toldIn } = await threeWays(t);
  await rule([]);
  const id = await fire(1);
  await does(id, "assign", { accounts: [ann.accountId, bob.accountId] });
  await mute(bob);
  await box.api("DELETE", `/v1/accounts/${ann.accountId}`);
  assert.deepEqual(await toldIn(10), [`/olga page ${id}`]);
});

test("where the fallback's address is gone, the owners are paged", async (t) => {
  const { box, receiver, ann, bob, rule, step, fire, mute, toldIn, told } = await threeWays(t);
  await box.api("PUT", "/v1/fallback", { accounts: [bob.accountId], schedules: [] });
  await mute(ann);
  receiver.always((response, socket, request) =>
    answer(request.path === "/bob" ? 410 : 204)(response, socket, request),
  );
  await rule([step(ann)]);
  told();
  const id = await fire(2);
  const all = [...told(), ...(await toldIn(10))].filter((one) => one.includes(" page "));
  assert.deepEqual(all, [`/bob page ${id}`, `/olga page ${id}`]);
});

/** The relay has no phone for whom an escalation pages. */
async function phoneless(t: TestContext) {
  const story = await threeWays(t);
  const { box, receiver } = story;
  configureRelay(box, "shop", `${receiver.url}/relay`);
  receiver.always((response, socket, request) => {
    const has = request.path !== "/relay" || !request.body.includes("alert.escalated");
    answer(200, { relayed: has, devices: has ? 1 : 0 })(response, socket, request);
  });
  /** Whose way was paged, in all. */
  const paged = () =>
    receiver.received
      .filter((request) => request.path !== "/relay" && toldIn(request).purpose === "page")
      .map(({ path }) => path);
  const kinds = async (id: string) => (await story.timeline(id)).map(({ kind }) => kind);
  return { ...story, paged, kinds };
}

test("an assignment to somebody without a phone goes on with the ladder, not with the fallback", async (t) => {
  const { ann, bob, rule, step, fire, does, mute, paged, kinds } = await phoneless(t);
  await mute(ann);
  await rule([step(bob, 60)]);
  const id = await fire(2);
  await does(id, "assign", { accounts: [ann.accountId] });
  assert.deepEqual(paged(), ["/bob"]);
  assert.ok(!(await kinds(id)).includes("fallback"));
});

test("a fallback whose phone is gone is followed by the owners", async (t) => {
  const { box, ann, bob, rule, step, fire, mute, paged } = await phoneless(t);
  await box.api("PUT", "/v1/fallback", { accounts: [bob.accountId], schedules: [] });
  await mute(ann);
  await mute(bob);
  await rule([step(ann)]);
  await fire(2);
  assert.deepEqual(paged(), ["/olga"]);
});

test("a phone that is gone pages nobody else where another way of the same person is on its way", async (t) => {
  const { ann, bob, rule, step, fire, paged } = await phoneless(t);
  await rule([step(ann), step(bob, 30)]);
  await fire(2);
  assert.deepEqual(paged(), ["/ann"]);
});

test("whoever had an alert whose rule is deleted, and gives it back, has the fallback paged once", async (t) => {
  const { box, ann, bob, rule, step, fire, does, unruled, timeline } = await threeWays(t);
  await rule([step(ann)]);
  const id = await fire(1);
  await does(id, "ack", {}, bob.key);
  await unruled();
  await box.api("DELETE", `/v1/accounts/${ann.accountId}`);
  await does(id, "unack", {}, bob.key);
  await pass(box, 600, 60);
  const kinds = (await timeline(id)).map(({ kind }) => kind);
  assert.deepEqual(kinds.slice(-4), ["unacknowledged", "renotified", "fallback", "page_sent"]);
});

test("where nothing reaches anybody, that is said once, not at each renotify", async (t) => {
  const { box, receiver, ann, bob, rule, step, fire, timeline } = await pagedStory(t);
  await reachBy(box, bob, receiver, "/bob");
  await rule([step(ann)], { renotify_minutes: 5 });
  const id = await fire(1);
  await pass(box, 30 * 60, 60);
  const kinds = (await timeline(id)).map(({ kind }) => kind);
  assert.equal(kinds.filter((kind) => kind === "unreachable").length, 1, String(kinds));
  assert.equal(kinds.filter((kind) => kind === "fallback").length, 1, String(kinds));
});
