import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { boxAndReceiver, reachBy, toldIn } from "../support/contacts.ts";
import { pass, settle } from "../support/until.ts";

/** Quiet on purpose, over the interface: what is kept from whom, and when it is told. */

async function story(t: TestContext) {
  const { box, receiver } = await boxAndReceiver(t);
  const token = await box.project("shop");
  const ann = box.person("member", "ann@example.org");
  const hook = { type: "webhook", name: "hook", url: `${receiver.url}/hook` };
  assert.equal((await box.api("POST", "/v1/projects/shop/integrations", hook)).status, 201);
  const now = () => Math.floor(box.clock.now() / 1000);
  const rule = (more: object = {}) =>
    box.api("POST", "/v1/projects/shop/rules", {
      name: "errors",
      identifier_keys: ["n"],
      escalations: [{ accounts: [ann.accountId], after_minutes: 0 }],
      ...more,
    });
  const silence = (more: object = {}) =>
    box.api(
      "POST",
      "/v1/silences",
      { project: "shop", match: { rule: "errors" }, ends_at: now() + 1800, reason: "why", ...more },
      ann.key,
    );
  const fire = async (n: string, level = 400) => {
    assert.equal(
      (await box.ingest(token, { message: "it is down", level, keys: { n } })).status,
      202,
    );
    await settle(box);
    return String(box.tenant.store.sql("SELECT max(id) FROM alerts").pluck().get());
  };
  let seen = 0;
  const told = () => {
    const fresh = receiver.received.slice(seen);
    seen = receiver.received.length;
    return fresh.map(({ path, body }) =>
      path === "/hook"
        ? `hook ${JSON.parse(body).event.slice(6)}`
        : `${path} ${toldIn({ body } as never).purpose}`,
    );
  };
  const alert = async (id: string) => (await box.api("GET", `/v1/alerts/${id}`)).body;
  return { box, receiver, ann, now, rule, silence, fire, told, alert };
}

test("channels and contacts hear nothing of a silenced alert, then all of it at the end", async (t) => {
  const { box, receiver, ann, rule, silence, fire, told, alert, now } = await story(t);
  await reachBy(box, ann, receiver, "/ann");
  told();
  await rule();
  const made = await silence();
  assert.equal(made.status, 201, JSON.stringify(made.body));
  assert.deepEqual(
    [made.body.state, made.body.until, made.body.created_by],
    ["active", now() + 1800, ann.accountId],
  );
  const id = await fire("1");
  assert.equal((await alert(id)).silenced_by, made.body.id);
  assert.equal((await box.api("GET", `/v1/silences/${made.body.id}`)).body.holds, 1);
  await pass(box, 1795, 60);
  assert.deepEqual(told(), []);
  await pass(box, 10, 1);
  assert.deepEqual(told().toSorted(), ["/ann page", "hook escalated", "hook opened"]);
  assert.equal((await alert(id)).silenced_by, null);
});

test("a page that is due later is withdrawn by a silence and told at its end", async (t) => {
  const { box, receiver, ann, rule, silence, fire, told } = await story(t);
  const contact = await reachBy(box, ann, receiver, "/ann");
  const rules = [{ after_seconds: 300, contacts: [contact] }];
  assert.equal((await box.api("PUT", "/v1/accounts/me/notify", { rules }, ann.key)).status, 200);
  told();
  await rule();
  const id = await fire("1");
  assert.deepEqual(told(), ["hook opened", "hook escalated"]);
  await silence();
  await pass(box, 1500, 60);
  assert.deepEqual(told(), []);
  const { timeline } = (await box.api("GET", `/v1/alerts/${id}/timeline`)).body;
  assert.deepEqual([timeline.at(-1).kind, timeline.at(-1).detail.held], ["silenced", "page"]);
  await pass(box, 330, 10);
  assert.deepEqual(told(), ["hook renotified"]);
  await pass(box, 310, 10);
  assert.deepEqual(told(), ["/ann page"]);
});

test("whose page of an earlier step was withdrawn by a silence is told at its end, too", async (t) => {
  const { box, receiver, ann, rule, silence, fire, told, alert } = await story(t);
  const bob = box.person("member", "bob@example.org");
  const contact = await reachBy(box, ann, receiver, "/ann");
  await reachBy(box, bob, receiver, "/bob");
  const rules = [{ after_seconds: 600, contacts: [contact] }];
  assert.equal((await box.api("PUT", "/v1/accounts/me/notify", { rules }, ann.key)).status, 200);
  told();
  const escalations = [ann, bob].map(({ accountId }, i) => ({
    accounts: [accountId],
    after_minutes: 5 * i,
  }));
  await rule({ escalations });
  const id = await fire("1");
  await pass(box, 330, 10);
  assert.deepEqual(told(), ["hook opened", "hook escalated", "hook escalated", "/bob page"]);
  await silence();
  await pass(box, 1830, 30);
  assert.deepEqual(told(), ["hook renotified", "/bob page"]);
  assert.deepEqual((await alert(id)).page_accounts, [bob.accountId, ann.accountId]);
  await pass(box, 610, 10);
  assert.deepEqual(told(), ["/ann page"]);
});

test("who is paged where nobody else is reached hears nothing while it is quiet, and then all the same", async (t) => {
  const { box, receiver, ann, rule, silence, fire, told, alert } = await story(t);
  const contact = await reachBy(box, ann, receiver, "/ann");
  await reachBy(box, box.owner, receiver, "/owner");
  const rules = [{ after_seconds: 600, contacts: [contact] }];
  assert.equal((await box.api("PUT", "/v1/accounts/me/notify", { rules }, ann.key)).status, 200);
  told();
  await rule();
  const id = await fire("1");
  assert.deepEqual(told(), ["hook opened", "hook escalated"]);
  await silence();
  await box.api("DELETE", `/v1/accounts/me/contacts/${contact}`, undefined, ann.key);
  await pass(box, 1740, 30);
  assert.deepEqual(told(), []);
  assert.deepEqual((await alert(id)).page_accounts, [box.owner.accountId]);
  await pass(box, 90, 10);
  assert.deepEqual(told(), ["hook renotified", "/owner page"]);
});

test("what can't be silenced is refused, each by its field", async (t) => {
  const { now, rule, silence } = await story(t);
  await rule();
  const fault = async (more: object) => {
    const { status, body } = await silence(more);
    return [status, body.error?.code, body.error?.details?.[0]?.field];
  };
  const refused = (field: string) => [422, "invalid_silence", field];
  assert.deepEqual(await fault({ match: {} }), refused("/all"));
  assert.deepEqual(await fault({ all: true }), refused("/all"));
  assert.deepEqual(await fault({ ends_at: now() - 1, starts_at: now() - 9 }), refused("/ends_at"));
  assert.deepEqual(await fault({ ends_at: now() + 31 * 86_400 }), refused("/ends_at"));
  assert.deepEqual(await fault({ repeat_until: now() + 9000 }), refused("/repeat_until"));
  const daily = { repeat: "daily", repeat_until: now() + 30 * 86_400 };
  assert.deepEqual(await fault({ ...daily, ends_at: now() + 86_400 }), refused("/ends_at"));
  assert.deepEqual(
    await fault({ ...daily, repeat_until: now() + 400 * 86_400 }),
    refused("/repeat_until"),
  );
  assert.deepEqual(await fault({ ...daily, timezone: "Mars/Base" }), [
    422,
    "invalid_timezone",
    "/timezone",
  ]);
  assert.equal((await fault({ project: "gone" }))[0], 404);
  assert.equal((await fault({ reason: "" }))[0], 400);
  assert.deepEqual(await fault(daily), [201, undefined, undefined]);
});

test("rules that would silence themselves are refused", async (t) => {
  const { rule } = await story(t);
  const by = (name: string, above: string, equal: string[] = []) =>
    rule({ name, silenced_by: [{ rule: above, equal }] });
  assert.equal((await by("a", "b", ["n"])).status, 201);
  assert.equal((await by("b", "c")).status, 201);
  const circle = await by("c", "a");
  assert.deepEqual([circle.status, circle.body.error.code], [422, "invalid_silence"]);
  assert.deepEqual(circle.body.error.details[0].field, "/silenced_by/0/rule");
  assert.equal((await by("d", "d")).status, 422);
});

test("a preview says what a silence then does", async (t) => {
  const { box, ann, rule, silence, fire, told, now } = await story(t);
  await rule({ escalations: [{ accounts: [ann.accountId], repeat_minutes: 10 }] });
  const first = await fire("1");
  await fire("1", 300);
  await fire("2", 600);
  await pass(box, 1260, 60);
  told();
  const body = { project: "shop", match: { rule: "errors" }, ends_at: now() + 1800, reason: "w" };
  const { status, body: preview } = await box.api("POST", "/v1/silences/preview", body);
  assert.equal(status, 200, JSON.stringify(preview));
  const named = [{ id: first, title: "it is down" }];
  assert.deepEqual(preview.past, { days: 7, alerts: 1, pages: 3, critical: 1, named });
  assert.equal(preview.alerts.length, 1);
  assert.deepEqual(preview.named, named);
  assert.equal(preview.complete, true);
  assert.deepEqual((await box.api("GET", "/v1/silences")).body.silences, []);
  const made = await silence();
  await pass(box, 700, 60);
  assert.deepEqual(told(), ["hook escalated"], "the critical one rings on");
  const { silences } = (await box.api("GET", "/v1/silences?state=active")).body;
  assert.deepEqual([silences.length, silences[0].holds], [1, preview.alerts.length]);
  const gone = await box.api("DELETE", `/v1/silences/${made.body.id}`);
  assert.deepEqual(gone.body, { deleted: true });
  await pass(box, 5, 1);
  assert.deepEqual(told(), ["hook escalated"]);
  assert.equal((await box.api("GET", `/v1/silences/${made.body.id}`)).body.state, "over");
});

test("an alert is snoozed for 7 days at most, and never once it is resolved", async (t) => {
  const { box, now, rule, fire, told, alert } = await story(t);
  await rule();
  const id = await fire("1");
  told();
  const snooze = (until: number) => box.api("POST", `/v1/alerts/${id}/snooze`, { until });
  assert.equal((await snooze(now())).status, 400);
  assert.equal((await snooze(now() + 8 * 86_400)).status, 400);
  const done = await snooze(now() + 600);
  assert.deepEqual([done.status, done.body.state], [200, "acknowledged"]);
  assert.equal((await alert(id)).acknowledged_until, now() + 600);
  await pass(box, 605, 30);
  assert.deepEqual(told(), ["hook acknowledged", "hook renotified", "hook escalated"]);
  await box.api("POST", `/v1/alerts/${id}/resolve`);
  const late = await snooze(now() + 600);
  assert.deepEqual([late.status, late.body.error.code], [409, "alert_resolved"]);
});

test("a fold from another source, or of a higher level, rings through a silence that doesn't cover it", async (t) => {
  const { box, silence, rule, fire, told, now } = await story(t);
  const made = await box.api("POST", "/v1/projects/shop/sources", { name: "second" });
  await rule();
  await silence({ match: { sources: ["app"] } });
  await fire("1");
  await pass(box, 60, 10);
  assert.deepEqual(told(), []);
  await box.ingest(made.body.token, { message: "it is down", level: 400, keys: { n: "1" } });
  await pass(box, 5, 1);
  assert.deepEqual(told(), ["hook opened", "hook escalated"]);
  await silence({ ends_at: now() + 600 });
  await fire("2");
  await fire("2", 500);
  await pass(box, 5, 1);
  assert.deepEqual(told(), ["hook opened", "hook escalated"]);
});

test("a silence of a source goes on taking its alerts once that is called otherwise", async (t) => {
  const { box, silence, rule, fire, told } = await story(t);
  await rule();
  await silence({ match: { sources: ["app"] } });
  await fire("1");
  await fire("1");
  const made = await box.api("POST", "/v1/projects/shop/sources/app/rename", { name: "web" });
  assert.equal(made.status, 200);
  await fire("1");
  await pass(box, 60, 10);
  assert.deepEqual(told(), []);
});

test("a silence by a name that an object would lose is refused and not made wider; an alert's own silence keeps it", async (t) => {
  const { box, ann, rule, silence, now } = await story(t);
  await rule({ identifier_keys: ["__proto__"] });
  const odd = (value: string): object => JSON.parse(`{"__proto__":"${value}"}`);
  const match = { rule: "errors", identifiers: odd("x") };
  const refused = [
    await silence({ match }),
    await box.api("POST", "/v1/silences/preview", {
      match,
      ends_at: now() + 60,
      reason: "why",
    }),
    await box.api("POST", "/v1/projects/shop/rules/simulate", {
      rule: "errors",
      identifiers: odd("x"),
    }),
  ];
  assert.deepEqual(
    refused.map(({ status, body }) => [status, body.error.details?.[0]?.reason]),
    Array(3).fill([400, "can't have that name"]),
  );
  assert.equal(refused[0]?.body.error.details[0].field, "/match/identifiers/__proto__");
  const source = await box.api("POST", "/v1/projects/shop/sources", { name: "odd" });
  const fire = async (value: string) => {
    const event = { message: "it is down", level: 400, keys: odd(value) };
    const { body } = await box.ingest(source.body.token, event);
    assert.equal(body.alerted, true);
    await settle(box);
    return box.tenant.store
      .sql<[], { id: number; identifiers: string; silenced_by: string | null }>(
        "SELECT id, identifiers, silenced_by FROM alerts ORDER BY id DESC LIMIT 1",
      )
      .get();
  };
  const first = await fire("x");
  assert.equal(first?.identifiers, '{"__proto__":"x"}');
  const act = { verb: "silence", ids: [String(first?.id)], until: now() + 1800, reason: "why" };
  const own = await box.api("POST", "/v1/alerts/bulk", act, ann.key);
  assert.ok(own.status < 300, JSON.stringify(own.body));
  const [made] = (await box.api("GET", "/v1/silences")).body.silences;
  assert.equal(JSON.stringify(made.match.identifiers), '{"__proto__":"x"}');
  assert.equal((await fire("y"))?.silenced_by, null, "another value rings");
});

test("no silence that names what every object has keeps an alert from opening", async (t) => {
  const { rule, silence, fire, alert } = await story(t);
  await rule();
  for (const key of ["constructor", "__proto__"])
    for (const [op, value] of [
      ["matches", ".*"],
      ["eq", "x"],
      ["gte", 0],
    ])
      assert.equal((await silence({ match: {}, conditions: [{ key, op, value }] })).status, 201);
  assert.equal((await alert(await fire("1"))).silenced_by, null);
});
