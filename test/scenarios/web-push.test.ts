import assert from "node:assert/strict";
import { readdirSync, readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { examine } from "../../src/app/operate/doctor.ts";
import { browser } from "../../src/app/prove/browser.ts";
import { systemRandom } from "../../src/ground/kit/random.ts";
import { MOST_CONTACTS } from "../../src/out/contacts/contacts.ts";
import { removeAccount } from "../../src/people/accounts.ts";
import { pushStory } from "../support/push-story.ts";
import { answer, type Behaviour } from "../support/receiver.ts";
import { pass, settle } from "../support/until.ts";

test("a page is pushed to each browser of who is paged, in words; what is shown is a fact; the button takes that alert", async (t) => {
  const story = await pushStory(t);
  const { box, ann, bob, subscribe, fire, see, press, timeline, step } = story;
  const [pixel, tablet] = [
    await subscribe(ann, "pixel", { timezone: "Europe/Berlin" }),
    await subscribe(ann, "tablet", { lock_screen: "place" }),
  ];
  const bobs = await subscribe(bob, "bobs");
  const quiet = await subscribe(bob, "quiet", { wants: ["shift"] });
  await story.rule([step(ann), step(bob, 15)]);
  const id = await fire(1);

  const page = pixel.shown();
  const at = Math.floor(box.clock.now() / 1000);
  assert.equal(page.title, "CRITICAL payments: no payment goes through");
  assert.match(
    page.body,
    /^You.re first, bob@example\.org \d\d:\d\d · 1 × since \d\d:\d\d · rung 1 of 2$/,
  );
  assert.deepEqual(
    [page.navigate, page.tag, page.silent, page.data.kind, page.data.alert],
    [`https://box.test/a/${id}?from=push`, `alert-${id}`, undefined, "page", id],
  );
  assert.deepEqual(page.data.next, { who: "bob@example.org", at: at + 900 });
  assert.match(page.data.ack ?? "", /^https:\/\/box\.test\/ack\//);
  assert.deepEqual([tablet.shown().title, tablet.shown().body], ["Alert in payments", ""]);
  assert.deepEqual([bobs.pushed(), quiet.pushed()], [[], []]);
  const { urgency, ttl, topic = "" } = story.service.taken[0]?.headers ?? {};
  assert.deepEqual([urgency, ttl], ["high", "3600"]);
  assert.match(topic, /^[\w-]{1,32}$/);

  const reach = async () => (await box.api("GET", `/v1/alerts/${id}/detail`)).body.reach;
  const reasons = async () =>
    (await reach())
      .filter(({ via }: { via: string }) => via === "web_push")
      .map(({ reason, address, after }: Record<string, unknown>) => [address, reason, after])
      .toSorted();
  assert.deepEqual(await reasons(), [
    ["pixel", "accepted_not_confirmed", null],
    ["tablet", "accepted_not_confirmed", null],
  ]);
  await pass(box, 5);
  assert.equal((await see(page.data.receipt)).status, 204);
  assert.equal((await see(page.data.receipt)).status, 204, "twice is once");
  assert.deepEqual((await reasons())[0], ["pixel", "shown", 5]);
  const seen = (await timeline(id)).filter(({ kind }) => kind === "shown");
  assert.deepEqual(
    seen.map(({ detail }) => detail),
    [
      {
        account: ann.accountId,
        contact: "web_push",
        address: "pixel",
        event: "alert.escalated",
        after: 5,
      },
    ],
  );
  const first = (await story.subscriptions(ann)).find(
    ({ id: one }: { id: string }) => one === pixel.id,
  );
  assert.deepEqual([first.shown_at, first.shown_after], [at + 5, 5]);

  const taken = await press(page);
  assert.deepEqual(
    [taken.status, taken.body],
    [
      200,
      {
        state: "acknowledged",
        acked_by: "ann@example.org",
        acked_at: at + 5,
        said: "You have it. Its ladder has stopped.",
      },
    ],
  );
  assert.deepEqual((await press(page)).body, taken.body, "twice is once");
  assert.equal((await timeline(id)).filter(({ kind }) => kind === "acknowledged").length, 1);
  await pass(box, 6);
  for (const phone of [pixel, tablet]) {
    const note = phone.shown();
    assert.deepEqual([note.tag, note.silent, note.data.kind], [`alert-${id}`, true, "note"]);
  }
  assert.equal(pixel.shown().title, "ann@example.org has it: payments: no payment goes through");
  assert.equal(tablet.shown().title, "Alert in payments");
  assert.equal(bobs.pushed().length, 0, "whoever wasn't paged is told nothing");
});

test("AC-23.5 a right takes its own alert and no other, and ends with the day, the alert, and the subscription (410)", async (t) => {
  const { box, ann, subscribe, rule, fire, press, step, timeline } = await pushStory(t);
  const phone = await subscribe(ann, "pixel");
  await rule([step(ann)]);
  const one = await fire(1);
  const first = phone.shown();
  await pass(box, 6);
  const two = await fire(2);
  const second = phone.shown();
  await pass(box, 6);
  const three = await fire(3);
  const third = phone.shown();
  const state = async (id: string) => (await box.api("GET", `/v1/alerts/${id}`)).body.state;
  const got = await fetch(`${box.url}${new URL(first.data.ack ?? "").pathname}`);
  assert.equal(got.status, 200);
  assert.match(await got.text(), /<button/);
  assert.equal(await state(one), "open", "a look changes nothing");
  assert.equal((await press(first)).status, 200);
  assert.deepEqual(
    [await state(one), await state(two), await state(three)],
    ["acknowledged", "open", "open"],
  );
  await box.api("POST", `/v1/alerts/${two}/resolve`);
  const over = await press(second);
  assert.deepEqual([over.status, over.body.state, over.body.acked_by], [410, "resolved", null]);
  assert.match(over.body.said, /is resolved by owner@example\.org/);
  await box.api("POST", `/v1/alerts/${one}/unack`);
  await box.restart(() => box.clock.turn(86_400_000));
  const late = await press(first);
  assert.deepEqual([late.status, await state(one)], [410, "open"]);
  await pass(box, 6);
  const four = await fire(4);
  const fourth = phone.shown();
  assert.equal(fourth.data.alert, four);
  const gone = await box.api("DELETE", `/v1/push/subscriptions/${phone.id}`, undefined, ann.key);
  assert.equal(gone.status, 200);
  assert.deepEqual([(await press(fourth)).status, await state(four)], [410, "open"]);
  const forged = { ...third, data: { ...third.data, ack: `${third.data.ack?.slice(0, -1)}_` } };
  assert.equal((await press(forged)).status, 404);
  await box.api("DELETE", "/v1/projects/payments/rules/errors");
  box.tenant.store.write((tx) => removeAccount(tx, null, ann.accountId));
  for (const page of [first, third, fourth]) {
    const told = await press(page);
    assert.deepEqual(
      [told.status, told.body.state],
      [404, null],
      "who was removed is told nothing",
    );
  }
  assert.equal(
    (await timeline(three)).some(({ kind }) => kind === "acknowledged"),
    false,
  );
});

test("what a push service answers: taken, too many, too large, gone; nothing is pushed to who gave it up", async (t) => {
  const { box, ann, receiver, service, subscribe, subscriptions, rule, fire, step, see } =
    await pushStory(t);
  const phone = await subscribe(ann, "pixel");
  await rule([step(ann)]);
  receiver.once(answer(429, "canary", { "retry-after": "20" }));
  await fire(1);
  assert.equal(phone.pushed().length, 0);
  await pass(box, 21);
  assert.equal(phone.pushed().length, 1, "tried again when the service said");
  await pass(box, 6);
  receiver.once(answer(413));
  await fire(2);
  assert.equal((await subscriptions(ann))[0].last_error, "http 413");
  const calls = () => receiver.received.length;
  for (const status of [404, 410]) {
    const again = await subscribe(ann, "pixel");
    await pass(box, 6);
    receiver.once(answer(status));
    const before = calls();
    await fire(status);
    assert.equal(calls(), before + 1);
    const [left, ...others] = await subscriptions(ann);
    assert.deepEqual(
      [left.id, left.state, left.last_error, others.length],
      [again.id, "off", `http ${status}`, 0],
      "a browser that subscribes anew takes the place of what it gave up",
    );
    await fire(status + 1000);
    assert.equal(calls(), before + 1, "nothing more goes there");
  }
  assert.deepEqual(service.faults, []);
  assert.equal(
    (await see(phone.shown().data.receipt)).status,
    204,
    "a late receipt of what is gone changes nothing",
  );
  assert.equal((await see("r")).status, 404);
  const last = await subscribe(ann, "tablet");
  await fire(7);
  const { receipt } = last.shown().data;
  const until = (await subscriptions(ann)).find(({ id }: { id: string }) => id === last.id);
  assert.equal(until.shown_at, null);
  await box.restart(() => box.clock.turn(86_400_000));
  assert.equal((await see(receipt)).status, 404, "its day is over");
});

test("a device may show a page before its service has answered, or answered well: it isn't pushed again", async (t) => {
  const { box, ann, receiver, subscribe, rule, fire, see, step, timeline } = await pushStory(t);
  const phone = await subscribe(ann, "pixel");
  await rule([step(ann)]);
  let latest = {} as ReturnType<typeof phone.shown>;
  const shownFirst =
    (status: number): Behaviour =>
    async (response, _socket, { bytes = Buffer.alloc(0) }) => {
      latest = JSON.parse(phone.open(bytes)).notification;
      assert.equal((await see(latest.data.receipt)).status, 204);
      response.writeHead(status).end();
    };
  receiver.once(shownFirst(201));
  const one = await fire(1);
  await pass(box, 6);
  receiver.once(shownFirst(503));
  const two = await fire(2);
  await pass(box, 120, 10);
  assert.equal(receiver.received.length, 2);
  const shown = async (id: string) =>
    (await timeline(id)).filter(({ kind }) => kind === "shown").length;
  assert.deepEqual([await shown(one), await shown(two)], [1, 1]);
  await fire(3);
  const together = [await fire(4), await fire(5)];
  receiver.once(shownFirst(201));
  await pass(box, 6);
  assert.deepEqual(
    [latest.tag, latest.data.ack, latest.navigate],
    ["alerts", null, "https://box.test/alerts"],
  );
  for (const id of together) assert.equal(await shown(id), 1, "all that one message named");
});

test("a browser that is renewed goes on where it was: what waits rings it, its rules and wishes stay, and nobody else is paged for that", async (t) => {
  const story = await pushStory(t);
  const { box, ann, bob, receiver, subscribe, subscriptions, fire, step, timeline } = story;
  const wishes = {
    lock_screen: "place",
    timezone: "Europe/Berlin",
    wants: ["pages", "all:payments"],
  };
  const one = await subscribe(ann, "pixel", wishes);
  const bobs = await subscribe(bob, "bobs");
  const notify = "/v1/accounts/me/notify";
  const rule = (id: string) => ({ min_level: 500, after_seconds: 0, contacts: [id] });
  await box.api("PUT", notify, { rules: [rule(one.id)] }, ann.key);
  await story.rule([step(ann), step(bob, 15)]);
  const shown = await fire(1);
  await pass(box, 6);
  receiver.once(answer(503));
  const waits = await fire(2);
  assert.equal(one.pushed().length, 1);

  const two = await subscribe(ann, "renewed", { replaces: one.id });
  await settle(box);
  assert.equal(two.shown().data.alert, waits, "it rings where the browser is now");
  assert.equal(bobs.pushed().length, 0, "nobody is paged sooner for it");
  const kinds = (await timeline(waits)).map(({ kind }) => kind);
  assert.deepEqual(
    kinds.filter((kind) => ["page_failed", "unreachable"].includes(kind)),
    [],
  );
  const [left, ...others] = await subscriptions(ann);
  assert.deepEqual(
    [others, left.lock_screen, left.timezone, left.wants],
    [[], "place", "Europe/Berlin", wishes.wants],
  );
  assert.deepEqual((await box.api("GET", notify, undefined, ann.key)).body.rules, [rule(two.id)]);
  await box.api("POST", `/v1/alerts/${shown}/ack`);
  await pass(box, 6);
  assert.deepEqual(
    [two.shown().tag, two.shown().data.kind],
    [`alert-${shown}`, "note"],
    "what it shows of before is told how it went on",
  );

  const later = { ...rule(two.id), after_seconds: 120 };
  await box.api("PUT", notify, { rules: [later] }, ann.key);
  const resting = await fire(3);
  const four = await subscribe(ann, "fourth", { replaces: two.id });
  await pass(box, 100, 10);
  assert.equal(four.pushed().length, 0, "what isn't due yet waits as it did");
  await pass(box, 30, 10);
  assert.equal(four.shown().data.alert, resting);

  await box.api("PATCH", `/v1/accounts/me/contacts/${four.id}`, { state: "off" }, ann.key);
  await subscribe(ann, "third", { replaces: four.id });
  assert.equal((await subscriptions(ann))[0].state, "off", "what was switched off stays so");
});

test("a browser whose page waits becomes the fallback's, who is paged by it", async (t) => {
  const { box, ann, bob, receiver, subscribe, rule, fire, step } = await pushStory(t);
  await subscribe(ann, "shared");
  await box.api("PUT", "/v1/fallback", { accounts: [bob.accountId], schedules: [] });
  await rule([step(ann)]);
  receiver.once(answer(503));
  const id = await fire(1);
  const bobs = await subscribe(bob, "shared");
  await pass(box, 60, 10);
  assert.equal(bobs.shown().data.alert, id);
});

test("a service that wants rest for long is no hope: the ladder goes on at once, and the page is made when the service said", async (t) => {
  const { box, ann, bob, receiver, subscribe, rule, fire, step, timeline } = await pushStory(t);
  const [anns, bobs] = [await subscribe(ann, "anns"), await subscribe(bob, "bobs")];
  await rule([step(ann), step(bob, 15)]);
  receiver.once(answer(429, "canary", { "retry-after": "300" }));
  await fire(1);
  await pass(box, 300, 10);
  assert.deepEqual(
    [anns.pushed().length, bobs.pushed().length],
    [1, 0],
    "five minutes are waited for",
  );
  await box.api("POST", "/v1/alerts/1/resolve");
  await pass(box, 10);
  receiver.once(answer(429, "canary", { "retry-after": "1800" }));
  const id = await fire(2);
  await settle(box);
  assert.equal(bobs.shown().data.alert, id);
  assert.ok((await timeline(id)).some(({ kind }) => kind === "unreachable"));
  const before = anns.pushed().length;
  await pass(box, 1790, 30);
  assert.equal(anns.pushed().length, before);
  await pass(box, 15);
  assert.equal(anns.shown().data.alert, id);
});

test("who wants every alert of a project is pushed those without a ladder, and told what became of them", async (t) => {
  const { box, ann, bob, subscribe, subscriptions, rule, fire } = await pushStory(t);
  const phone = await subscribe(ann, "pixel", { wants: ["all:payments"] });
  const other = await subscribe(bob, "bobs");
  await rule([]);
  const id = await fire(1);
  const page = phone.shown();
  assert.deepEqual([page.data.kind, page.data.alert, page.data.step], ["page", id, 0]);
  assert.match(page.body, /^1 × since \d\d:\d\d UTC$/);
  await box.api("POST", `/v1/alerts/${id}/resolve`);
  await pass(box, 6);
  assert.deepEqual(
    [phone.shown().title, phone.shown().silent, phone.shown().tag],
    ["Resolved: payments: no payment goes through", true, `alert-${id}`],
  );
  assert.equal(other.pushed().length, 0);
  await box.api("POST", "/v1/projects/payments/rename", { name: "money" });
  assert.deepEqual((await subscriptions(ann))[0].wants, ["all:money"]);
});

test("a subscription is checked, belongs to one person, and is named; a test proves it", async (t) => {
  const { box, ann, bob, receiver, subscribe, subscriptions, see, key } = await pushStory(t);
  const path = "/v1/push/subscriptions";
  const good = browser().subscription(`${receiver.url}/push/canary-x`);
  const refused = async (body: object) => {
    const { status, body: said } = await box.api("POST", path, body, ann.key);
    return [status, said.error.code, said.error.details?.[0]?.field];
  };
  const off = `B${"A".repeat(86)}`;
  assert.deepEqual(await refused({ ...good, keys: { ...good.keys, p256dh: off } }), [
    422,
    "invalid_subscription",
    "/keys/p256dh",
  ]);
  assert.deepEqual(await refused({ ...good, keys: { ...good.keys, auth: "short" } }), [
    422,
    "invalid_subscription",
    "/keys/auth",
  ]);
  assert.deepEqual(await refused({ ...good, server_key: off }), [
    422,
    "invalid_subscription",
    "/server_key",
  ]);
  assert.deepEqual(await refused({ ...good, wants: ["all:nowhere"] }), [
    422,
    "invalid_subscription",
    "/wants/0",
  ]);
  assert.deepEqual((await refused({ ...good, endpoint: "http://169.254.169.254/x" })).slice(0, 2), [
    403,
    "address_refused",
  ]);
  assert.deepEqual((await refused({ ...good, wants: ["everything"] })).slice(0, 2), [
    400,
    "invalid_request",
  ]);
  const phone = await subscribe(ann, "pixel", { server_key: key() });
  const [mine] = await subscriptions(ann);
  assert.deepEqual(
    [mine.label, mine.wants, mine.lock_screen, mine.state, mine.renew, mine.shown_at],
    ["pixel", ["pages", "shift"], "all", "verified", false, null],
  );
  const contacts = (await box.api("GET", "/v1/accounts/me/contacts", undefined, ann.key)).body;
  assert.deepEqual(
    contacts.contacts.map(({ id, label }: Record<string, string>) => [id, label]),
    [[phone.id, "pixel"]],
  );
  const change = {
    label: "Pixel 8",
    wants: ["pages"],
    lock_screen: "place",
    timezone: "Asia/Tokyo",
  };
  const changed = await box.api("PATCH", `${path}/${phone.id}`, change, ann.key);
  assert.deepEqual(
    Object.keys(change).map((name) => changed.body[name]),
    Object.values(change),
  );
  assert.deepEqual((await box.api("POST", `${path}/${phone.id}/test`, undefined, ann.key)).body, {
    ok: true,
  });
  assert.deepEqual([phone.shown().tag, phone.shown().data.kind], ["test", "test"]);
  await pass(box, 3);
  assert.equal((await see(phone.shown().data.receipt)).status, 204);
  assert.equal((await subscriptions(ann))[0].shown_after, 3);
  for (const [method, to] of [
    ["PATCH", ""],
    ["DELETE", ""],
    ["POST", "/test"],
  ] as const) {
    const theirs = await box.api(
      method,
      `${path}/${phone.id}${to}`,
      method === "PATCH" ? {} : undefined,
      bob.key,
    );
    assert.equal(theirs.status, 404, method);
  }
  await subscribe(bob, "pixel");
  assert.deepEqual(await subscriptions(ann), [], "the browser is somebody else's now");
  for (let n = 1; n < MOST_CONTACTS; n++) await subscribe(bob, `phone-${n}`);
  assert.deepEqual((await box.api("POST", path, good, bob.key)).body.error.code, "too_many");
  const secrets = ["push/canary-", Buffer.from("canary-auth-").toString("base64url")];
  const told = [...(await subscriptions(bob)), ...contacts.contacts].map((one) =>
    JSON.stringify(one),
  );
  const files = readdirSync(box.data).filter((file) => file.startsWith("box.db"));
  const kept = files.map((file) => readFileSync(join(box.data, file), "latin1"));
  for (const text of [...told, ...kept])
    for (const secret of secrets) assert.equal(text.includes(secret), false, secret);
  const { entries } = (await box.api("GET", `/v1/audit?account=${ann.accountId}`)).body;
  assert.deepEqual(
    entries.map(({ verb }: { verb: string }) => verb),
    ["testPushSubscription", "changePushSubscription", "createPushSubscription"],
  );
});

test("a lost key file: another pair, and each browser is asked to subscribe anew until it has", async (t) => {
  const { box, ann, subscribe, subscriptions, newKey, key, rule, fire, step } = await pushStory(t);
  await subscribe(ann, "pixel");
  await subscribe(ann, "tablet");
  const old = key();
  await box.restart(() => renameSync(join(box.data, "box.key"), join(box.data, "lost")));
  assert.notEqual(await newKey(), old);
  const renew = async () =>
    (await subscriptions(ann))
      .map((one: Record<string, unknown>) => [one["label"], one["renew"]])
      .toSorted();
  assert.deepEqual(await renew(), [
    ["pixel", true],
    ["tablet", true],
  ]);
  const phone = await subscribe(ann, "pixel");
  assert.deepEqual(await renew(), [
    ["pixel", false],
    ["tablet", true],
  ]);
  const where = { data: box.data, clock: box.clock, random: systemRandom };
  const asked = async () => (await examine(where)).find(({ check }) => check === "push")?.detail;
  assert.match((await asked()) ?? "", /^1 browser must subscribe again.*ann@example\.org: tablet$/);
  await rule([step(ann)]);
  await fire(1);
  assert.equal(phone.pushed().length, 1);
  await subscribe(ann, "tablet");
  assert.equal(await asked(), undefined);
});
