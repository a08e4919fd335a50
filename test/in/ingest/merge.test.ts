import assert from "node:assert/strict";
import { afterEach, beforeEach, describe } from "node:test";
import type { AlertState } from "../../../src/core/alerts/alert.ts";
import type { RuleBody } from "../../../src/core/projects/rule.ts";
import { long, test } from "../../support/long.ts";
import { defaultRule, type Plane, step, testPlane } from "../../support/plane.ts";

let plane: Plane;
beforeEach(() => {
  plane = testPlane();
  for (const name of ["ann", "bob", "cat"]) plane.account(name);
});
afterEach(() => plane.close());

/** The third such line makes the name variable: `alpha`, seen first, is then the root. */
const backup = (customer: string) => `backup of customer ${customer} failed after a while`;

const standing = () =>
  plane.tenant.store
    .sql("SELECT id FROM alerts WHERE state <> 'resolved' ORDER BY id")
    .pluck()
    .all() as number[];
const events = () =>
  plane.tenant.store
    .sql("SELECT event, alert_id AS id FROM events ORDER BY id")
    .all()
    .map((row) => Object.values(row as object).join(" "));
const pages = (kind = "alert.escalated") =>
  plane.events(kind).map(({ minute, accounts }) => [minute, accounts]);
const told = (id: number, kind: string) =>
  plane
    .timeline(id)
    .filter((entry) => entry.kind === kind)
    .map(({ detail }) => detail);

/** A line that the miner reads and no rule matches. */
const seen = (customer: string) => plane.fire(backup(customer), 100);
const loud: Partial<RuleBody> = { match: { ...defaultRule.match, min_level: 400 } };

test("of two alerts whose templates merge, the one that nobody acknowledged stays open", async () => {
  plane.rule({ escalations: [step(1, ["ann"])] });
  await plane.fire(backup("alpha"));
  plane.ack();
  await plane.fire(backup("bravo"));
  await plane.fire(backup("charlie"));
  assert.deepEqual([plane.alert(1).state, plane.alert(2).state], ["resolved", "open"]);
  assert.deepEqual(told(1, "resolved"), [{ reason: "merged", into: "2", count: 1 }]);
  assert.deepEqual(told(2, "merged"), [{ alert: "1", state: "acknowledged", count: 1 }]);
  await plane.minutes(1);
  assert.deepEqual(pages(), [[1, ["ann"]]]);
  assert.equal(plane.alert(2).count, 3);
  await plane.fire(backup("alpha"));
  await plane.fire(backup("delta"));
  assert.equal(plane.alert(2).count, 5);
  assert.deepEqual(standing(), [2]);
});

const states: AlertState[] = ["open", "acknowledged", "resolved"];
const become = (id: number, state: AlertState) => {
  if (state === "acknowledged") plane.ack(id);
  if (state === "resolved") plane.resolve(id);
};

/** Which alert stays, by the states of the older template's alert and the younger's: an open one before any other. */
const living = (older: AlertState, younger: AlertState): "older" | "younger" | "first" | "new" => {
  if (older === "resolved") return younger === "resolved" ? "new" : "younger";
  if (younger === "resolved") return "older";
  if (older === younger) return "first";
  return older === "open" ? "older" : "younger";
};

describe("every pair of states, whichever alert was first", () => {
  for (const olderState of states) {
    for (const youngerState of states) {
      for (const olderFirst of [true, false]) {
        const order = olderFirst ? "older" : "younger";
        (olderFirst ? test : long)(
          `older ${olderState}, younger ${youngerState}, the ${order} template's alert first`,
          async () => {
            plane.rule({
              ...loud,
              escalations: [step(10, ["ann"])],
              auto_resolve_quiet_minutes: 60,
            });
            await seen("alpha");
            await seen("bravo");
            const ids = olderFirst ? { older: 1, younger: 2 } : { older: 2, younger: 1 };
            for (const name of olderFirst ? ["alpha", "bravo"] : ["bravo", "alpha"]) {
              await plane.fire(backup(name));
              await plane.minutes(2);
            }
            become(ids.older, olderState);
            become(ids.younger, youngerState);
            const lives = living(olderState, youngerState);
            const id = { ...ids, first: 1, new: 3 }[lives];
            const openBefore = [olderState, youngerState].includes("open");

            await plane.fire(backup("charlie"));
            assert.deepEqual(standing(), [id]);
            assert.equal(
              plane.alert(id).state,
              openBefore || lives === "new" ? "open" : "acknowledged",
            );
            const both = olderState !== "resolved" && youngerState !== "resolved";
            assert.equal(plane.alert(id).count, lives === "new" ? 1 : both ? 3 : 2);
            for (const name of ["alpha", "bravo", "delta"]) {
              const { alerted } = await plane.fire(backup(name));
              assert.equal(alerted, true);
            }
            assert.deepEqual(standing(), [id]);

            // It pages when the first of the two would have; after a restart too.
            await plane.stop();
            plane.again();
            const openedAt =
              lives === "new" ? 4 : both && olderState === youngerState ? 0 : id === 1 ? 0 : 2;
            await plane.minutes(30);
            const expected = openBefore || lives === "new" ? [[openedAt + 10, ["ann"]]] : [];
            assert.deepEqual(pages(), expected);
            assert.ok(!events().includes(`alert.escalated ${id === 1 ? 2 : 1}`));
            // Quiet counts from the last match of either.
            await plane.minutes(29);
            assert.deepEqual(standing(), [id]);
            await plane.minutes(1);
            assert.deepEqual(standing(), []);
          },
        );
      }
    }
  }
});

test("when two open alerts merge no step is lost or delayed", async () => {
  plane.rule({
    ...loud,
    escalations: [step(10, ["ann"]), step(30, ["bob"], { repeat: 20 })],
    renotify_minutes: 45,
  });
  await seen("alpha");
  await seen("bravo");
  await plane.fire(backup("alpha"));
  await plane.minutes(35);
  await plane.fire(backup("bravo"));
  await seen("charlie");
  assert.deepEqual(standing(), [1]);
  await plane.minutes(35);
  // Alert 2 was due at 45, alert 1's repeat at 50: at the earlier one everybody is paged whose step has passed.
  assert.deepEqual(pages(), [
    [10, ["ann"]],
    [30, ["bob"]],
    [45, ["ann", "bob"]],
    [65, ["bob"]],
  ]);
  assert.deepEqual(
    pages("alert.renotified").map(([minute]) => minute),
    [45],
  );
});

test("where the shift changed between the pages of two alerts that merge, both people go on being told", async () => {
  const shifts = { rotation_start: plane.start, shift_minutes: 60, restriction: null };
  plane.schedule("primary", [{ name: "all", participants: ["ann", "bob"], ...shifts }]);
  plane.rule({
    ...loud,
    escalations: [step(0, [], { schedules: ["primary"] })],
    renotify_minutes: 90,
  });
  await seen("alpha");
  await seen("bravo");
  await plane.fire(backup("alpha"));
  await plane.minutes(60);
  await plane.fire(backup("bravo"));
  assert.deepEqual(pages(), [
    [0, ["ann"]],
    [60, ["bob"]],
  ]);
  await seen("charlie");
  assert.deepEqual(standing(), [1]);
  await plane.minutes(30);
  assert.deepEqual(pages("alert.renotified"), [[90, ["ann", "bob"]]]);
});

test("a page that waits for its relay goes out after a merge, and is withdrawn with the remaining alert", async () => {
  const { store } = plane.tenant;
  store.write((tx) =>
    tx
      .sql(
        `INSERT INTO integrations (id, project_id, name, type, url, enabled, event_filter, relay, created_at)
         VALUES ('r', 1, 'hosted-relay', 'webhook', 'http://127.0.0.1:9/', 1, 'alert.escalated,alert.opened,alert.renotified', 1, 0)`,
      )
      .run(),
  );
  plane.rule({ ...loud });
  const waiting = () =>
    store.sql("SELECT alert_id AS id, status FROM deliveries ORDER BY id").all() as object[];
  await seen("alpha");
  await seen("bravo");
  await plane.fire(backup("alpha"));
  await plane.fire(backup("bravo"));
  await seen("charlie");
  assert.deepEqual(standing(), [1]);
  assert.deepEqual(waiting(), [
    { id: 1, status: "pending" },
    { id: 1, status: "pending" },
  ]);
  plane.ack(1);
  assert.deepEqual(waiting(), [
    { id: 1, status: "dropped" },
    { id: 1, status: "dropped" },
  ]);
});

describe("what was counted and has not fired", () => {
  const counted: Partial<RuleBody> = {
    ...loud,
    fire_after: { count: 3, distinct_sources: 1, window_minutes: 60 },
  };

  test("a window counts together after a merge", async () => {
    plane.rule(counted);
    await plane.fire(backup("alpha"));
    await plane.fire(backup("bravo"));
    assert.deepEqual(standing(), []);
    await plane.fire(backup("charlie"));
    assert.deepEqual(standing(), [1]);
    assert.equal(plane.alert(1).count, 3);
  });

  for (const [resolved, counts] of [
    ["alpha", "bravo"],
    ["bravo", "alpha"],
  ] as const) {
    test(`counts no more when an alert of the other template was resolved since: ${resolved}`, async () => {
      plane.rule(counted);
      await seen("alpha");
      await seen("bravo");
      for (let i = 0; i < 3; i++) await plane.fire(backup(resolved));
      await plane.fire(backup(counts));
      await plane.fire(backup(counts));
      plane.resolve(1);
      await plane.fire(backup("charlie"));
      assert.deepEqual(standing(), []);
      // The same second as the resolve, but after it.
      await plane.fire(backup("alpha"));
      await plane.stop();
      plane.again();
      await plane.fire(backup("bravo"));
      assert.deepEqual(standing(), [2]);
      assert.equal(plane.alert(2).count, 3);
    });

    test(`counts no more once an alert that stood at the merge is resolved: ${resolved}`, async () => {
      plane.rule(counted);
      await seen("alpha");
      await seen("bravo");
      for (let i = 0; i < 3; i++) await plane.fire(backup(resolved));
      await plane.fire(backup(counts));
      await plane.fire(backup(counts));
      await seen("charlie");
      assert.deepEqual(standing(), [1]);
      plane.resolve(1);
      await plane.fire(backup("delta"));
      assert.deepEqual(standing(), []);
    });
  }

  test("counts after a resolve stay, also from before the merge", async () => {
    plane.rule(counted);
    await seen("alpha");
    await seen("bravo");
    for (let i = 0; i < 3; i++) await plane.fire(backup("alpha"));
    await plane.fire(backup("bravo"));
    plane.resolve(1);
    await plane.fire(backup("bravo"));
    await plane.fire(backup("alpha"));
    await plane.fire(backup("charlie"));
    assert.deepEqual(standing(), [2]);
  });
});

test("a merge that could not be committed changes nothing: the open alert stays and pages", async () => {
  plane.rule({ escalations: [step(1, ["ann"])] });
  await plane.fire(backup("alpha"));
  plane.ack();
  await plane.fire(backup("bravo"));
  const { store } = plane.tenant;
  store.db.exec(
    "CREATE TRIGGER refuse BEFORE INSERT ON timeline WHEN new.kind = 'merged' BEGIN SELECT RAISE(ABORT, 'not now'); END",
  );
  await assert.rejects(plane.fire(backup("charlie")));
  assert.deepEqual([plane.alert(1).state, plane.alert(2).state], ["acknowledged", "open"]);
  store.db.exec("DROP TRIGGER refuse");
  await plane.fire(backup("charlie"));
  assert.deepEqual([plane.alert(1).state, plane.alert(2).state], ["resolved", "open"]);
  await plane.minutes(1);
  assert.deepEqual(pages(), [[1, ["ann"]]]);
});

test("a rule for one name still matches it when the word became a variable", async () => {
  plane.rule({ match: { ...defaultRule.match, template_contains: "customer alpha" } });
  await plane.fire(backup("alpha"));
  plane.resolve(1);
  for (const name of ["bravo", "charlie", "delta"])
    assert.equal((await plane.fire(backup(name))).alerted, false);
  assert.equal((await plane.fire(backup("alpha"))).alerted, true);
  assert.equal(plane.last().template, "backup of customer <*> failed after a while");
  await plane.stop();
  plane.again();
  assert.equal((await plane.fire(backup("alpha"))).alerted, true);
  assert.equal((await plane.fire(backup("echo"))).alerted, false);
});
