import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { examine } from "../../../src/app/operate/doctor.ts";
import { createReachWatch } from "../../../src/app/operate/reach.ts";
import { systemRandom } from "../../../src/ground/kit/random.ts";
import { type TestBox, testBox } from "../../support/box.ts";
import { answer, type Receiver, startReceiver } from "../../support/receiver.ts";
import { settle } from "../../support/until.ts";

async function start(t: TestContext): Promise<{ box: TestBox; ann: string; token: string }> {
  const box = await testBox();
  t.after(() => box.stop());
  const token = await box.project("shop");
  return { box, ann: box.person("member", "ann@example.org").accountId, token };
}

async function rule(box: TestBox, name: string, body: object = {}): Promise<void> {
  const made = await box.api("PUT", `/v1/projects/shop/rules/${name}`, body);
  if (made.status === 200) return;
  const { status } = await box.api("POST", "/v1/projects/shop/rules", { name, ...body });
  assert.equal(status, 201);
}

const ladder = (...accounts: string[]) => ({ escalations: [{ accounts }] });

interface Check {
  ok: boolean;
  severity: string;
  detail: string;
}

async function check(box: TestBox, key: string | null = box.owner.key): Promise<Check> {
  const { body } = await box.api("GET", "/readyz", undefined, key);
  return body.checks.find(({ name }: { name: string }) => name === "reach");
}

async function doctor(box: TestBox): Promise<string[]> {
  const found = await examine({ data: box.data, clock: box.clock, random: systemRandom });
  return found.filter((one) => one.check === "reach").map((one) => `${one.state} ${one.detail}`);
}

const channel = async (box: TestBox, body: object): Promise<string> => {
  const made = await box.api("POST", "/v1/projects/shop/integrations", {
    type: "webhook",
    ...body,
  });
  assert.equal(made.status, 201, JSON.stringify(made.body));
  return `/v1/projects/shop/integrations/${made.body.id}`;
};

const HOOK = "http://127.0.0.1:9/hook";

test("whom a ladder pages and nothing reaches is named, with the place and the reason", async (t) => {
  const { box, ann } = await start(t);
  const layer = { name: "l", rotation_start: 1_700_000_000, shift_minutes: 60 };
  const layers = [{ ...layer, participants: [ann] }];
  await box.api("POST", "/v1/projects/shop/oncall/schedules", {
    name: "primary",
    timezone: "UTC",
    layers,
  });
  assert.equal((await check(box)).ok, true);
  await rule(box, "errors", { escalations: [{ schedules: ["primary"] }] });
  await rule(box, "slow", ladder(box.owner.accountId));
  const { ok, severity, detail } = await check(box);
  assert.deepEqual([ok, severity], [false, "degraded"]);
  const why =
    "nothing reaches them: they have no contact, no hosted relay is configured, and no other channel gets escalations";
  const sentences = [
    `ann@example.org is paged by rule errors (schedule primary) of shop, and ${why}`,
    `owner@example.org is paged by rule slow of shop, and ${why}`,
  ];
  assert.equal(detail, sentences.join("; "));
  assert.deepEqual(
    await doctor(box),
    sentences.map((sentence) => `wrong ${sentence}`),
  );
  const metrics = await box.api("GET", "/metrics");
  assert.match(metrics.body, /^box_unreached\{kind="person"\} 2\nbox_unreached\{kind="rule"\} 0$/m);
  const ready = await box.api("GET", "/readyz", undefined, null);
  assert.deepEqual([ready.status, ready.body.status], [200, "degraded"], "it still serves");
});

test("readiness is open to everybody, so without a key it counts and names nobody", async (t) => {
  const { box, ann } = await start(t);
  await rule(box, "errors", ladder(ann));
  await rule(box, "bare");
  for (const key of [null, "x", `ptk_${box.tenant.id}_${"a".repeat(43)}`]) {
    const { ok, detail } = await check(box, key);
    assert.equal(ok, false);
    assert.match(
      detail,
      /ladders page 1 whom nothing reaches; alerts of 1 rules notify nobody: box doctor/,
    );
    assert.ok(!/ann|shop|errors/.test(JSON.stringify(detail)));
  }
  const { body } = await box.api("GET", "/readyz");
  assert.ok(body.checks.every((one: object) => !("named" in one)));
});

test("a shared channel may be somebody's way: a note, unless it hears no escalation or is off", async (t) => {
  const { box, ann } = await start(t);
  await rule(box, "errors", ladder(ann));
  const opened = await channel(box, { name: "log", url: HOOK, events: ["alert.opened"] });
  assert.equal((await check(box)).ok, false, "it carries no escalation");
  const all = await channel(box, { name: "ops", url: HOOK });
  const { ok, detail } = await check(box);
  assert.equal(ok, true);
  const note =
    "ann@example.org is paged by rule errors of shop through webhook ops alone: they have no contact and no hosted relay is configured";
  assert.ok(detail.endsWith(note), detail);
  assert.deepEqual(await doctor(box), [`note ${note}`]);
  await box.api("POST", `${all}/disable`);
  assert.equal((await check(box)).ok, false);
  await box.api("DELETE", opened);
  assert.equal((await check(box)).ok, false);
});

test("a rule whose alerts notify nobody is named; one that runs actions is only noted", async (t) => {
  const { box } = await start(t);
  await rule(box, "bare");
  const none = "the project has no enabled channel that gets them";
  assert.deepEqual(await doctor(box), [
    `wrong alerts of rule bare of shop notify nobody: it has no ladder, and ${none}`,
  ]);
  await box.api("POST", "/v1/projects/shop/oncall/schedules", {
    name: "empty",
    timezone: "UTC",
    layers: [],
  });
  await rule(box, "bare", { escalations: [{ schedules: ["empty"] }] });
  assert.deepEqual(await doctor(box), [
    `wrong alerts of rule bare of shop notify nobody: its ladder's schedules have no participants, and ${none}`,
  ]);
  await rule(box, "bare");
  await box.api("POST", "/v1/projects/shop/actions", { name: "a", method: "POST", url: HOOK });
  assert.equal((await check(box)).ok, true);
  assert.match((await doctor(box))[0] ?? "", /^note .*\(it runs actions\)$/);
  await rule(box, "bare", { actions: [] });
  assert.equal((await check(box)).ok, false, "this one runs none");
  const hook = await channel(box, { url: HOOK });
  assert.equal((await check(box)).ok, true);
  await box.api("DELETE", hook);
  assert.equal((await check(box)).ok, false);
});

async function relayed(t: TestContext, box: TestBox): Promise<Receiver> {
  const relay = await startReceiver();
  t.after(() => relay.close());
  relay.always(answer(200, { relayed: true, devices: 1 }));
  const put = await box.api("PUT", "/v1/relay", {
    relay_url: relay.url,
    relay_secret: "s".repeat(43),
  });
  assert.equal(put.status, 200);
  return relay;
}

test("behind a relay everybody counts as reached until it says that it paged nobody for them", async (t) => {
  const { box, ann, token } = await start(t);
  await rule(box, "errors", { ...ladder(ann), identifier_keys: ["n"] });
  const relay = await relayed(t, box);
  let n = 0;
  /** An alert whose opening and escalation the relay answers so. */
  const alert = async (opened: object, escalated: object) => {
    relay.always((response, _socket, { body }) => {
      const said = JSON.parse(body).event === "alert.escalated" ? escalated : opened;
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(said));
    });
    await box.ingest(token, { message: "down", level: 500, keys: { n: ++n } });
    await settle(box);
  };
  assert.equal((await check(box)).ok, true);
  await alert({ relayed: true, devices: 2 }, { relayed: false, devices: 0 });
  const { ok, detail } = await check(box);
  assert.equal(ok, false);
  assert.match(
    detail,
    /^ann@example\.org .*: they have no contact, the relay knows no phone of theirs \(as of 20/,
  );
  await box.restart();
  assert.equal((await check(box)).ok, false, "it is remembered");
  await alert({ relayed: true }, { devices: "many" });
  assert.equal((await check(box)).ok, false, "what is no count says nothing");
  await alert({ relayed: true, devices: 2 }, { relayed: true, devices: 1 });
  assert.equal((await check(box)).ok, true, "now it paged a phone for her alone");

  // No owner: those are the fallback, and are paged alone where nobody on the ladder is reached.
  const bob = box.person("member", "bob@example.org").accountId;
  await rule(box, "errors", { ...ladder(ann, bob), identifier_keys: ["n"] });
  await alert({ relayed: true, devices: 2 }, { relayed: false, devices: 0 });
  assert.equal((await doctor(box)).length, 2);
  await alert({ relayed: true, devices: 2 }, { relayed: true, devices: 1 });
  assert.equal((await doctor(box)).length, 2, "one phone of two people says nothing of either");
  await box.api("PUT", "/v1/relay", { relay_url: relay.url, relay_secret: "t".repeat(43) });
  assert.equal((await check(box)).ok, true, "nothing is known of a relay that was just set");
  await alert({ relayed: false, devices: 0 }, { relayed: true, devices: 2 });
  assert.equal((await check(box)).ok, true, "a phone that was paged takes the word back");
  await rule(box, "errors", { identifier_keys: ["n"] });
  await alert({ relayed: false, devices: 0 }, {});
  assert.match((await doctor(box))[0] ?? "", /^wrong alerts of rule errors of shop notify nobody/);
});

test("one look reads a bounded number of rules, and says when there are more", async (t) => {
  const { box, ann } = await start(t);
  await rule(box, "errors", ladder(ann));
  for (const name of ["a", "b", "c"]) await box.api("POST", "/v1/projects", { name });
  const watch = createReachWatch(1);
  const looks = [1, 2, 3, 4, 5].map(() => watch.look(box.tenant.store));
  assert.deepEqual(
    looks.map(({ complete }) => complete),
    [false, false, false, true, true],
  );
  assert.equal(looks.at(-1)?.unreached.length, 1);
});
