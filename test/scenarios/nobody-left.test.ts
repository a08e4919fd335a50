import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { Person } from "../support/box.ts";
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

test("what is given to somebody whom nothing reaches pages the ladder's people all the same", async (t) => {
  const { box, ann, bob, receiver, rule, fire, step, told, timeline } = await pagedStory(t);
  await reachBy(box, bob, receiver, "/bob");
  await rule([step(bob)]);
  const id = await fire(1);
  assert.deepEqual(told().at(-1), `/bob page ${id}`);
  const given = await box.api("POST", `/v1/alerts/${id}/assign`, { accounts: [ann.accountId] });
  assert.equal(given.status, 200);
  await pass(box, 60, 60);
  assert.deepEqual(told(), [`/bob page ${id}`]);
  const kinds = (await timeline(id)).map(({ kind }) => kind);
  assert.deepEqual(kinds.slice(-4), ["assigned", "unreachable", "escalated", "page_sent"]);
});
