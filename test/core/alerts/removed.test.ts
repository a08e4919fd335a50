import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";
import { type Person, type TestBox, testBox } from "../../support/box.ts";

/** An account is removed while an alert has paged it: whoever is left has it, and else others are paged. */

let box: TestBox;
let token: string;
let [ann, bob, cy, flo]: Person[] = [];
beforeEach(async () => {
  box = await testBox();
  [ann, bob, cy, flo] = ["ann", "bob", "cy", "flo"].map((name) =>
    box.person("member", `${name}@example.org`),
  );
  token = await box.project("shop");
  const escalations = [cy, bob].map((who, i) => ({
    after_minutes: 10 + 20 * i,
    accounts: [who?.accountId],
  }));
  await box.api("POST", "/v1/projects/shop/rules", { name: "any", escalations });
  await box.api("PUT", "/v1/fallback", { accounts: [flo?.accountId], schedules: [] });
  await box.ingest(token, { message: "down" });
});
afterEach(() => box.stop());

const call = (verb: string, body?: object) => box.api("POST", `/v1/alerts/1/${verb}`, body);
const assign = (...people: (Person | undefined)[]) =>
  call("assign", { accounts: people.map((who) => who?.accountId) });
const remove = async (who: Person | undefined) => {
  const { status, body } = await box.api("DELETE", `/v1/accounts/${who?.accountId}`);
  assert.equal(status, 200, JSON.stringify(body));
};
const paged = async () => {
  const { status, body } = await box.api("GET", "/v1/alerts/1");
  assert.equal(status, 200, JSON.stringify(body));
  return body.page_accounts;
};
const told = async () =>
  (await box.api("GET", "/v1/alerts/1/timeline")).body.timeline
    .map(({ kind, detail }: { kind: string; detail: { why?: string } }) => `${kind} ${detail.why}`)
    .slice(-2);
const only = (who: Person | undefined) => [who?.accountId];

test("an alert that was given to nobody else goes up its ladder at once, and on", async () => {
  await assign(ann);
  await remove(ann);
  assert.deepEqual(await paged(), only(cy));
  assert.deepEqual(await told(), ["unreachable removed", "escalated step"]);
  await box.clock.turn(30 * 60_000);
  assert.deepEqual(await paged(), only(bob));
});

test("all steps that would have run by now page", async () => {
  await assign(ann);
  await box.clock.turn(40 * 60_000);
  await remove(ann);
  assert.deepEqual(await paged(), [cy?.accountId, bob?.accountId]);
});

test("above the last step the fallback is paged, and where there is no rule", async () => {
  await box.clock.turn(40 * 60_000);
  await assign(ann);
  await remove(ann);
  assert.deepEqual(await paged(), only(flo));
  assert.deepEqual(await told(), ["unreachable removed", "fallback removed"]);
  const dan = box.person("member", "dan@example.org");
  await assign(dan);
  await box.api("DELETE", "/v1/projects/shop/rules/any?yes=true");
  await remove(dan);
  assert.deepEqual(await paged(), only(flo));
});

test("whom a silence kept from being told, somebody else is once it is over", async () => {
  const ends_at = Math.floor(box.clock.now() / 1000) + 3600;
  const silence = { project: "shop", reason: "x", all: true, ends_at, critical: true };
  const { status, body } = await box.api("POST", "/v1/silences", silence);
  assert.equal(status, 201, JSON.stringify(body));
  await assign(ann);
  await remove(ann);
  assert.deepEqual(await paged(), []);
  await box.clock.turn(61 * 60_000);
  assert.deepEqual(await paged(), only(cy));
});

test("what whoever is removed had acknowledged or snoozed is open again and told, its ladder from the first step", async () => {
  await box.clock.turn(15 * 60_000);
  assert.deepEqual(await paged(), only(cy));
  await box.api("POST", "/v1/alerts/1/ack", undefined, ann?.key);
  const until = Math.floor(box.clock.now() / 1000) + 5 * 86_400;
  await box.api("POST", "/v1/alerts/1/snooze", { until }, ann?.key);
  await box.clock.turn(60 * 60_000);
  await remove(ann);
  const { body } = await box.api("GET", "/v1/alerts/1");
  assert.deepEqual([body.state, body.acked_by, body.acked_at], ["open", null, null]);
  assert.deepEqual(await told(), ["unacknowledged removed", "renotified acknowledgement_ended"]);
  await box.clock.turn(9 * 60_000);
  assert.deepEqual(await told(), ["unacknowledged removed", "renotified acknowledgement_ended"]);
  await box.clock.turn(2 * 60_000);
  assert.deepEqual([await paged(), (await told()).at(-1)], [only(cy), "escalated step"]);
  await box.clock.turn(20 * 60_000);
  assert.deepEqual(await paged(), only(bob));
});

test("an alert whose rule is gone pages the fallback when whoever acknowledged it is removed", async () => {
  await box.api("POST", "/v1/alerts/1/ack", undefined, ann?.key);
  await box.api("DELETE", "/v1/projects/shop/rules/any?yes=true");
  await remove(ann);
  assert.deepEqual(await paged(), only(flo));
});

test("while a silence holds it, it is open and is told when the silence ends", async () => {
  await box.api("POST", "/v1/alerts/1/ack", undefined, ann?.key);
  const ends_at = Math.floor(box.clock.now() / 1000) + 3600;
  const silence = { project: "shop", reason: "x", all: true, ends_at, critical: true };
  assert.equal((await box.api("POST", "/v1/silences", silence)).status, 201);
  await remove(ann);
  assert.equal((await box.api("GET", "/v1/alerts/1")).body.state, "open");
  assert.deepEqual(await paged(), []);
  await box.clock.turn(61 * 60_000);
  assert.ok((await paged()).length > 0);
});

test("who is left keeps it, and so does whoever has acknowledged it", async () => {
  await assign(ann, bob);
  await box.api("POST", "/v1/alerts/1/ack", undefined, cy?.key);
  await remove(ann);
  assert.deepEqual(await paged(), only(bob));
  assert.equal((await box.api("GET", "/v1/alerts/1")).body.state, "acknowledged");
});
