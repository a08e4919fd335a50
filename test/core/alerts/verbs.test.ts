import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, test } from "node:test";
import { type Person, type TestBox, testBox } from "../../support/box.ts";
import fc from "../../support/property.ts";

/** What else people do to an alert: take an acknowledgement back, escalate now, assign, note. */

let box: TestBox;
let token: string;
let [ann, bob, cy]: Person[] = [];
const MINUTE = 60_000;
beforeEach(async () => {
  box = await testBox();
  [ann, bob, cy] = ["ann", "bob", "cy"].map((name) => box.person("member", `${name}@example.org`));
  token = await box.project("shop");
  const step = (after_minutes: number, who: Person | undefined) => ({
    after_minutes,
    accounts: [who?.accountId],
  });
  await box.api("POST", "/v1/projects/shop/rules", {
    name: "any",
    escalations: [step(0, ann), step(15, bob), step(30, cy)],
  });
  await box.ingest(token, { message: "down" });
});
afterEach(() => box.stop());

const alert = async () => (await box.api("GET", "/v1/alerts/1")).body;
const call = (verb: string, body?: object, key?: string) =>
  box.api("POST", `/v1/alerts/1/${verb}`, body, key);
const timeline = async () => (await box.api("GET", "/v1/alerts/1/timeline")).body.timeline;
const events = (kind: string) =>
  box.tenant.store.sql<[string]>("SELECT timestamp FROM events WHERE event = ?").all(kind).length;
const paged = async () => (await alert()).page_accounts;
const code = async (verb: string, body?: object) => {
  const answer = await call(verb, body);
  return [answer.status, answer.body.error?.code];
};

describe("taking an acknowledgement back", () => {
  test("opens the alert again and tells of it; the ladder goes on after the wait that it had left", async () => {
    await box.clock.turn(5 * MINUTE);
    await call("ack");
    await box.clock.turn(60 * MINUTE);
    assert.deepEqual(await paged(), [ann?.accountId]);
    const { status, body } = await call("unack");
    assert.deepEqual([status, body.state, body.escalation_level], [200, "open", 1]);
    assert.equal(events("alert.renotified"), 1);
    const entry = (await timeline()).find(
      ({ kind }: { kind: string }) => kind === "unacknowledged",
    );
    assert.equal(entry.account_id, box.owner.accountId);
    await box.clock.turn(9.9 * MINUTE);
    assert.deepEqual(await paged(), [ann?.accountId]);
    await box.clock.turn(0.1 * MINUTE);
    assert.deepEqual(await paged(), [bob?.accountId]);
    await box.clock.turn(15 * MINUTE);
    assert.deepEqual(await paged(), [cy?.accountId]);
  });

  test("leaves an open one as it is and refuses a resolved one", async () => {
    const before = await alert();
    assert.deepEqual((await call("unack")).body, before);
    await call("resolve");
    assert.deepEqual(await code("unack"), [409, "alert_resolved"]);
    assert.deepEqual(await code("escalate"), [409, "alert_resolved"]);
    assert.deepEqual(await code("assign", { accounts: [bob?.accountId] }), [409, "alert_resolved"]);
  });

  test("however often and whenever it is held, each step runs once, after as long a wait as ever", async () => {
    const holds = fc.array(
      fc.record({ open: fc.integer({ min: 1, max: 20 }), held: fc.integer({ min: 1, max: 90 }) }),
      { minLength: 1, maxLength: 4 },
    );
    await fc.assert(
      fc.asyncProperty(holds, async (steps) => {
        await call("resolve");
        await box.ingest(token, { message: "down" });
        const { alerts } = (await box.api("GET", "/v1/alerts?limit=1")).body;
        const at = `/v1/alerts/${alerts[0].id}`;
        let open = 0;
        const level = async () => (await box.api("GET", at)).body.escalation_level;
        const due = () => (open >= 30 ? 3 : open >= 15 ? 2 : 1);
        for (const step of steps) {
          await box.clock.turn(step.open * MINUTE);
          open += step.open;
          assert.equal(await level(), due(), JSON.stringify(steps));
          await box.api("POST", `${at}/ack`);
          await box.clock.turn(step.held * MINUTE);
          await box.api("POST", `${at}/unack`);
          assert.equal(await level(), due(), JSON.stringify(steps));
        }
        await box.api("POST", `${at}/resolve`);
      }),
      { numRuns: 10 },
    );
  });
});

describe("escalating now", () => {
  test("runs the next step at once, those above at their times, until none is left", async () => {
    await box.clock.turn(MINUTE);
    assert.equal((await call("escalate")).body.escalation_level, 2);
    assert.deepEqual(await paged(), [bob?.accountId]);
    assert.equal(events("alert.escalated"), 2);
    await box.clock.turn(28.9 * MINUTE);
    assert.deepEqual(await paged(), [bob?.accountId]);
    await box.clock.turn(0.1 * MINUTE);
    assert.deepEqual(await paged(), [cy?.accountId]);
    assert.deepEqual(await code("escalate"), [409, "ladder_over"]);
    const asked = (await timeline()).filter(
      ({ kind }: { kind: string }) => kind === "escalated_now",
    );
    assert.deepEqual(
      asked.map(({ account_id }: { account_id: string }) => account_id),
      [box.owner.accountId],
    );
  });

  test("opens an acknowledged one again, and is refused where the rule is gone", async () => {
    await call("ack");
    assert.deepEqual((await call("escalate")).body.state, "open");
    assert.deepEqual(await paged(), [bob?.accountId]);
    await box.api("DELETE", "/v1/projects/shop/rules/any");
    assert.deepEqual(await code("escalate"), [409, "ladder_over"]);
  });
});

describe("assigning", () => {
  test("pages them now, and the ladder stops unless it is kept", async () => {
    const { status, body } = await call("assign", { accounts: [cy?.accountId, cy?.accountId] });
    assert.deepEqual(
      [status, body.page_accounts, body.escalation_level],
      [200, [cy?.accountId], 1],
    );
    assert.equal(events("alert.escalated"), 2);
    await box.clock.turn(60 * MINUTE);
    assert.deepEqual(await paged(), [cy?.accountId]);
    await box.api("POST", "/v1/projects/shop/rules", { name: "else" });
  });

  test("with keep_ladder the ladder goes on; an acknowledged alert is open until one of them takes it", async () => {
    await call("ack");
    const assign = { accounts: [cy?.accountId], keep_ladder: true };
    assert.equal((await call("assign", assign)).body.state, "open");
    await box.clock.turn(15 * MINUTE);
    assert.deepEqual(await paged(), [bob?.accountId]);
  });

  test("to a schedule is to whoever is on call now; who isn't there is refused and nothing is changed", async () => {
    const layer = { name: "l", rotation_start: 1_700_000_000, shift_minutes: 1440 };
    const schedule = (name: string, layers: object[]) =>
      box.api("POST", "/v1/projects/shop/oncall/schedules", { name, timezone: "UTC", layers });
    await schedule("primary", [{ ...layer, participants: [bob?.accountId] }]);
    await schedule("empty", []);
    assert.deepEqual((await call("assign", { schedules: ["primary"] })).body.page_accounts, [
      bob?.accountId,
    ]);
    const before = await alert();
    assert.deepEqual(await code("assign", { schedules: ["empty"] }), [422, "nobody_on_call"]);
    assert.deepEqual(await code("assign", { schedules: ["none"] }), [422, "unknown_schedule"]);
    assert.deepEqual(await code("assign", { accounts: ["0123"] }), [422, "not_a_member"]);
    assert.deepEqual(await code("assign", {}), [400, "invalid_request"]);
    assert.deepEqual(await alert(), before);
  });
});

test("a note is its author's for five minutes; its words are kept as they are", async () => {
  const words = "<script>alert(1)</script> **provider** confirms";
  const { status, body } = await call("notes", { text: words }, ann?.key);
  assert.equal(status, 201);
  const at = `/v1/alerts/1/notes/${body.id}`;
  const noted = async () =>
    (await timeline()).find(({ kind }: { kind: string }) => kind === "noted");
  assert.deepEqual((await noted()).detail, { note: body.id, text: words });
  assert.equal((await box.api("PUT", at, { text: "x" }, bob?.key)).status, 403);
  assert.equal((await box.api("PUT", at, { text: "better" }, ann?.key)).status, 200);
  assert.equal((await noted()).detail.text, "better");
  assert.equal((await box.api("PUT", "/v1/alerts/1/notes/1", { text: "x" }, ann?.key)).status, 404);
  assert.equal((await call("notes", { text: "" })).status, 400);
  assert.equal((await call("notes", { text: "x".repeat(4097) })).status, 400);
  await box.clock.turn(5 * MINUTE + 1000);
  const late = await box.api("PUT", at, { text: "late" }, ann?.key);
  assert.deepEqual([late.status, late.body.error.code], [409, "note_closed"]);
  const other = (await call("notes", { text: "oops" }, ann?.key)).body.id;
  const gone = () => box.api("DELETE", `/v1/alerts/1/notes/${other}`, undefined, ann?.key);
  assert.equal((await gone()).status, 200);
  assert.equal((await gone()).status, 404);
  assert.ok(!JSON.stringify(await timeline()).includes("oops"));
});
