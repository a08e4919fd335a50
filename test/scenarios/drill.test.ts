import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { testBox } from "../support/box.ts";
import { reachBy, toldIn } from "../support/contacts.ts";
import { answer, startReceiver } from "../support/receiver.ts";
import { pass, settle } from "../support/until.ts";

/** A drill: an alert of which nothing is true but the way it takes. */

async function story(t: TestContext, rule: object = {}) {
  const box = await testBox();
  t.after(() => box.stop());
  const receiver = await startReceiver();
  t.after(() => receiver.close());
  const token = await box.project("shop");
  const ann = box.person("member", "ann@example.org");
  const hook = { type: "webhook", name: "ops", url: `${receiver.url}/hook` };
  assert.equal((await box.api("POST", "/v1/projects/shop/integrations", hook)).status, 201);
  await reachBy(box, ann, receiver, "/ann");
  const make = (name: string, more: object = {}) =>
    box.api("POST", "/v1/projects/shop/rules", {
      ...{ name, match: { min_level: 300 }, max_open: 1, auto_resolve_quiet_minutes: 1 },
      ...{ escalations: [{ accounts: [ann.accountId] }] },
      ...rule,
      ...more,
    });
  assert.equal((await make("errors")).status, 201);
  const drill = (body: object = {}, name = "errors", key = ann.key) =>
    box.api("POST", `/v1/projects/shop/rules/${name}/drill`, body, key);
  const alertOf = async (id: string) => (await box.api("GET", `/v1/alerts/${id}`)).body;
  const timeline = async (id: string) =>
    (await box.api("GET", `/v1/alerts/${id}/timeline`)).body.timeline;
  return { box, receiver, token, ann, make, drill, alertOf, timeline };
}

test("a drill takes the whole way, says that it is one wherever it comes, runs no action and ends by itself", async (t) => {
  const { box, receiver, ann, drill, alertOf, timeline } = await story(t, { investigate: true });
  const action = { name: "restart", method: "POST", url: `${receiver.url}/restart` };
  const made = await box.api("POST", "/v1/projects/shop/actions", {
    ...{ ...action, events: ["alert.opened", "alert.escalated"] },
  });
  assert.equal(made.status, 201);
  const begun = await drill();
  assert.equal(begun.status, 201, JSON.stringify(begun.body));
  const { id, drill: isDrill, level, investigate, expires_at } = begun.body;
  assert.deepEqual([isDrill, level, investigate], [true, 300, false]);
  assert.equal(expires_at, Math.floor(box.clock.now() / 1000) + 900);
  await settle(box);
  const bodies = receiver.received.filter(({ path }) => path === "/hook").map((r) => r.body);
  assert.deepEqual(
    bodies.map((body) => JSON.parse(body).event),
    ["alert.opened", "alert.escalated"],
  );
  for (const body of bodies) {
    assert.equal(JSON.parse(body).drill, true);
    assert.match(JSON.parse(body).template, /^Drill: /);
    assert.match(JSON.parse(body).last_message, /^Drill: .*ann@example\.org tries the rule errors/);
  }
  const page = receiver.received.findLast(({ path }) => path === "/ann");
  assert.match(toldIn(page).title, /^DRILL · ESCALATED/);
  // It is quiet for longer than the rule allows, and only its own time ends it.
  await pass(box, 890, 89);
  assert.equal((await alertOf(id)).state, "open");
  await pass(box, 10, 10);
  assert.equal((await alertOf(id)).state, "resolved");
  const history = await timeline(id);
  assert.deepEqual(history[0], {
    ...{ at: history[0].at, kind: "opened", account_id: ann.accountId },
    detail: { rule: "errors", drill: true },
  });
  assert.equal(history.find((e: { kind: string }) => e.kind === "resolved").detail.reason, "drill");
  assert.equal(receiver.received.filter(({ path }) => path === "/restart").length, 0);
});

test("one drill of a rule at a time; another rule's may go on beside it", async (t) => {
  const { make, drill, box } = await story(t);
  await make("slow");
  const first = await drill();
  const second = await drill();
  assert.deepEqual([second.status, second.body.error.code], [409, "drill_running"]);
  assert.equal(second.body.error.details[0].value, first.body.id);
  assert.equal((await drill({}, "slow")).status, 201);
  const both = await Promise.all([drill({}, "errors"), drill({}, "slow")]);
  assert.deepEqual(
    both.map(({ status }) => status),
    [409, 409],
  );
  await box.api("POST", `/v1/alerts/${first.body.id}/resolve`);
  const again = await Promise.all([drill(), drill()]);
  assert.deepEqual(again.map(({ status }) => status).toSorted(), [201, 409]);
});

test("a drill counts in nothing, and takes no real alert's place", async (t) => {
  const { box, token, drill } = await story(t);
  await drill();
  const counts = async () => {
    const { projects } = (await box.api("GET", "/v1/projects")).body;
    return projects[0].open_alert_count;
  };
  assert.equal(await counts(), 0);
  // The rule has room for one: the drill isn't it.
  await box.ingest(token, { message: "disk full on a", level: 500 });
  await settle(box);
  const { alerts } = (await box.api("GET", "/v1/alerts?project=shop&state=open")).body;
  assert.deepEqual(
    alerts.map(({ drill, template }: { drill: boolean; template: string }) => [drill, template]),
    [
      [false, "disk full on a"],
      [true, "Drill: nothing is wrong"],
    ],
  );
  assert.equal(await counts(), 1);
  // An end of the drill frees no room either.
  await box.api("POST", `/v1/alerts/${alerts[1].id}/resolve`);
  await box.ingest(token, { message: "other trouble", level: 500 });
  const after = (await box.api("GET", "/v1/alerts?project=shop&state=open")).body.alerts;
  assert.match(after[0].template, /too many to list/);
});

test("a drill outlives neither a restart past its time nor its rule, and a changed rule doesn't end it", async (t) => {
  const { box, drill, alertOf, ann } = await story(t);
  const first = (await drill()).body.id;
  await pass(box, 600, 300);
  await box.restart();
  await pass(box, 300, 100);
  assert.equal((await alertOf(first)).state, "resolved");
  const second = (await drill({ message: "hello <b>", level: 500 })).body;
  assert.deepEqual([second.level, second.last_message], [500, "Drill: hello <b>"]);
  const longer = {
    ...{ auto_resolve_quiet_minutes: 2, escalations: [{ accounts: [ann.accountId] }, {}] },
  };
  assert.equal((await box.api("PUT", "/v1/projects/shop/rules/errors", longer)).status, 200);
  await pass(box, 300, 100);
  assert.equal((await alertOf(second.id)).state, "open");
  assert.equal((await box.api("DELETE", "/v1/projects/shop/rules/errors")).status, 200);
  assert.equal((await alertOf(second.id)).state, "resolved");
});

test("a channel's own words don't hide that it is a drill", async (t) => {
  const { box, receiver, drill } = await story(t);
  receiver.always(answer(200, '{"ok":true}'));
  const slack = {
    ...{ type: "slack", name: "room", webhook_url: `${receiver.url}/slack` },
    ...{ title_template: "{{rule}} is broken", body_template: "go and look" },
  };
  const made = await box.api("POST", "/v1/projects/shop/integrations", slack);
  assert.equal(made.status, 201, JSON.stringify(made.body));
  await drill();
  await settle(box);
  const said = receiver.received.filter(({ path }) => path === "/slack");
  assert.equal(said.length, 2);
  for (const { body } of said) assert.match(body, /DRILL · errors is broken/);
});

test("a drill quiets no alert that depends on its rule", async (t) => {
  const { box, token, make, drill } = await story(t);
  await make("dependent", { match: { min_level: 200 }, silenced_by: [{ rule: "errors" }] });
  await drill();
  // Too low for the rule that is drilled.
  await box.ingest(token, { message: "really down", level: 250 });
  const { alerts } = (await box.api("GET", "/v1/alerts?rule=dependent&project=shop")).body;
  assert.deepEqual([alerts.length, alerts[0].silenced_by], [1, null]);
});
