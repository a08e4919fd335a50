import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { examine } from "../../../src/app/operate/doctor.ts";
import { systemRandom } from "../../../src/ground/kit/random.ts";
import type { Person } from "../../support/box.ts";
import { box as run } from "../../support/command-line.ts";
import { boxAndReceiver, reachBy } from "../../support/contacts.ts";
import { answer } from "../../support/receiver.ts";
import { pass } from "../../support/until.ts";

async function scene(t: TestContext) {
  const { box, receiver } = await boxAndReceiver(t);
  const token = await box.project("shop");
  const ann = box.person("member", "ann@example.org");
  const rule = async (
    name: string,
    people: Person[],
    more: object = { match: { min_level: 400 } },
  ) => {
    const escalations = [{ accounts: people.map(({ accountId }) => accountId) }];
    const made = await box.api("POST", "/v1/projects/shop/rules", { name, escalations, ...more });
    assert.equal(made.status, 201, JSON.stringify(made.body));
  };
  const doctor = async (...checks: string[]) => {
    const found = await examine({ data: box.data, clock: box.clock, random: systemRandom });
    return found
      .filter((one) => checks.includes(one.check))
      .map(({ state, detail }) => `${state} ${detail}`);
  };
  const ready = async (name: string, key: string | null = box.owner.key) => {
    const { body } = await box.api("GET", "/readyz", undefined, key);
    return body.checks.find((one: { name: string }) => one.name === name);
  };
  const patch = (person: Person, id: string, body: object) =>
    box.api("PATCH", `/v1/accounts/me/contacts/${id}`, body, person.key);
  return { box, receiver, token, ann, rule, doctor, ready, patch };
}

test("a verified contact reaches a person; without one it is said what they lack", async (t) => {
  const { box, receiver, ann, rule, doctor, ready, patch } = await scene(t);
  await rule("errors", [ann]);
  const not = (why: string) =>
    `wrong ann@example.org is paged by rule errors of shop, and nothing reaches them: ${why}, no hosted relay is configured, and no other channel gets escalations`;
  assert.deepEqual(await doctor("reach"), [not("they have no contact")]);

  const write = { kind: "webhook", label: "phone", address: `${receiver.url}/x` };
  const made = (await box.api("POST", "/v1/accounts/me/contacts", write, ann.key)).body;
  const shown = `phone (webhook ${receiver.url})`;
  assert.deepEqual(await doctor("reach"), [not(`they have not verified ${shown}`)]);
  await box.api("DELETE", `/v1/accounts/me/contacts/${made.id}`, undefined, ann.key);

  const id = await reachBy(box, ann, receiver, "/phone");
  assert.equal((await ready("reach")).ok, true);
  assert.match((await doctor("reach"))[0] ?? "", /^ok /);
  await patch(ann, id, { state: "off" });
  assert.equal((await ready("reach")).ok, false);
  assert.deepEqual(await doctor("reach"), [not(`/phone (webhook ${receiver.url}) is turned off`)]);
  await patch(ann, id, { state: "verified" });
  const metrics = await box.api("GET", "/metrics");
  assert.match(metrics.body, /^box_unreached\{kind="person"\} 0$/m);
});

test("a contact that no gateway serves reaches nobody", async (t) => {
  const { box, receiver, ann, rule, doctor } = await scene(t);
  await rule("errors", [ann]);
  const id = await reachBy(box, ann, receiver, "/phone");
  // As one of a bot that was removed: nothing else of it has changed.
  box.tenant.store.write((tx) =>
    tx.sql("UPDATE contacts SET kind = 'telegram', shown = '…4711' WHERE id = ?").run(id),
  );
  assert.match(
    (await doctor("reach"))[0] ?? "",
    /: no telegram gateway serves \/phone \(telegram …4711\), /,
  );
});

test("levels that no notification rule takes are told: wrong where the rule names its level, else noted", async (t) => {
  const { box, receiver, ann, rule, doctor, ready } = await scene(t);
  const id = await reachBy(box, ann, receiver, "/phone");
  const notify = (min_level: number, contacts = [id]) =>
    box.api(
      "PUT",
      "/v1/accounts/me/notify",
      {
        rules: [{ after_seconds: 0, contacts, min_level }],
      },
      ann.key,
    );
  await rule("errors", [ann]);
  await rule("all", [ann], {});
  await notify(400);
  assert.equal((await ready("reach")).ok, true);
  assert.deepEqual(await doctor("reach"), [
    "note ann@example.org is paged by rule all of shop, and nothing reaches them below error: no notification rule of theirs takes those alerts, no hosted relay is configured, and no other channel gets escalations",
  ]);
  await notify(500);
  assert.equal((await ready("reach")).ok, false);
  assert.match(
    (await doctor("reach"))[0] ?? "",
    /^wrong ann@example\.org is paged by rule errors of shop, and nothing reaches them below critical: /,
  );
  await notify(0);
  assert.match((await doctor("reach"))[0] ?? "", /^ok /);
  await notify(0, []);
  assert.match(
    (await doctor("reach"))[0] ?? "",
    /: no notification rule of theirs names a contact that works, /,
  );
});

test("gateways and contacts whose latest request failed are named, and people who verified none", async (t) => {
  const { box, receiver, token, ann, rule, doctor, ready } = await scene(t);
  assert.deepEqual(await doctor("contacts"), [
    "note nobody has one: the box itself can page no person",
  ]);
  assert.equal((await ready("contacts")).ok, true);
  await rule("errors", [ann]);
  await reachBy(box, ann, receiver, "/phone");
  assert.deepEqual(await doctor("contacts"), ["ok 1 verified contact of 1 person, all well"]);
  const bob = box.person("member", "bob@example.org");
  const write = { kind: "webhook", label: "pager", address: `${receiver.url}/x` };
  await box.api("POST", "/v1/accounts/me/contacts", write, bob.key);
  assert.deepEqual(await doctor("contacts"), [
    `note bob@example.org has not verified pager (webhook ${receiver.url}), and has no other contact`,
  ]);

  receiver.always(answer(410));
  await box.ingest(token, { message: "down", level: 500 });
  await pass(box, 5);
  box.tenant.store.write((tx) =>
    tx
      .sql("UPDATE contacts SET state = 'failing', last_error = 'http 410' WHERE account_id = ?")
      .run(ann.accountId),
  );
  const fails = `ann@example.org has no contact that works: /phone (webhook ${receiver.url}) fails: it answered 410`;
  assert.equal((await doctor("contacts"))[0], `wrong ${fails}`);
  assert.deepEqual(
    [(await ready("contacts")).ok, (await ready("contacts")).detail],
    [false, fails],
  );
  const open = await ready("contacts", null);
  assert.equal(
    open.detail,
    "1 person has only contacts that fail: box doctor says which, and so does this address with an API key",
  );

  receiver.always(answer(200));
  await box.api("PUT", "/v1/gateways/ntfy", { url: receiver.url, test: false });
  box.tenant.store.write((tx) =>
    tx.sql("UPDATE gateways SET last_error = 'http 401' WHERE id = 'ntfy'").run(),
  );
  assert.equal(
    (await doctor("contacts"))[0],
    "wrong gateway ntfy: its latest request failed: it answered 401",
  );
  assert.match(
    (await ready("contacts", null)).detail,
    /^gateway ntfy fails \(it answered 401\); 1 person /,
  );
  const metrics = (await box.api("GET", "/metrics")).body;
  assert.match(metrics, /^box_contacts\{state="failing"\} 1$/m);
  assert.match(metrics, /^box_gateways_failing 1$/m);
  // Another contact that works, and it is a note.
  await reachBy(box, ann, receiver, "/mail");
  assert.equal(
    (await doctor("contacts"))[1],
    `note ann@example.org's /phone (webhook ${receiver.url}) fails: it answered 410`,
  );
});

test("who is on call says whether anything reaches them, where that is known", async (t) => {
  const { box, receiver, ann } = await scene(t);
  const layer = { name: "l", rotation_start: 1_700_000_000, shift_minutes: 60 };
  await box.api("POST", "/v1/projects/shop/oncall/schedules", {
    name: "primary",
    timezone: "UTC",
    layers: [{ ...layer, participants: [ann.accountId] }],
  });
  const current = async () =>
    (await box.api("GET", "/v1/projects/shop/oncall/schedules/primary/current")).body;
  const oncall = async () =>
    (await run(["oncall"], { env: { BOX_URL: box.url, BOX_KEY: box.owner.key } })).out;
  assert.equal("reached" in (await current()), false, "a shared channel may be everybody's way");
  assert.equal(/BY NOTHING/.test(await oncall()), false);
  await reachBy(box, box.owner, receiver, "/owner");
  assert.equal((await current()).reached, false);
  assert.match(await oncall(), /primary +ann@example\.org +BY NOTHING/);
  await reachBy(box, ann, receiver, "/ann");
  assert.equal((await current()).reached, true);
  assert.match(await oncall(), /primary +ann@example\.org +yes/);
});
