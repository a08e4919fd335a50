import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type Person, type TestBox, testBox } from "../../support/box.ts";

/** People are named by `email:` wherever their ids are asked for, and answers give both. */

let box: TestBox;
let ann: Person;
const ANN = "email:ANN@example.org";
const shown = () => [{ account_id: ann.accountId, email: "ann@example.org" }];
before(async () => {
  box = await testBox();
  await box.project("p");
  ann = box.person("member", "ann@example.org");
});
after(() => box.stop());

const ladder = (who: string) => [{ accounts: [who] }];
const layers = (who: string) => [
  { name: "l", participants: [who], rotation_start: 0, shift_minutes: 60 },
];
const schedules = "/v1/projects/p/oncall/schedules";

test("rules and schedules, made and replaced; what is read is put back as it is", async () => {
  const rule = { name: "r", escalations: ladder(ANN) };
  const schedule = { name: "s", timezone: "UTC", layers: layers(ANN) };
  const cases = [
    { at: "/v1/projects/p/rules", one: "/v1/projects/p/rules/r", body: rule },
    { at: schedules, one: `${schedules}/s`, body: schedule },
  ];
  for (const { at, one, body } of cases) {
    const made = await box.api("POST", at, body);
    assert.equal(made.status, 201, JSON.stringify(made.body));
    assert.deepEqual(made.body.people, shown());
    assert.ok(!JSON.stringify(made.body).includes("email:"), "ids are what is kept");
    const put = await box.api("PUT", one, { ...body, name: body.name });
    assert.deepEqual([put.status, put.body.people], [200, shown()]);
    const again = await box.api("PUT", one, (await box.api("GET", one)).body);
    assert.deepEqual([again.status, again.body], [200, put.body]);
    const list = (await box.api("GET", at)).body;
    const [first] = list.rules ?? list.schedules;
    assert.deepEqual(first, put.body);
  }
});

test("overrides, the fallback, a try, addresses and the audit", async () => {
  const ends_at = Math.floor(box.clock.now() / 1000) + 60;
  const overrides = `${schedules}/s/overrides`;
  assert.equal((await box.api("POST", overrides, { account_id: ANN, ends_at })).status, 201);
  const [override] = (await box.api("GET", overrides)).body.overrides;
  assert.deepEqual([override.account_id, override.email], [ann.accountId, "ann@example.org"]);

  const fallback = { accounts: [ANN], schedules: [] };
  const set = await box.api("PUT", "/v1/fallback", fallback);
  const whole = { accounts: [ann.accountId], schedules: [], people: shown() };
  assert.deepEqual([set.status, set.body], [200, whole]);
  assert.deepEqual((await box.api("PUT", "/v1/fallback", set.body)).body, whole);

  const rule = { name: "t", escalations: ladder(ANN) };
  assert.equal((await box.api("POST", "/v1/projects/p/rules/dry-run", { rule })).status, 200);
  const account = await box.api("GET", `/v1/accounts/${encodeURIComponent(ANN)}`);
  assert.deepEqual([account.status, account.body.id], [200, ann.accountId]);
  const contacts = await box.api("GET", `/v1/accounts/${ANN}/contacts`);
  assert.deepEqual(contacts.body, { contacts: [] });
  const audit = await box.api("GET", "/v1/audit?account=email:owner@example.org&limit=1");
  assert.equal(audit.body.entries[0].account_id, box.owner.accountId);
});

test("an alert is assigned by email", async () => {
  const { token } = (await box.api("POST", "/v1/projects/p/sources", { name: "two" })).body;
  await box.ingest(token, { message: "disk is full", level: 500 });
  const [alert] = (await box.api("GET", "/v1/alerts")).body.alerts;
  const assigned = await box.api("POST", `/v1/alerts/${alert.id}/assign`, { accounts: [ANN] });
  assert.deepEqual([assigned.status, assigned.body.page_accounts], [200, [ann.accountId]]);
});

test("sessions are listed, and somebody is replaced, by email", async () => {
  const sessions = await box.api("GET", `/v1/sessions?account=${ANN}`);
  assert.deepEqual(sessions.body, { sessions: [] });
  const path = `/v1/accounts/${encodeURIComponent(ANN)}/replace`;
  const { status, body } = await box.api("POST", path, { by: "email:OWNER@example.org" });
  assert.equal(status, 200);
  assert.ok(body.changed.length > 0);
  const back = { by: ANN };
  const owners = "/v1/accounts/email:owner@example.org/replace";
  assert.equal((await box.api("POST", owners, back)).status, 200);
});

test("whom nobody is called is a stranger, by the name that was given", async () => {
  const nobody = "email:nobody@example.org";
  const refused = [
    await box.api("POST", "/v1/projects/p/rules", { name: "x", escalations: ladder(nobody) }),
    await box.api("POST", schedules, { name: "x", timezone: "UTC", layers: layers(nobody) }),
    await box.api("PUT", "/v1/fallback", { accounts: [nobody], schedules: [] }),
  ];
  for (const { status, body } of refused)
    assert.deepEqual(
      [status, body.error.code, body.error.details[0].value],
      [422, "not_a_member", nobody],
    );
  assert.equal((await box.api("GET", `/v1/accounts/${nobody}`)).status, 404);
});
