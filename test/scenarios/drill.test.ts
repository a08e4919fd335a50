import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { testBox } from "../support/box.ts";
import { box as run } from "../support/command-line.ts";
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
      name,
      match: { min_level: 300 },
      max_open: 1,
      auto_resolve_quiet_minutes: 1,
      escalations: [{ accounts: [ann.accountId] }],
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
    ...action,
    events: ["alert.opened", "alert.escalated"],
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
  assert.match(toldIn(page).title, /^DRILL · WARN shop: /);
  // It is quiet for longer than the rule allows, and only its own time ends it.
  await pass(box, 890, 89);
  assert.equal((await alertOf(id)).state, "open");
  await pass(box, 10, 10);
  assert.equal((await alertOf(id)).state, "resolved");
  const history = await timeline(id);
  assert.deepEqual(history[0], {
    at: history[0].at,
    kind: "opened",
    account_id: ann.accountId,
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

test("a drill's report: what arrived and when, what is to come, what didn't and why", async (t) => {
  const bobs = { accounts: [] as string[], after_minutes: 5 };
  const { box, receiver, drill, ann } = await story(t);
  const bob = box.person("member", "bob@example.org");
  const cy = box.person("member", "cy@example.org");
  bobs.accounts = [bob.accountId];
  const rule = { escalations: [{ accounts: [ann.accountId, cy.accountId] }, bobs] };
  assert.equal((await box.api("PUT", "/v1/projects/shop/rules/errors", rule)).status, 200);
  const dead = { type: "webhook", name: "dead", url: `${receiver.url}/dead` };
  await box.api("POST", "/v1/projects/shop/integrations", dead);
  receiver.always((response, socket, request) =>
    answer(request.path === "/dead" ? 410 : 200, "{}")(response, socket, request),
  );
  const { id } = (await drill()).body;
  await settle(box);
  await pass(box, 4);
  const report = async () => (await box.api("GET", `/v1/projects/shop/drills/${id}`)).body;
  const named = (ways: { name: string; event: string | null; reason: string }[]) =>
    ways.map(({ name, event, reason }) => `${name} ${event ?? ""} ${reason}`).toSorted();
  const first = await report();
  assert.deepEqual([first.state, first.verdict.level], ["running", "warn"]);
  assert.deepEqual(named(first.arrived), [
    "ann@example.org alert.escalated accepted_not_confirmed",
    "ops alert.escalated delivered",
    "ops alert.opened delivered",
  ]);
  assert.deepEqual(named(first.waiting), ["bob@example.org  step_not_reached"]);
  assert.deepEqual(named(first.missed).slice(0, 1), ["cy@example.org  no_channel"]);
  assert.ok(named(first.missed).some((one) => one.startsWith("dead alert.opened")));
  assert.ok(first.arrived.every((way: { after_seconds: number }) => way.after_seconds <= 5));
  await box.api("POST", `/v1/alerts/${id}/ack`, undefined, ann.key);
  await pass(box, 900, 100);
  const last = await report();
  assert.deepEqual([last.state, last.waiting, last.acknowledged_by], ["over", [], ann.accountId]);
  assert.match(
    last.verdict.sentence,
    /^1 person reached, the first message after \d s, \d didn't arrive\.$/,
  );
  assert.equal((await box.api("GET", "/v1/projects/shop/drills/999")).status, 404);
});

test("no alert but a drill has a report, and each of two at once its own", async (t) => {
  const { box, token, make, drill } = await story(t);
  await make("slow");
  const [a, b] = await Promise.all([drill(), drill({}, "slow")]);
  await settle(box);
  const report = (id: string) => box.api("GET", `/v1/projects/shop/drills/${id}`);
  assert.deepEqual(
    [(await report(a.body.id)).body.rule, (await report(b.body.id)).body.rule],
    ["errors", "slow"],
  );
  await box.ingest(token, { message: "disk full", level: 500 });
  await settle(box);
  const real = (await box.api("GET", "/v1/alerts?project=shop")).body.alerts.find(
    (one: { drill: boolean }) => !one.drill,
  );
  assert.equal((await report(real.id)).status, 404);
  await box.project("other");
  assert.equal((await box.api("GET", `/v1/projects/other/drills/${a.body.id}`)).status, 404);
});

test("drills are in no count beside a list and in no silence's preview", async (t) => {
  const { box, token, drill } = await story(t);
  const counts = async () => {
    const { counts } = (await box.api("GET", "/v1/alerts?project=shop&counts=true")).body;
    return [counts.open, counts.acknowledged, counts.resolved];
  };
  const { id } = (await drill()).body;
  assert.deepEqual(await counts(), [0, 0, 0]);
  await box.api("POST", `/v1/alerts/${id}/ack`);
  assert.deepEqual(await counts(), [0, 0, 0]);
  await box.api("POST", `/v1/alerts/${id}/resolve`);
  await box.ingest(token, { message: "disk full", level: 500 });
  assert.deepEqual(await counts(), [1, 0, 0]);
  const silence = {
    match: { rule: "errors" },
    reason: "deploy",
    critical: true,
    ends_at: Math.floor(box.clock.now() / 1000) + 600,
  };
  const preview = (await box.api("POST", "/v1/silences/preview", silence)).body;
  assert.equal(preview.past.alerts, 1);
  const metrics = (await box.api("GET", "/metrics")).body;
  assert.match(metrics, /box_alerts\{state="open"\} 1/);
});

test("drills begin no storm: what is real is told at once beside them", async (t) => {
  const { box, receiver, token, make, drill } = await story(t);
  receiver.always(answer(200, '{"ok":true}'));
  const room = { type: "slack", name: "room", webhook_url: `${receiver.url}/slack` };
  const path = "/v1/projects/shop/integrations";
  assert.equal((await box.api("POST", path, { ...room, storm_threshold: 2 })).status, 201);
  await make("slow");
  for (const name of ["errors", "slow"]) assert.equal((await drill({}, name)).status, 201);
  await box.ingest(token, { message: "really down", level: 350 });
  await settle(box);
  const told = receiver.received.filter((one) => one.path === "/slack");
  assert.ok(told.some(({ body }) => body.includes("really down")));
});

test("box drill waits for what was sent and says what came of it", async (t) => {
  const { box } = await story(t);
  const going = setInterval(() => void box.clock.turn(500), 20);
  t.after(() => clearInterval(going));
  const said = await run(["drill", "shop", "errors"], {
    env: { BOX_URL: box.url, BOX_KEY: box.owner.key },
  });
  assert.equal(said.code, 0, said.err);
  assert.match(
    said.out,
    /^drill begun: alert \d+.*\n1 person reached, the first message after \d+ s\.\n/,
  );
  assert.match(said.out, /arrived {2}ann@example\.org +webhook \/ann +sent, not confirmed/);
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
    auto_resolve_quiet_minutes: 2,
    escalations: [{ accounts: [ann.accountId] }, {}],
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
    type: "slack",
    name: "room",
    webhook_url: `${receiver.url}/slack`,
    title_template: "{{rule}} is broken",
    body_template: "go and look",
  };
  const made = await box.api("POST", "/v1/projects/shop/integrations", slack);
  assert.equal(made.status, 201, JSON.stringify(made.body));
  await drill();
  await settle(box);
  const said = receiver.received.filter(({ path }) => path === "/slack");
  assert.equal(said.length, 1, "the first step runs with the opening");
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
