import assert from "node:assert/strict";
import test, { type TestContext } from "node:test";
import { type TestApp, testApp } from "../../support/app.ts";
import { type Person, testBox } from "../../support/box.ts";

const HOUR = 3600;

/** A box where Ann stands in a ladder, a rotation, overrides and the fallback, and Bob beside her. */
async function staffed(t: TestContext) {
  const app = testApp(t);
  const [owner, ann, bob] = [
    app.person("owner"),
    app.person("member", "ann@example.org"),
    app.person("member", "bob@example.org"),
  ] as [Person, Person, Person];
  const call = async (method: string, path: string, body?: object) => {
    const answer = await app.call(method, path, { key: owner.key, ...(body && { body }) });
    assert.ok(answer.status < 300, `${path}: ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  const now = app.clock.now() / 1000;
  const [a, b] = [ann.accountId, bob.accountId];
  const layer = { name: "l", rotation_start: now - HOUR, shift_minutes: 60 };
  for (const project of ["shop", "till"]) {
    await call("POST", "/v1/projects", { name: project });
    const schedules = `/v1/projects/${project}/oncall/schedules`;
    const layers = [{ ...layer, participants: [b, a, owner.accountId] }];
    await call("POST", schedules, { name: "rota", timezone: "UTC", layers });
    const escalations = [
      { after_minutes: 0, accounts: [a] },
      { after_minutes: 60, accounts: [b, a] },
    ];
    await call("POST", `/v1/projects/${project}/rules`, { name: "errors", escalations });
    await call("POST", `/v1/projects/${project}/rules`, { name: "others", escalations: [] });
  }
  const overrides = "/v1/projects/shop/oncall/schedules/rota/overrides";
  const [past, soon] = [
    await call("POST", overrides, { account_id: a, starts_at: now - 60, ends_at: now }),
    await call("POST", overrides, { account_id: a, starts_at: now + 60, ends_at: now + 120 }),
  ];
  await call("PUT", "/v1/fallback", { accounts: [b, a], schedules: [] });
  const replace = (by: string, caller = owner, whom = a) =>
    app.call("POST", `/v1/accounts/${whom}/replace`, { key: caller.key, body: { by } });
  return { app, owner, a, b, call, past, soon, replace };
}

const remove = async (app: TestApp, owner: Person, id: string) =>
  (await app.call("DELETE", `/v1/accounts/${id}`, { key: owner.key })).status;

test("who is replaced is named nowhere any more, and can be removed", async (t) => {
  const { app, owner, a, b, call, past, soon, replace } = await staffed(t);
  assert.equal(await remove(app, owner, a), 409);
  const { status, body } = await replace(b);
  assert.deepEqual(
    [status, body.changed],
    [
      200,
      [
        ...["shop/errors", "till/errors"].map((name) => ({ kind: "rule", name })),
        ...["shop/rota", "till/rota"].map((name) => ({ kind: "schedule", name })),
        { kind: "override", name: `shop/rota/${soon.id}` },
        { kind: "fallback", name: "" },
      ],
    ],
  );
  const rule = await call("GET", "/v1/projects/till/rules/errors");
  assert.deepEqual(
    rule.escalations.map(({ accounts }: { accounts: string[] }) => accounts),
    [[b], [b]],
  );
  const rota = await call("GET", "/v1/projects/shop/oncall/schedules/rota");
  assert.deepEqual(rota.layers[0].participants, [b, b, owner.accountId]);
  const { overrides } = await call("GET", "/v1/projects/shop/oncall/schedules/rota/overrides");
  const whose = new Map(
    overrides.map((one: { id: string; account_id: string }) => [one.id, one.account_id]),
  );
  assert.deepEqual([whose.get(past.id), whose.get(soon.id)], [a, b]);
  assert.deepEqual((await call("GET", "/v1/fallback")).accounts, [b]);
  assert.deepEqual((await replace(b)).body.changed, []);
  assert.equal(await remove(app, owner, a), 200);
});

test("readers of the configuration see another version, and the audit each place", async (t) => {
  const { owner, b, call, replace } = await staffed(t);
  const versions = async () =>
    (await call("GET", "/v1/projects")).projects.map(({ version }: { version: number }) => version);
  const before = await versions();
  await replace(b);
  for (const [i, version] of (await versions()).entries()) assert.ok(version > before[i]);
  const { entries } = await call("GET", "/v1/audit?limit=50");
  const kinds = entries
    .filter(({ verb, account_id }: { verb: string; account_id: string }) => {
      return verb === "replaceAccount" && account_id === owner.accountId;
    })
    .map(({ target }: { target: { kind: string } }) => target.kind);
  assert.deepEqual(kinds.toSorted(), [
    "fallback",
    "override",
    "rule",
    "rule",
    "schedule",
    "schedule",
  ]);
});

test("an open alert whose step paged who left pages who stands there now; what windows counted stays", async (t) => {
  const box = await testBox();
  t.after(() => box.stop());
  const [a, b] = [box.person("member").accountId, box.person("member").accountId];
  const token = await box.project("shop");
  const escalations = [
    { after_minutes: 0, accounts: [a] },
    { after_minutes: 60, accounts: [box.owner.accountId] },
  ];
  const rules = "/v1/projects/shop/rules";
  await box.api("POST", rules, { name: "at once", escalations });
  const thrice = { fire_after: { count: 3, window_minutes: 10 } };
  assert.equal(
    (await box.api("POST", rules, { name: "thrice", ...thrice, escalations })).status,
    201,
  );
  const send = () => box.ingest(token, { message: "the till is stuck" });
  const paged = async (rule: string) => {
    const { body } = await box.api(
      "GET",
      `/v1/alerts?project=shop&rule=${encodeURIComponent(rule)}`,
    );
    return body.alerts.map((alert: { page_accounts: string[] }) => alert.page_accounts);
  };
  await send();
  await send();
  await box.clock.turn(1000);
  assert.deepEqual([await paged("at once"), await paged("thrice")], [[[a]], []]);
  const { status } = await box.api("POST", `/v1/accounts/${a}/replace`, { by: b });
  assert.equal(status, 200);
  await box.clock.turn(1000);
  assert.deepEqual(await paged("at once"), [[b]]);
  await send();
  await box.clock.turn(1000);
  assert.deepEqual(await paged("thrice"), [[b]]);
});

test("one who is no member takes nobody's place, and nothing is changed; members replace nobody", async (t) => {
  const { app, a, b, replace, owner } = await staffed(t);
  const writes = () => app.tenant.store.sql("SELECT total_changes()").pluck().get();
  const member = app.person("member", "m@example.org");
  const from = writes();
  const stranger = await replace("0123456789abcdef");
  assert.deepEqual([stranger.status, stranger.body.error.code], [422, "not_a_member"]);
  assert.equal((await replace(b, owner, "0123456789abcdef")).status, 404);
  assert.equal((await replace(b, member)).status, 403);
  assert.deepEqual((await replace(a)).body.changed, []);
  const seen = app.tenant.store.sql("SELECT count(*) FROM audit WHERE verb = 'replaceAccount'");
  assert.equal(seen.pluck().get(), 0);
  assert.ok(Number(writes()) - Number(from) <= 2, "when keys were used, at most");
});
