import assert from "node:assert/strict";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import Database from "better-sqlite3";
import { migrations } from "../../src/ground/store/migrations.ts";
import type { Person } from "../support/box.ts";
import { configureRelay } from "../support/channels.ts";
import { pagedStory, reachBy, toldIn } from "../support/contacts.ts";
import { answer } from "../support/receiver.ts";
import { pass, settle } from "../support/until.ts";

/** The ladder has run, and for ten minutes none of its pages gets through: all are tried on, and the fallback is paged. */

/** Ann and Bob have phones by a relay; it and whoever else is in `away` answer 503. Olga is the owner, reached at `/olga`. */
async function awayStory(t: TestContext, { room = false } = {}) {
  const story = await pagedStory(t);
  const { box, receiver } = story;
  const olga = { ...box.owner };
  await reachBy(box, olga, receiver, "/olga");
  configureRelay(box, "shop", `${receiver.url}/relay`);
  const channel = { type: "discord", name: "room", webhook_url: `${receiver.url}/room` };
  if (room) {
    const made = await box.api("POST", "/v1/projects/shop/integrations", channel);
    assert.equal(made.status, 201, JSON.stringify(made.body));
  }
  const away = new Set(["/relay"]);
  receiver.always((response, socket, request) => {
    if (away.has(request.path)) answer(503)(response, socket, request);
    else if (request.path === "/relay")
      answer(200, { relayed: true, devices: 1 })(response, socket, request);
    else answer(204)(response, socket, request);
  });
  let seen = 0;
  /** Who was sent a page that was taken, since the last time. */
  const paged = () => {
    const fresh = receiver.received.slice(seen);
    seen = receiver.received.length;
    return fresh
      .filter((one) => !one.path.startsWith("/room") && !away.has(one.path))
      .filter((one) =>
        one.path === "/relay" ? isEscalated(one.body) : toldIn(one).purpose === "page",
      )
      .map(({ path }) => path);
  };
  const isEscalated = (body: string) => body.includes('"alert.escalated"');
  /** The same within so many minutes. */
  const pagedIn = async (minutes: number) => {
    await pass(box, minutes * 60, 30);
    return paged();
  };
  const does = async (id: string, verb: string, body: object = {}) => {
    const { status } = await box.api("POST", `/v1/alerts/${id}/${verb}`, body);
    assert.equal(status, 200, verb);
    await settle(box);
  };
  const falls = async (id: string) =>
    (await story.timeline(id))
      .filter(({ kind }) => kind === "fallback")
      .map(({ detail }) => detail["why"]);
  const fallback = async (...people: Person[]) => {
    const body = { accounts: people.map(({ accountId }) => accountId), schedules: [] };
    assert.equal((await box.api("PUT", "/v1/fallback", body)).status, 200);
  };
  const now = () => Math.floor(box.clock.now() / 1000);
  /** A silence of so many minutes, and a minute more. */
  const silence = async (minutes: number) => {
    const of = { match: {}, all: true, critical: true, reason: "x" };
    const made = await box.api("POST", "/v1/silences", { ...of, ends_at: now() + minutes * 60 });
    assert.equal(made.status, 201, JSON.stringify(made.body));
    await pass(box, (minutes + 1) * 60, 60);
  };
  return { ...story, silence, olga, away, paged, pagedIn, does, falls, fallback, now };
}

test("where the relay is away, the fallback is paged once after ten minutes, the rooms hear it, and the push is tried on", async (t) => {
  const { box, receiver, ann, rule, step, fire, paged, pagedIn, falls, away } = await awayStory(t, {
    room: true,
  });
  await rule([step(ann)]);
  const id = await fire(1);
  paged();
  assert.deepEqual(await pagedIn(9.5), []);
  assert.deepEqual(await pagedIn(1), ["/olga"]);
  assert.deepEqual(await falls(id), ["undelivered"]);
  const told = receiver.received
    .filter(({ path }) => path.startsWith("/room"))
    .map(({ body }) => body);
  assert.match(String(told.at(-1)), /Nobody on its ladder could be reached/);
  assert.deepEqual(await pagedIn(150), []);
  away.clear();
  paged();
  const late = await pagedIn(61);
  assert.ok(late.includes("/relay") && !late.includes("/olga"), String(late));
  assert.deepEqual(await falls(id), ["undelivered"]);
  assert.equal((await box.api("GET", `/v1/alerts/${id}`)).body.state, "open");
});

test("where a contact's gateway is away, the fallback doesn't wait until its page is given up", async (t) => {
  const { box, receiver, bob, rule, step, fire, paged, pagedIn, away } = await awayStory(t);
  await reachBy(box, bob, receiver, "/bob");
  away.add("/bob");
  await rule([step(bob)]);
  await fire(1);
  paged();
  assert.deepEqual(await pagedIn(11), ["/olga"]);
});

test("whoever was told by anything, or took the alert, keeps the fallback from being paged", async (t) => {
  const { box, receiver, ann, bob, rule, step, fire, pagedIn, paged, does, falls } =
    await awayStory(t);
  await reachBy(box, bob, receiver, "/bob");
  await rule([{ ...step(ann), accounts: [ann.accountId, bob.accountId] }]);
  const reached = await fire(1);
  await pagedIn(15);
  await rule([step(ann)], { name: "only phones", identifier_keys: ["m"] });
  const taken = await fire(1, { keys: { m: "1", n: "1" } });
  paged();
  await pass(box, 300, 60);
  await does(taken, "ack");
  assert.deepEqual(await pagedIn(15), []);
  for (const id of [reached, taken]) assert.deepEqual(await falls(id), []);
});

test("ten minutes are counted from the last rung, over a restart, too", async (t) => {
  const { box, ann, bob, rule, step, fire, paged, pagedIn } = await awayStory(t);
  await rule([step(ann), { ...step(bob, 30), repeat_minutes: 4 }]);
  await fire(1);
  paged();
  assert.deepEqual(await pagedIn(39), []);
  await box.restart();
  assert.deepEqual(await pagedIn(1.5), ["/olga"]);
});

test("who is tried already and has no other way is no fallback; who has one is", async (t) => {
  const { box, receiver, ann, bob, rule, step, fire, paged, pagedIn, falls, fallback } =
    await awayStory(t);
  await fallback(ann);
  await reachBy(box, ann, receiver, "/ann");
  const own = (await box.api("GET", "/v1/accounts/me/contacts", undefined, ann.key)).body;
  const contact = own.contacts[0].id;
  const off = await box.api(
    "PATCH",
    `/v1/accounts/me/contacts/${contact}`,
    { state: "off" },
    ann.key,
  );
  assert.equal(off.status, 200, JSON.stringify(off.body));
  await rule([step(ann)]);
  const first = await fire(1);
  await pass(box, 300, 60);
  await box.api("PATCH", `/v1/accounts/me/contacts/${contact}`, { state: "verified" }, ann.key);
  paged();
  assert.deepEqual(await pagedIn(6), ["/ann"]);
  assert.deepEqual(await falls(first), ["undelivered"]);

  await fallback(bob);
  await box.api("PATCH", `/v1/accounts/me/contacts/${contact}`, { state: "off" }, ann.key);
  const second = await fire(2);
  paged();
  // Bob has nothing but a phone by the relay that is away.
  assert.deepEqual(await pagedIn(11), ["/olga"]);
  assert.deepEqual(await falls(second), ["undelivered"]);
});

test("where the fallback is only who is tried already, nothing is done until something else reaches them", async (t) => {
  const { box, receiver, olga, rule, step, fire, paged, pagedIn, falls } = await awayStory(t);
  const base = "/v1/accounts/me/contacts";
  for (const { id } of (await box.api("GET", base)).body.contacts)
    await box.api("DELETE", `${base}/${id}`);
  await rule([step(olga)]);
  const id = await fire(1);
  paged();
  assert.deepEqual(await pagedIn(20), []);
  assert.deepEqual(await falls(id), []);
  assert.deepEqual((await box.api("GET", `/v1/alerts/${id}/detail`)).body.next, []);
  await reachBy(box, olga, receiver, "/olga");
  paged();
  assert.deepEqual(await pagedIn(11), ["/olga"]);
});

test("a silence stops the ten minutes, and its end begins them again", async (t) => {
  const { box, ann, rule, step, fire, paged, pagedIn, silence } = await awayStory(t);
  await rule([step(ann)]);
  await fire(1);
  await pass(box, 300, 60);
  paged();
  await silence(10);
  assert.deepEqual(await pagedIn(8), []);
  assert.deepEqual(await pagedIn(2), ["/olga"]);
});

test("a page that got through before a silence counts after it, whatever else failed or waits", async (t) => {
  const { box, receiver, ann, bob, rule, step, fire, paged, pagedIn, away, silence, falls } =
    await awayStory(t);
  await reachBy(box, bob, receiver, "/bob");
  await reachBy(box, bob, receiver, "/bob2");
  away.add("/bob2");
  await rule([step(bob)]);
  const failed = await fire(1);
  await pass(box, 3700, 60);
  await rule([step(ann), step(bob, 5)], { name: "two rungs", identifier_keys: ["m"] });
  const waits = await fire(1, { keys: { m: "1", n: "1" } });
  await pass(box, 400, 30);
  paged();
  await silence(10);
  assert.ok(!(await pagedIn(30)).includes("/olga"));
  for (const id of [failed, waits]) assert.deepEqual(await falls(id), []);
});

test("a fallback whose page got through isn't paged again after a silence", async (t) => {
  const { ann, rule, step, fire, pagedIn, silence, falls } = await awayStory(t);
  await rule([step(ann)]);
  const id = await fire(1);
  assert.deepEqual(await pagedIn(11), ["/olga"]);
  for (let i = 0; i < 2; i += 1) {
    await silence(5);
    assert.deepEqual(await pagedIn(12), []);
  }
  assert.deepEqual(await falls(id), ["undelivered"]);
});

test("of several passes the last one counts, and the fallback behind it isn't paged again", async (t) => {
  const { box, ann, rule, fire, step, paged, pagedIn, falls } = await awayStory(t);
  const ladder = { name: "two", steps: [step(ann)], passes: 2, pass_after_minutes: 30 };
  const made = await box.api("POST", "/v1/ladders", ladder);
  assert.equal(made.status, 201, JSON.stringify(made.body));
  await rule([], { ladder: "two", escalations: undefined });
  const id = await fire(1);
  paged();
  assert.deepEqual(await pagedIn(39), []);
  assert.deepEqual(await pagedIn(2), ["/olga"]);
  assert.deepEqual(await pagedIn(30), []);
  assert.deepEqual(await falls(id), ["undelivered"]);
});

test("where the end of the last pass comes with the ten minutes, the fallback is paged once", async (t) => {
  const { ann, box, rule, fire, step, paged, pagedIn, falls } = await awayStory(t);
  const ladder = { name: "two", steps: [step(ann)], passes: 2, pass_after_minutes: 10 };
  assert.equal((await box.api("POST", "/v1/ladders", ladder)).status, 201);
  await rule([], { ladder: "two", escalations: undefined });
  const id = await fire(1);
  paged();
  assert.deepEqual(await pagedIn(25), ["/olga"]);
  assert.deepEqual(await falls(id), ["undelivered"]);
});

test("time in which the box is off isn't counted", async (t) => {
  const { box, ann, rule, step, fire, paged, pagedIn } = await awayStory(t);
  await rule([step(ann)]);
  await fire(1);
  await pass(box, 300, 30);
  await box.restart(() => box.clock.turn(3_600_000));
  paged();
  assert.deepEqual(await pagedIn(4), []);
  assert.deepEqual(await pagedIn(2), ["/olga"]);
});

test("an alert that stood before the upgrade is looked after", async (t) => {
  const { box, ann, bob, rule, step, fire, paged, pagedIn } = await awayStory(t);
  await rule([step(ann)]);
  await fire(1);
  await rule([step(bob), step(bob, 600)], { name: "goes on", identifier_keys: ["m"] });
  await fire(1, { keys: { m: "1", n: "1" } });
  await pass(box, 300, 30);
  await box.restart(async () => {
    const db = new Database(join(box.data, "box.db"));
    db.exec("ALTER TABLE alerts DROP COLUMN undelivered_at");
    db.exec("UPDATE alerts SET due_at = NULL WHERE step_at IS NULL");
    db.exec(migrations("box").find(({ name }) => name.includes("undelivered"))?.sql ?? "");
    db.close();
    await box.clock.turn(3_600_000);
  });
  paged();
  assert.deepEqual(await pagedIn(9), []);
  assert.deepEqual(await pagedIn(2), ["/olga"]);
});

test("a clock that is set makes nobody wait, and mistakes no page for one that got through, nor the other way round", async (t) => {
  for (const hours of [-1, 1]) {
    const { box, receiver, ann, bob, rule, step, fire, paged, pagedIn, falls, away } =
      await awayStory(t);
    await reachBy(box, bob, receiver, "/bob");
    const set = () => box.clock.setWall(box.clock.now() + hours * 3_600_000);
    await rule([step(bob), step(ann, 5)]);
    await fire(1);
    await pass(box, 240, 30);
    set();
    // Ann's rung runs after it, and Bob's page got through before.
    paged();
    assert.deepEqual(await pagedIn(10), []);
    assert.deepEqual(await pagedIn(3), ["/olga"], `set by ${hours} h before the last rung`);

    await rule([step(ann)], { name: "phones", identifier_keys: ["m"] });
    await fire(1, { keys: { m: "1", n: "1" } });
    await pass(box, 240, 30);
    set();
    paged();
    assert.deepEqual(await pagedIn(5), []);
    assert.deepEqual(await pagedIn(2), ["/olga"], `set by ${hours} h after it`);

    away.clear();
    await rule([step(bob), step(ann, 20)], { name: "well", identifier_keys: ["o"] });
    const reached = await fire(1, { keys: { o: "1", m: "2", n: "2" } });
    await pass(box, 1300, 60);
    set();
    await pagedIn(15);
    assert.deepEqual(await falls(reached), []);
  }
});

test("who was paged last is told again beside the fallback", async (t) => {
  const { box, receiver, bob, rule, step, fire, pagedIn, paged, away } = await awayStory(t);
  await reachBy(box, bob, receiver, "/bob");
  away.add("/bob");
  await rule([step(bob)], { renotify_minutes: 30 });
  await fire(1);
  paged();
  assert.deepEqual(await pagedIn(12), ["/olga"]);
  away.clear();
  await pass(box, 3600, 60);
  paged();
  const again = new Set(await pagedIn(31));
  assert.ok(again.has("/bob") && again.has("/olga"), String([...again]));
});

test("a way that is due later is waited for, and what comes next says so", async (t) => {
  const { box, receiver, bob, olga, rule, step, fire, paged, pagedIn, away, now } =
    await awayStory(t);
  const contacts = [
    await reachBy(box, bob, receiver, "/bob"),
    await reachBy(box, bob, receiver, "/bob2"),
  ];
  away.add("/bob");
  const rules = contacts.map((id, i) => ({ after_seconds: i * 900, contacts: [id] }));
  const own = await box.api("PUT", "/v1/accounts/me/notify", { rules }, bob.key);
  assert.equal(own.status, 200, JSON.stringify(own.body));
  await rule([step(bob)]);
  const began = now();
  const id = await fire(1);
  await pass(box, 60, 30);
  const next = (await box.api("GET", `/v1/alerts/${id}/detail`)).body.next;
  assert.deepEqual(
    next.map((one: { at: number; accounts: string[] }) => [one.at - began, one.accounts]),
    [[1500, [olga.accountId]]],
  );
  paged();
  assert.deepEqual(await pagedIn(13), []);
  away.add("/bob2");
  assert.deepEqual(await pagedIn(10.5), []);
  assert.deepEqual(await pagedIn(1), ["/olga"]);
});

test("who is given the alert and isn't reached has the fallback beside them", async (t) => {
  const { ann, rule, fire, paged, pagedIn, does } = await awayStory(t);
  await rule([]);
  const id = await fire(1);
  await does(id, "assign", { accounts: [ann.accountId] });
  paged();
  assert.deepEqual(await pagedIn(11), ["/olga"]);
});

test("a push that another got in the second of an assignment isn't theirs who are given the alert", async (t) => {
  const { ann, bob, rule, step, fire, away, paged, pagedIn, does } = await awayStory(t, {
    room: true,
  });
  away.clear();
  await rule([step(ann)]);
  const id = await fire(1);
  away.add("/relay");
  await does(id, "assign", { accounts: [bob.accountId] });
  paged();
  assert.deepEqual(await pagedIn(11), ["/olga"]);
});

test("an alert whose snooze ends and that reaches nobody again has the fallback paged again", async (t) => {
  const { box, ann, rule, step, fire, pagedIn, does, falls, now } = await awayStory(t);
  await rule([step(ann, 5)]);
  const id = await fire(1);
  assert.deepEqual(await pagedIn(16), ["/olga"]);
  await does(id, "snooze", { until: now() + 3600 });
  await pass(box, 3600, 600);
  await pagedIn(16);
  assert.deepEqual(await falls(id), ["undelivered", "undelivered"]);
});

test("what comes next says that the fallback is paged unless somebody is reached, and of an alert whose page got through nothing", async (t) => {
  const { box, ann, olga, rule, step, fire, away, now } = await awayStory(t);
  await rule([step(ann)]);
  const id = await fire(1);
  const began = now();
  await pass(box, 60, 30);
  const next = async () =>
    (await box.api("GET", `/v1/alerts/${id}/detail`)).body.next.map(
      ({ at, why, accounts }: { at: number; why: string; accounts: string[] }) => [
        at - began,
        why,
        accounts,
      ],
    );
  assert.deepEqual(await next(), [[600, "fallback", [olga.accountId]]]);
  away.clear();
  await pass(box, 300, 30);
  assert.deepEqual(await next(), []);
});

test("without contacts and relay nobody is missed", async (t) => {
  const { box, ann, rule, step, fire, timeline } = await pagedStory(t);
  await rule([step(ann)]);
  const id = await fire(1);
  await pass(box, 1800, 60);
  const kinds = (await timeline(id)).map(({ kind }) => kind);
  assert.ok(!kinds.includes("fallback"), String(kinds));
});
