import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { sweepAlerts } from "../../../src/core/alerts/old-alerts.ts";
import { latestTimeline, readTimeline } from "../../../src/core/alerts/timeline.ts";
import { finish } from "../../../src/ground/kit/slices.ts";
import { setMeta } from "../../../src/ground/store/meta.ts";
import { reckonDuty } from "../../../src/records/numbers/duty.ts";
import { type NumbersQuery, numbersOf } from "../../../src/records/numbers/numbers.ts";
import { isBehind, readUntil, reckonSome } from "../../../src/records/numbers/reckon.ts";
import { sweepDays } from "../../../src/records/numbers/rows.ts";
import { testPlane } from "../../support/plane.ts";

const slices = { run: async <T>(work: Parameters<typeof finish<T>>[0]) => finish(work) };
const at = (text: string) => Date.parse(text) / 1000;
const NOW = at("2026-11-25T12:00:00Z");

/** A store with an owner, two members, a project and a rule. */
function story(t: TestContext) {
  const plane = testPlane();
  t.after(() => plane.close());
  const { store } = plane.tenant;
  for (const who of ["ann", "bob"]) plane.account(who);
  store.write((tx) => tx.sql("UPDATE accounts SET role = 'owner' WHERE id = 'ann'").run());
  const line = (alert: number, when: number, kind: string, detail = {}, account?: string) => {
    store.write((tx) =>
      tx
        .sql("INSERT INTO timeline (alert_id, at, kind, account_id, detail) VALUES (?, ?, ?, ?, ?)")
        .run(alert, when, kind, account ?? null, JSON.stringify(detail)),
    );
  };
  const open = (when: number, level = 400): number => {
    const id = store.write((tx) =>
      tx
        .sql(
          `INSERT INTO alerts (project_id, rule_id, rule, alert_key, state, template_id, template, level, count, first_seen,
             last_seen, last_message, identifiers, investigate, updated_seq, opened_at, ladder_from)
           VALUES (1, 1, 'r', lower(hex(randomblob(8))), 'open', 't', 't', ?, 1, ?, ?, '', '{}', 0, 1, ?, ?)`,
        )
        .run(level, when, when, when, when),
    ).lastInsertRowid;
    line(Number(id), when, "opened", { count: 1, level });
    return Number(id);
  };
  const told = (alert: number, when: number, account: string, rung: number, contact = "ntfy") =>
    line(alert, when, "page_sent", { account, contact, rung });
  const read = () => store.write((tx) => void reckonSome(tx));
  const ask = (query: Partial<NumbersQuery> = {}, viewer = "ann") =>
    numbersOf(
      { reader: store, slices },
      { by: "person", project: null, from: at("2026-11-01"), to: at("2026-12-01"), ...query },
      { now: NOW, viewer },
    );
  return { store, line, open, told, read, ask };
}

const person = async (s: ReturnType<typeof story>, who: string, viewer?: string) =>
  (await s.ask({}, viewer)).rows.find(({ key }) => key === who);

test("two contacts of one step are one page, and rings of a person within ten minutes one interruption", async (t) => {
  const s = story(t);
  // Tuesday, 02:00 in Kolkata; by day in UTC.
  s.store.write((tx) =>
    tx.sql("UPDATE accounts SET timezone = 'Asia/Kolkata' WHERE id = 'bob'").run(),
  );
  const began = at("2026-11-23T20:30:00Z");
  const [one, two] = [s.open(began), s.open(began + 30)];
  s.told(one, began + 1, "bob", 1, "email");
  s.read();
  s.told(one, began + 5, "bob", 1, "voice");
  s.line(one, began + 25, "shown", { account: "bob", contact: "web_push", rung: 1 });
  s.told(two, began + 604, "bob", 2, "sms");
  // By which row of an event two contacts were told of one step is for the numbers alone.
  const shown = [...readTimeline(s.store, one), ...latestTimeline(s.store, one, 9)];
  assert.equal(shown.filter(({ detail }) => detail["contact"] === "voice").length, 2);
  assert.ok(shown.every(({ detail }) => !("rung" in detail)));
  s.read();
  s.told(two, began + 1204, "bob", 3, "sms");
  s.told(two, began + 1205, "ann", 3, "webhook");
  const row = await person(s, "bob");
  assert.deepEqual(
    [
      row?.pages,
      row?.rings,
      row?.interruptions,
      row?.night_rings,
      row?.night_interruptions,
      row?.nights_broken,
    ],
    [3, 3, 2, 3, 2, 1],
  );
  assert.equal(row?.told_to_shown_p50, 24);
  const silent = await person(s, "ann");
  assert.deepEqual([silent?.pages, silent?.rings, silent?.interruptions], [1, 0, 0]);
});

test("an acknowledgement days later belongs to the day of the opening, and to who gave it", async (t) => {
  const s = story(t);
  const began = at("2026-11-10T08:00:00Z");
  const id = s.open(began, 500);
  s.line(id, began + 5, "escalated", { level: 1 });
  s.read();
  s.line(id, began + 259_200, "acknowledged", {}, "bob");
  s.line(id, began + 259_201, "resolved", { count: 9 }, "bob");
  s.store.write((tx) => tx.sql("UPDATE alerts SET state = 'resolved', resolved_at = 1").run());
  for (const _ of ["not read yet", "read"]) {
    const { rows } = await s.ask({ by: "day", from: began, to: began + 1 });
    assert.deepEqual(
      rows.map(({ key, opened, events, acknowledged, steps_to_acknowledge }) => [
        key,
        opened,
        events,
        acknowledged,
        steps_to_acknowledge,
      ]),
      [["2026-11-10", 1, 9, 1, 1]],
    );
    assert.ok(Math.abs((rows[0]?.opened_to_acknowledged_p50 ?? 0) - 259_200) < 259_200 * 0.05);
    assert.equal((await person(s, "bob"))?.acknowledged, 1);
    s.read();
  }
});

test("the level is that at the opening; what ends soon and by nobody ended by itself, unless it is back", async (t) => {
  const s = story(t);
  const began = at("2026-11-12T08:00:00Z");
  const id = s.open(began, 300);
  s.store.write((tx) => tx.sql("UPDATE alerts SET level = 500, count = 7").run());
  const level = async () =>
    (await s.ask({ by: "level" })).rows.map((row) => [
      row.key,
      row.opened,
      row.events,
      row.ended_by_themselves,
      row.reopened,
    ]);
  assert.deepEqual(await level(), [["300", 1, 7, 0, 0]]);
  s.line(id, began + 300, "resolved", { by: "source", count: 7 });
  s.store.write((tx) => tx.sql("UPDATE alerts SET state = 'resolved', resolved_at = 1").run());
  s.read();
  assert.deepEqual(await level(), [["300", 1, 7, 1, 0]]);
  s.line(id, began + 400, "reopened");
  s.store.write((tx) => tx.sql("UPDATE alerts SET state = 'open', count = 8").run());
  assert.deepEqual(await level(), [["300", 1, 8, 0, 1]]);
});

test("drills never count", async (t) => {
  const s = story(t);
  s.open(NOW - 60);
  s.store.write((tx) => tx.sql("UPDATE alerts SET drill = 1").run());
  s.read();
  assert.equal(isBehind(s.store), false);
  assert.deepEqual((await s.ask({ by: "rule" })).rows, []);
});

test("a line that gets the id of one that was deleted is read", async (t) => {
  const s = story(t);
  s.open(NOW - 600);
  const gone = s.open(NOW - 500);
  s.read();
  const last = readUntil(s.store);
  s.store.write((tx) => tx.sql("DELETE FROM alerts WHERE id = ?").run(gone));
  assert.equal(readUntil(s.store), last - 1);
  s.open(NOW - 400);
  assert.ok(isBehind(s.store));
  s.read();
  assert.equal((await s.ask({ by: "level" })).rows[0]?.opened, 3);
});

test("no alert goes by age before its history was read, and its sums stay when it goes", async (t) => {
  const s = story(t);
  s.open(NOW - 600);
  s.store.write((tx) => tx.sql("UPDATE alerts SET state = 'resolved', resolved_at = 1").run());
  const left = () => s.store.sql("SELECT count(*) FROM alerts").pluck().get();
  const sweep = () =>
    s.store.write((tx) => sweepAlerts(tx, { before: NOW, counted: readUntil(tx), most: 10 }));
  sweep();
  assert.equal(left(), 1);
  s.read();
  sweep();
  assert.equal(left(), 0);
  assert.equal((await s.ask({ by: "level" })).rows[0]?.opened, 1);
});

test("years are read by their months, to the same sums as by their days", async (t) => {
  const s = story(t);
  for (let day = 0; day < 120; day += 1) s.open(at("2026-08-01T10:00:00Z") + day * 86_400);
  s.read();
  for (const from of ["2026-08-01", "2026-08-02", "2026-09-30", "2026-11-20"])
    for (const to of ["2026-08-02", "2026-10-01", "2026-10-02", "2026-11-28"]) {
      if (at(to) <= at(from)) continue;
      const asked = { from: at(from), to: at(to) };
      const [level, day] = await Promise.all([
        s.ask({ ...asked, by: "level" }),
        s.ask({ ...asked, by: "day" }),
      ]);
      const sum = day.rows.reduce((all, { opened }) => all + opened, 0);
      assert.equal(level.rows[0]?.opened, sum, `${from} to ${to}`);
      assert.equal(sum, (at(to) - at(from)) / 86_400);
    }
  // What is older than its days goes by whole months.
  s.store.write((tx) => sweepDays(tx, { day: at("2026-10-15") / 86_400, most: 1000 }));
  const left = await s.ask({ by: "day", from: at("2026-08-01") });
  assert.equal(left.rows.find(({ opened }) => opened > 0)?.key, "2026-10-01");
});

test("hours on call count once for a person on two schedules; a day that is over is reckoned once", async (t) => {
  const s = story(t);
  s.store.write((tx) => {
    const layer = (who: string) =>
      JSON.stringify([
        {
          name: "l",
          participants: [who],
          rotation_start: 0,
          shift_minutes: 1440,
          restriction: null,
        },
      ]);
    for (const [name, who] of [
      ["a", "bob"],
      ["b", "bob"],
      ["c", "ann"],
    ] as const)
      tx.sql(
        "INSERT INTO schedules (id, project_id, name, timezone, layers, created_at, updated_at) VALUES (?, 1, ?, 'UTC', ?, 0, 0)",
      ).run(name, name, layer(who));
  });
  const days = async (now: number) => {
    while (await reckonDuty({ reader: s.store, slices }, now));
  };
  await days(NOW - 2 * 86_400);
  assert.equal((await person(s, "bob"))?.on_call_hours, 12, "today, so far");
  await days(NOW);
  await days(NOW);
  const bob = await person(s, "bob");
  assert.deepEqual([bob?.on_call_hours, bob?.on_call_night_hours], [60, 25]);
  const { rows } = await s.ask({ by: "project" });
  assert.equal(rows[0]?.on_call_hours, 120);
  // A clock that was set back has its days again, and none twice.
  await days(NOW - 5 * 86_400);
  await days(NOW);
  assert.equal((await person(s, "ann"))?.on_call_hours, 5 * 24 + 12);
});

test("figures of other people are for managers, and for members where the tenant says so", async (t) => {
  const s = story(t);
  const id = s.open(NOW - 600);
  s.told(id, NOW - 500, "ann", 1);
  s.told(id, NOW - 500, "bob", 1);
  s.store.write((tx) => {
    tx.sql("UPDATE accounts SET role = 'member'").run();
    tx.sql("UPDATE accounts SET role = 'admin' WHERE id = 'ann'").run();
  });
  const seen = async (viewer: string) =>
    (await s.ask({}, viewer)).rows.map(({ key }) => key).sort();
  assert.deepEqual([await seen("ann"), await seen("bob")], [["ann", "bob"], ["bob"]]);
  s.store.write((tx) => setMeta(tx, "numbers_open", 1));
  assert.deepEqual(await seen("bob"), ["ann", "bob"]);
});
