import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { boxAndReceiver, reachBy, toldIn } from "../support/contacts.ts";
import { pass, settle } from "../support/until.ts";

/** Ladders of the tenant: one change of policy, and every rule that refers to it follows. */

const MINUTE = 60;

async function story(t: TestContext) {
  const { box, receiver } = await boxAndReceiver(t);
  const token = await box.project("shop");
  const people = Object.fromEntries(
    ["ann", "bob", "cid"].map((name) => [name, box.person("member", `${name}@example.org`)]),
  ) as Record<"ann" | "bob" | "cid", ReturnType<typeof box.person>>;
  for (const [name, person] of Object.entries(people))
    await reachBy(box, person, receiver, `/${name}`);
  const step = (who: keyof typeof people, after_minutes: number, repeat_minutes = 0) => ({
    accounts: [people[who].accountId],
    schedules: [] as string[],
    after_minutes,
    repeat_minutes,
  });
  const made = async (path: string, body: object) => {
    const answer = await box.api("POST", path, body);
    assert.equal(answer.status, 201, JSON.stringify(answer.body));
    return answer.body;
  };
  const ladder = (steps: object[], more: object = {}) =>
    made("/v1/ladders", { name: "first", steps, ...more });
  const rule = (name: string, more: object = {}) =>
    made("/v1/projects/shop/rules", {
      name,
      ladder: "first",
      match: { template_contains: name },
      identifier_keys: ["n"],
      ...more,
    });
  const fire = async (name: string, n = 1) => {
    await box.ingest(token, { message: `it is ${name}`, level: 400, keys: { n } });
    await settle(box);
    return String(box.tenant.store.sql("SELECT max(id) FROM alerts").pluck().get());
  };
  /** Whom pages went to so far, in order, once for each alert. */
  const paged = () =>
    receiver.received
      .filter((one) => toldIn(one).purpose === "page")
      .flatMap((one) => toldIn(one).alerts.map(() => one.path.slice(1)));
  const alert = async (id: string) => (await box.api("GET", `/v1/alerts/${id}`)).body;
  const timeline = async (id: string, kind: string) =>
    (await box.api("GET", `/v1/alerts/${id}/timeline`)).body.timeline.filter(
      (one: { kind: string }) => one.kind === kind,
    );
  const minutes = (n: number) => pass(box, n * MINUTE, 30);
  return { box, token, people, step, ladder, rule, fire, paged, alert, timeline, minutes };
}

test("rules that refer to one ladder page by it, and say its steps as their own", async (t) => {
  const { box, step, ladder, rule, fire, paged, alert, minutes } = await story(t);
  const steps = [step("ann", 0), step("bob", 10)];
  const made = await ladder(steps, { team: "payments" });
  assert.deepEqual([made.passes, made.pass_after_minutes, made.rules], [1, null, []]);
  const answer = await rule("red");
  assert.deepEqual([answer.ladder, answer.escalations], ["first", made.steps]);
  await rule("blue", { escalations: steps });
  const two = await box.api("POST", "/v1/projects/shop/rules", {
    name: "two",
    ladder: "first",
    escalations: [step("cid", 0)],
  });
  assert.deepEqual([two.status, two.body.error.code], [422, "two_ladders"]);
  const none = await box.api("POST", "/v1/projects/shop/rules", { name: "no", ladder: "nope" });
  assert.deepEqual([none.status, none.body.error.code], [422, "unknown_ladder"]);
  const id = await fire("red");
  assert.deepEqual(paged(), ["ann"]);
  await minutes(11);
  assert.deepEqual(paged(), ["ann", "bob"]);
  assert.equal((await alert(id)).escalation_level, 2);
  const renamed = await box.api("PUT", "/v1/ladders/first", { name: "night", steps });
  assert.deepEqual(renamed.body.change, { rules: 2, open_alerts: 1, pages: [] });
  assert.deepEqual(renamed.body.rules, ["shop/blue", "shop/red"]);
  const { body } = await box.api("GET", "/v1/projects/shop/rules/red");
  assert.deepEqual([body.ladder, body.escalations.length], ["night", 2]);
  const refused = await box.api("DELETE", "/v1/ladders/night");
  assert.deepEqual(
    [refused.status, refused.body.error.code, refused.body.error.details],
    [
      409,
      "ladder_in_use",
      ["red", "blue"].map((name) => ({ reason: "named_by_rule", value: `shop/${name}` })),
    ],
  );
  for (const name of ["red", "blue"]) await box.api("DELETE", `/v1/projects/shop/rules/${name}`);
  assert.equal((await box.api("DELETE", "/v1/ladders/night")).status, 200);
  assert.equal((await box.api("GET", "/v1/ladders/night")).status, 404);
});

test("a client that knows no ladder keeps it with the same steps, and gets its own with others", async (t) => {
  const { box, step, ladder, rule } = await story(t);
  await ladder([step("ann", 0), step("bob", 10)]);
  await rule("red");
  const at = "/v1/projects/shop/rules/red";
  const { ladder: _, ...known } = (await box.api("GET", at)).body;
  const same = await box.api("PUT", at, { ...known, max_open: 50 });
  assert.deepEqual([same.status, same.body.ladder, same.body.max_open], [200, "first", 50]);
  const own = await box.api("PUT", at, { ...known, escalations: [step("bob", 0)] });
  assert.deepEqual([own.body.ladder, own.body.escalations.length], [null, 1]);
  const back = await box.api("PUT", at, { ...known, escalations: [], ladder: "first" });
  assert.deepEqual([back.body.ladder, back.body.escalations.length], ["first", 2]);
  const copied = await box.api("PUT", at, { ...back.body, ladder: null });
  assert.deepEqual([copied.body.ladder, copied.body.escalations.length], [null, 2]);
});

test("a change in the middle pages nobody twice and nobody never, before and after a restart", async (t) => {
  const { box, step, ladder, rule, fire, paged, timeline, minutes } = await story(t);
  await ladder([step("ann", 0), step("bob", 30)]);
  await rule("red");
  await rule("blue");
  const [red, blue] = [await fire("red"), await fire("blue")];
  await minutes(5);
  const taken = await fire("blue", 2);
  await box.api("POST", `/v1/alerts/${taken}/ack`);
  const before = paged().length;
  // Ann stays at 0 and doesn't run again; Cid's time has passed; Bob comes later.
  const steps = [step("ann", 0), step("cid", 3), step("bob", 40)];
  const preview = await box.api("POST", "/v1/ladders/first/preview", { steps });
  const cid = { email: "cid@example.org", alerts: 2 };
  const said = (one: { body: { change: object } }) => {
    const { pages, ...rest } = one.body.change as { pages: { email: string; alerts: number }[] };
    return { ...rest, pages: pages.map(({ email, alerts }) => ({ email, alerts })) };
  };
  assert.deepEqual(said(preview as never), { rules: 2, open_alerts: 3, pages: [cid] });
  assert.equal(paged().length, before, "a preview pages nobody");
  const put = await box.api("PUT", "/v1/ladders/first", { steps });
  assert.deepEqual(said(put as never), { rules: 2, open_alerts: 3, pages: [cid] });
  await box.restart();
  await minutes(2);
  assert.deepEqual(paged().slice(before), ["cid", "cid"]);
  for (const id of [red, blue]) {
    const [retimed, ...more] = await timeline(id, "retimed");
    assert.deepEqual([retimed.detail.why, more.length], ["rule_changed", 0]);
  }
  await minutes(60);
  assert.deepEqual(paged().slice(before), ["cid", "cid", "bob", "bob"]);
  assert.equal(
    box.tenant.store.sql("SELECT count(*) FROM ladder_followers").pluck().get(),
    0,
    "every alert has followed",
  );
});

test("two changes before an alert has followed the first are one to it", async (t) => {
  const { box, step, ladder, rule, fire, paged, minutes } = await story(t);
  await ladder([step("ann", 0)]);
  await rule("red");
  const id = await fire("red");
  await minutes(5);
  const { tenant } = box;
  const { changeLadder } = await import("../../src/core/alerts/ladders.ts");
  const to = (steps: object[]) => ({
    name: "first",
    steps: steps as never,
    passes: 1,
    pass_after_minutes: null,
    team: "",
  });
  tenant.store.write((tx) => {
    changeLadder(tx, { name: "first", to: to([step("bob", 0)]) });
    changeLadder(tx, { name: "first", to: to([step("ann", 0)]) });
  });
  await minutes(2);
  assert.deepEqual(paged(), ["ann"], "it is as it was");
  // What happens to an alert before the sweep sees it follows first, too.
  tenant.store.write((tx) => changeLadder(tx, { name: "first", to: to([step("bob", 0)]) }));
  assert.equal((await box.api("POST", `/v1/alerts/${id}/ack`)).status, 200);
  await minutes(2);
  const { body } = await box.api("POST", `/v1/alerts/${id}/unack`);
  assert.equal(body.state, "open");
  await minutes(2);
  assert.deepEqual([...new Set(paged())], ["ann", "bob"]);
});

test("passes run the ladder again, count their steps alike and end with the fallback, once", async (t) => {
  const { box, people, step, ladder, rule, fire, paged, alert, timeline, minutes } = await story(t);
  await box.api("PUT", "/v1/fallback", { accounts: [people.cid.accountId], schedules: [] });
  const bad = await box.api("POST", "/v1/ladders", { name: "bad", passes: 2 });
  assert.deepEqual([bad.status, bad.body.error.details[0].field], [400, "/pass_after_minutes"]);
  const steps = [step("ann", 0), step("bob", 10, 5)];
  await ladder(steps, { passes: 2, pass_after_minutes: 10 });
  await rule("red");
  const simulated = await box.api("POST", "/v1/projects/shop/rules/simulate", { rule: "red" });
  const course = [
    ["step", 1, 0],
    ["step", 2, 10],
    ["repeat", 2, 15],
    ["step", 1, 20],
    ["step", 2, 30],
    ["repeat", 2, 35],
    ["fallback", 2, 40],
  ];
  const { rungs } = simulated.body;
  assert.deepEqual(
    rungs.map((one: { why: string; step: number; at: number }) => [
      one.why,
      one.step,
      (one.at - rungs[0].at) / MINUTE,
    ]),
    course,
  );
  const id = await fire("red");
  const levels: number[] = [];
  for (let at = 0; at < 40; at += 10) {
    await minutes(9);
    levels.push((await alert(id)).escalation_level);
    await minutes(1);
  }
  assert.deepEqual(levels, [1, 2, 1, 2]);
  await minutes(120);
  assert.deepEqual(paged(), ["ann", "bob", "bob", "ann", "bob", "bob", "cid"]);
  const [fallback, ...more] = await timeline(id, "fallback");
  assert.deepEqual([fallback.detail.why, more.length], ["passes_over", 0]);
  assert.deepEqual(
    (await timeline(id, "escalated")).map(
      (one: { detail: { steps: number[]; level: number } }) => one.detail.steps[0],
    ),
    [1, 2, 2, 1, 2, 2],
  );
});

test("schedules are named as from outside, shared, and stay while a ladder names them; people, too", async (t) => {
  const { box, people, step, ladder, rule, fire, paged } = await story(t);
  const now = Math.floor(box.clock.now() / 1000);
  const at = "/v1/projects/shop/oncall/schedules";
  const layers = [
    {
      name: "week",
      participants: [people.bob.accountId],
      rotation_start: now,
      shift_minutes: 10_080,
    },
  ];
  const schedule = (more: object) => ({ name: "night", timezone: "UTC", layers, ...more });
  await box.api("POST", at, schedule({}));
  const named = (name: string) => [{ schedules: [name], after_minutes: 0 }];
  for (const name of ["night", "shop/night", "shop/nope"]) {
    const { status, body } = await box.api("POST", "/v1/ladders", {
      name: "first",
      steps: named(name),
    });
    assert.deepEqual(
      [status, body.error.code, body.error.details[0].field],
      [422, "schedule_not_shared", "/steps/0/schedules/0"],
    );
  }
  await box.api("PUT", `${at}/night`, schedule({ shared: true }));
  await ladder([...named("shop/night"), step("ann", 30)]);
  const details = [{ reason: "named_by_ladder", value: "first" }];
  for (const refused of [
    await box.api("PUT", `${at}/night`, schedule({ shared: false })),
    await box.api("DELETE", `${at}/night`),
    await box.api("DELETE", "/v1/projects/shop"),
    await box.api("DELETE", `/v1/accounts/${people.ann.accountId}`),
  ])
    assert.deepEqual([refused.status, refused.body.error.details], [409, details]);
  await rule("red");
  await box.api("PUT", `${at}/night`, schedule({ name: "late", shared: true }));
  await box.api("POST", "/v1/projects/shop/rename", { name: "store" });
  const read = (await box.api("GET", "/v1/ladders/first")).body;
  assert.deepEqual(read.steps[0].schedules, ["store/late"]);
  await fire("red");
  assert.deepEqual(paged(), ["bob"]);
  const replaced = await box.api("POST", `/v1/accounts/${people.ann.accountId}/replace`, {
    by: people.cid.accountId,
  });
  assert.deepEqual(
    replaced.body.changed.map(({ kind, name }: { kind: string; name: string }) => [kind, name]),
    [["ladder", "first"]],
    JSON.stringify(replaced.body),
  );
});

test("rules with equal steps become one ladder, and their alerts and windows go on as they were", async (t) => {
  const { box, step, rule, fire, paged, timeline, minutes } = await story(t);
  const [first, second] = [step("ann", 0), { ...step("bob", 10), schedules: ["rota"] }];
  const layer = {
    name: "l",
    rotation_start: 1_700_000_000,
    shift_minutes: 1440,
    participants: first.accounts,
  };
  const schedule = { name: "rota", timezone: "UTC", layers: [layer] };
  const at = "/v1/projects/shop/oncall/schedules";
  assert.equal((await box.api("POST", at, schedule)).status, 201);
  const own = { ladder: null };
  await rule("fire", { ...own, escalations: [first, second] });
  const named = { ...second, schedules: ["shop/rota"] };
  const fire_after = { count: 2, distinct_sources: 1, window_minutes: 60 };
  await rule("flood", { ...own, escalations: [first, named], fire_after });
  await rule("other", { ...own, escalations: [first] });
  const id = await fire("fire");
  await minutes(5);
  const before = (await timeline(id, "escalated")).length;
  await fire("flood");

  const { copies } = (await box.api("GET", "/v1/ladder-copies")).body;
  assert.deepEqual(
    copies.map(({ rules, not_shared }: { rules: string[]; not_shared: string[] }) => [
      rules,
      not_shared,
    ]),
    [[["shop/fire", "shop/flood"], ["shop/rota"]]],
  );
  const adopt = (rules: string[]) => box.api("POST", "/v1/ladder-copies", { name: "first", rules });
  assert.equal((await adopt(["shop/fire", "shop/flood"])).body.error.code, "schedule_not_shared");
  assert.equal((await box.api("PUT", `${at}/rota`, { ...schedule, shared: true })).status, 200);
  const wrong = (await adopt(["shop/fire", "shop/other"])).body.error;
  assert.deepEqual([wrong.code, wrong.details[0].field], ["invalid_request", "/rules/1"]);
  const done = await box.api("POST", "/v1/ladder-copies", {
    name: "first",
    rules: ["shop/fire", "shop/flood"],
  });
  assert.equal(done.status, 201, JSON.stringify(done.body));
  assert.deepEqual(done.body.rules, ["shop/fire", "shop/flood"]);
  assert.deepEqual((await box.api("GET", "/v1/ladder-copies")).body.copies, []);

  // The second step of the alert runs at its time, once; the window's second event opens an alert.
  assert.equal((await timeline(id, "escalated")).length, before);
  assert.deepEqual(await timeline(id, "retimed"), []);
  const seen = paged().length;
  await minutes(6);
  assert.equal((await timeline(id, "escalated")).length, before + 1);
  assert.deepEqual(paged().slice(seen).toSorted(), ["ann", "bob"]);
  const opened = await fire("flood");
  assert.notEqual(opened, id);
});
