import assert from "node:assert/strict";
import { test } from "node:test";
import { type pagedStory, reachBy, pagedStory as story } from "../support/contacts.ts";
import { pass, settle } from "../support/until.ts";

/** An alert that becomes worse after its step ran: contacts that take only what is bad enough. */

type Story = Awaited<ReturnType<typeof pagedStory>>;

/** Ann's mail takes everything, her phone only what is critical, 120 seconds after her mail. */
async function annWithPhone(of: Story, after_seconds = 0): Promise<{ phone: string }> {
  const { box, receiver, ann } = of;
  const mail = await reachBy(box, ann, receiver, "/ann-mail");
  const phone = await reachBy(box, ann, receiver, "/ann-phone");
  const rules = [
    { after_seconds: 0, contacts: [mail] },
    { after_seconds, contacts: [phone], min_level: 500 },
  ];
  assert.equal((await box.api("PUT", "/v1/accounts/me/notify", { rules }, ann.key)).status, 200);
  return { phone };
}

const warning = { level: 400 };
const renotified = async ({ timeline }: Story, id: string) =>
  (await timeline(id)).filter(({ kind }) => kind === "renotified").map(({ detail }) => detail);

test("what takes only critical alerts rings when an alert rises to that, once, and its history says why", async (t) => {
  const of = await story(t);
  const { ann, bob, rule, fire, told, step } = of;
  await annWithPhone(of);
  await reachBy(of.box, bob, of.receiver, "/bob");
  await rule([step(ann), step(bob, 30)]);
  told();
  const id = await fire(1, warning);
  assert.deepEqual(told(), [`/ann-mail page ${id}`]);
  await fire(1, { level: 450 });
  assert.deepEqual(told(), [], "no bound lies between");
  await fire(1);
  assert.deepEqual(told(), [`/ann-phone page ${id}`]);
  assert.deepEqual(await renotified(of, id), [
    { why: "worse", from: 450, to: 500, accounts: [ann.accountId] },
  ]);
  await fire(1, { level: 600 });
  await fire(1, warning);
  await pass(of.box, 60, 10);
  assert.deepEqual(told(), []);
});

test("it rings for whoever an earlier step paged, and waits as it would have since then", async (t) => {
  const of = await story(t);
  const { box, receiver, ann, bob, rule, fire, told, step } = of;
  await annWithPhone(of, 120);
  await reachBy(box, bob, receiver, "/bob");
  await rule([step(ann), step(bob, 1)]);
  told();
  const id = await fire(1, warning);
  await pass(box, 90, 10);
  assert.deepEqual(told(), [`/ann-mail page ${id}`, `/bob page ${id}`]);
  await fire(1);
  await pass(box, 20, 5);
  assert.deepEqual(told(), []);
  await pass(box, 20, 5);
  assert.deepEqual(told(), [`/ann-phone page ${id}`]);
});

test("a contact that would have rung later rings as soon as the new level says, and not again", async (t) => {
  const of = await story(t);
  const { box, receiver, ann, rule, fire, told, step } = of;
  const phone = await reachBy(box, ann, receiver, "/ann-phone");
  const rules = [
    { after_seconds: 600, contacts: [phone] },
    { after_seconds: 0, contacts: [phone], min_level: 500 },
  ];
  await box.api("PUT", "/v1/accounts/me/notify", { rules }, ann.key);
  await rule([step(ann)]);
  told();
  const id = await fire(1, warning);
  assert.deepEqual(told(), []);
  await fire(1);
  assert.deepEqual(told(), [`/ann-phone page ${id}`]);
  await pass(box, 700, 50);
  assert.deepEqual(told(), []);
});

test("one whom nothing reached at first is reached then; of an alert that somebody has nobody is told", async (t) => {
  const of = await story(t);
  const { box, receiver, ann, bob, rule, fire, told, step } = of;
  const phone = await reachBy(box, ann, receiver, "/ann-phone");
  const rules = [{ after_seconds: 0, contacts: [phone], min_level: 500 }];
  await box.api("PUT", "/v1/accounts/me/notify", { rules }, ann.key);
  await reachBy(box, bob, receiver, "/bob");
  await rule([step(ann), step(bob, 30)]);
  told();
  const first = await fire(1, warning);
  assert.deepEqual(told(), [`/bob page ${first}`]);
  await fire(1);
  assert.deepEqual(told(), [`/ann-phone page ${first}`]);
  const second = await fire(2, warning);
  await box.api("POST", `/v1/alerts/${second}/ack`, {}, bob.key);
  await settle(box);
  told();
  await fire(2);
  assert.deepEqual(told(), []);
});

test("what rose while it was silenced rings when that is over, or at once where the silence takes nothing critical", async (t) => {
  const of = await story(t);
  const { box, ann, bob, rule, fire, told, step } = of;
  await annWithPhone(of);
  await reachBy(box, bob, of.receiver, "/bob");
  await rule([step(ann), step(bob, 1), step(box.owner, 600)]);
  told();
  for (const critical of [false, true]) {
    const id = await fire(critical ? 2 : 1, warning);
    await pass(box, 70, 10);
    told();
    const silence = { project: "shop", reason: "x", all: true, critical };
    const until = Math.floor(box.clock.now() / 1000) + 600;
    const made = await box.api("POST", "/v1/silences", { ...silence, ends_at: until });
    assert.equal(made.status, 201, JSON.stringify(made.body));
    await settle(box);
    await fire(critical ? 2 : 1);
    await pass(box, 6, 2);
    if (critical) assert.deepEqual(told(), []);
    // What was held is over with it, so whoever was paged hears of it, too.
    else assert.ok(told().includes(`/ann-phone page ${id}`));
    assert.equal((await box.api("DELETE", `/v1/silences/${made.body.id}`)).status, 200);
    await pass(box, 10, 2);
    const then = told();
    if (critical) assert.ok(then.includes(`/ann-phone page ${id}`), `${then}`);
    await box.api("POST", `/v1/alerts/${id}/resolve`);
    await settle(box);
    told();
  }
});

test("a sender that raises an alert by its name rings them, too, and an alert that comes back worse", async (t) => {
  const of = await story(t);
  const { box, token, ann, bob, rule, told, step } = of;
  await annWithPhone(of);
  await reachBy(box, bob, of.receiver, "/bob");
  await rule([step(ann), step(bob, 1)], { reopen_within_seconds: 3600, identifier_keys: [] });
  told();
  const event = { message: "disk", dedup_key: "disk", instance: "1" };
  const send = async (more: object) => {
    await box.ingest(token, { ...event, ...more });
    await settle(box);
  };
  await send(warning);
  await send({ level: 500 });
  const [mail, phone, ...more] = told();
  assert.deepEqual([mail, phone, more], ["/ann-mail page 1", "/ann-phone page 1", []]);
  await box.api("POST", "/v1/alerts/1/resolve");
  await settle(box);
  await send({ ...warning, instance: "2" });
  await pass(box, 70, 10);
  await send({ status: "resolved", instance: "2" });
  told();
  await send({ level: 500, instance: "3" });
  assert.ok(told().includes("/ann-phone page 2"));
});

/** An alert that Ann was paged of becomes one with another, whose rungs come later. */
async function becomeOne(of: Story) {
  const { box, ann, rule, fire, step } = of;
  await annWithPhone(of);
  await rule([step(ann)], { identifier_keys: [] });
  const send = (word: string, level = 400) =>
    fire(1, { message: `export of the ${word} report failed`, level });
  const first = await send("daily");
  await box.api("POST", `/v1/alerts/${first}/ack`, {}, ann.key);
  const { rules } = (await box.api("GET", "/v1/projects/shop/rules")).body;
  await box.api("PUT", `/v1/projects/shop/rules/${rules[0].name}`, {
    ...rules[0],
    escalations: [step(ann, 60)],
  });
  for (const word of ["weekly", "monthly", "yearly", "quarterly", "hourly"]) await send(word);
  const { alerts } = (await box.api("GET", "/v1/alerts?state=open")).body;
  assert.equal(alerts.length, 1, "they are one");
  const { id } = alerts[0];
  const said = (await of.timeline(id)).map(({ kind }) => kind);
  assert.ok(said.includes("merged"), `${said}`);
  of.told();
  return { id: id as string, send };
}

test("whoever was paged of an alert that became one with it is rung, too", async (t) => {
  const of = await story(t);
  const { id, send } = await becomeOne(of);
  await send("weekly", 500);
  assert.deepEqual(of.told(), [`/ann-phone page ${id}`]);
});

test("once it is given to somebody alone, whoever was paged of what became one with it before is not rung", async (t) => {
  const of = await story(t);
  const { box, bob, told } = of;
  const { id, send } = await becomeOne(of);
  await reachBy(box, bob, of.receiver, "/bob");
  await box.api("POST", `/v1/alerts/${id}/assign`, { accounts: [bob.accountId] });
  await settle(box);
  assert.equal(told().at(-1), `/bob page ${id}`);
  await send("weekly", 500);
  assert.deepEqual(told(), []);
});
