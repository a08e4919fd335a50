import assert from "node:assert/strict";
import { afterEach, beforeEach, describe } from "node:test";
import { type Person, type TestBox, testBox } from "../../support/box.ts";
import { long, test } from "../../support/long.ts";

/** One alert in one read: what comes next of its ladder, how often, what was before. */

let box: TestBox;
let token: string;
let [ann, bob, cy]: Person[] = [];
const MINUTE = 60_000;
beforeEach(async () => {
  box = await testBox();
  [ann, bob, cy] = ["ann", "bob", "cy"].map((name) => box.person("member", `${name}@example.org`));
  token = await box.project("shop");
});
afterEach(() => box.stop());

const step = (after_minutes: number, who: Person | undefined, more: object = {}) => ({
  after_minutes,
  accounts: who === undefined ? [] : [who.accountId],
  ...more,
});
const rule = (escalations: object[], more: object = {}) =>
  box.api("POST", "/v1/projects/shop/rules", { name: "any", escalations, ...more });
const detail = async (id = 1) => (await box.api("GET", `/v1/alerts/${id}/detail`)).body;
const now = () => Math.floor(box.clock.now() / 1000);
type Next = { at: number; step: number; why: string; accounts: string[]; schedules: string[] };

describe("what comes next", () => {
  test("each step, repeats, whoever has duty by then, and renotifies, for a day", async () => {
    const layer = {
      name: "l",
      rotation_start: now(),
      shift_minutes: 60,
      participants: [bob?.accountId, cy?.accountId],
    };
    await box.api("POST", "/v1/projects/shop/oncall/schedules", {
      name: "primary",
      timezone: "UTC",
      layers: [layer],
    });
    await rule(
      [
        step(0, ann),
        step(30, undefined, { schedules: ["primary"] }),
        step(90, undefined, { schedules: ["primary"], repeat_minutes: 600 }),
      ],
      { renotify_minutes: 1200 },
    );
    await box.ingest(token, { message: "down" });
    const from = now();
    const { next } = await detail();
    assert.deepEqual(
      next.map(({ at, step: n, why, accounts }: Next) => [(at - from) / 60, n, why, accounts]),
      [
        [30, 2, "step", [bob?.accountId]],
        [90, 3, "step", [cy?.accountId]],
        [690, 3, "repeat", [cy?.accountId]],
        [1200, 3, "renotify", [cy?.accountId]],
        [1290, 3, "repeat", [cy?.accountId]],
      ],
    );
    assert.deepEqual(next[0].schedules, ["primary"]);
    await box.api("POST", "/v1/alerts/1/ack");
    assert.deepEqual((await detail()).next, []);
  });

  test("a step that reaches nobody says so; above it the next runs at once", async () => {
    await box.api("POST", "/v1/projects/shop/oncall/schedules", {
      name: "empty",
      timezone: "UTC",
      layers: [],
    });
    await rule([
      step(0, ann),
      step(10, undefined, { schedules: ["empty"] }),
      step(20, cy),
      step(30, undefined, { schedules: ["empty"] }),
    ]);
    await box.ingest(token, { message: "down" });
    const { next } = await detail();
    assert.deepEqual(
      next.map(({ step: n, why, accounts }: Next) => [n, why, accounts]),
      [
        [3, "nobody_reached_before", [cy?.accountId]],
        [4, "step", []],
      ],
    );
  });

  const said = async (from: number) =>
    (await detail()).next.map(({ at, step: n, why, accounts }: Next) => [
      (at - from) / 60,
      n,
      why,
      ...accounts,
    ]);

  test("what will be silenced by then waits for the end of that, and who snoozed it is told again", async () => {
    await rule([step(0, ann), step(10, bob)]);
    await box.ingest(token, { message: "down" });
    const from = now();
    const planned = { starts_at: from + 5 * 60, ends_at: from + 25 * 60 };
    await box.api("POST", "/v1/silences", { match: { rule: "any" }, reason: "deploy", ...planned });
    assert.deepEqual(await said(from), [[25, 2, "step", bob?.accountId]]);
    await box.api("POST", "/v1/alerts/1/snooze", { until: from + 15 * 60 });
    assert.deepEqual(await said(from), [
      [25, 1, "step", ann?.accountId],
      [25, 1, "renotify", ann?.accountId],
      [35, 2, "step", bob?.accountId],
    ]);
  });

  test("where nothing reaches anybody on the ladder the fallback is next", async () => {
    box.tenant.store.write((tx) =>
      tx
        .sql<[account: string | undefined]>(
          `INSERT INTO contacts (id, account_id, kind, label, shown, sealed, state, verified_at, created_at)
           VALUES ('c', ?, 'webhook', '', '', '', 'verified', 1, 1)`,
        )
        .run(cy?.accountId),
    );
    await box.api("PUT", "/v1/fallback", { accounts: [cy?.accountId], schedules: [] });
    await rule([step(5, ann), step(10, undefined, { schedules: [] })]);
    await box.ingest(token, { message: "down" });
    assert.deepEqual(await said(now()), [
      [5, 1, "step", ann?.accountId],
      [5, 2, "fallback", cy?.accountId],
    ]);
  });
});

test("earlier ones of the key, how often, who was told, and what silences it", async () => {
  await rule([step(0, ann)], { auto_resolve_quiet_minutes: 5, identifier_keys: ["n"] });
  const send = (n: string) => box.ingest(token, { message: "down", keys: { n } });
  await send("a");
  await box.api("POST", "/v1/alerts/1/resolve", undefined, bob?.key);
  await box.clock.turn(MINUTE);
  await send("a");
  await send("b");
  const second = now();
  await box.clock.turn(6 * MINUTE);
  await send("a");
  const third = now();
  await send("a");
  await box.clock.turn(2 * MINUTE);
  await send("a");
  const { alert, earlier, buckets, reach, executions, silence, now: at } = await detail(4);
  assert.deepEqual([alert.id, alert.count, at, silence, executions], ["4", 3, now(), null, []]);
  assert.deepEqual(earlier, [
    { id: "2", opened_at: second, resolved_at: second + 300, resolved_by: null, count: 1 },
    {
      id: "1",
      opened_at: second - 60,
      resolved_at: second - 60,
      resolved_by: bob?.accountId,
      count: 1,
    },
  ]);
  assert.deepEqual(buckets, { seconds: 60, from: third - (third % 60), counts: [2, 0, 1] });
  assert.equal(reach[0].account_id, ann?.accountId);
  const made = { match: { rule: "any" }, reason: "deploy", ends_at: now() + 600 };
  const { body } = await box.api("POST", "/v1/silences", made);
  await box.ingest(token, { message: "down", keys: { n: "c" } });
  const silenced = await detail(5);
  assert.deepEqual(
    [silenced.silence.id, silenced.alert.silenced_by, silenced.next[0].at],
    [body.id, body.id, now() + 600],
  );
  assert.equal((await box.api("GET", "/v1/alerts/99/detail")).status, 404);
});

long("what ran for it is there, and what began long ago is by the hour", async () => {
  const hook = { name: "restart", method: "POST", url: "http://127.0.0.1:9/x" };
  await box.api("POST", "/v1/projects/shop/actions", hook);
  await rule([]);
  await box.ingest(token, { message: "down" });
  const { executions } = await detail();
  assert.deepEqual(
    executions.map(({ alert_id, event }: Record<string, string>) => [alert_id, event]),
    [["1", "alert.opened"]],
  );
  await box.clock.turn(7 * 60 * MINUTE);
  await box.ingest(token, { message: "down" });
  const { buckets } = await detail();
  assert.equal(buckets.seconds, 3600);
  assert.deepEqual([buckets.counts[0], buckets.counts.at(-1), buckets.counts.length], [1, 1, 8]);
});
