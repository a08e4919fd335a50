import assert from "node:assert/strict";
import { noteDowntime } from "../../../src/in/ingest/first-seen.ts";
import { createIngest } from "../../../src/in/ingest/handle.ts";
import { createHourCounts } from "../../../src/in/ingest/hour-counts.ts";
import { createWriter, defaultWriterLimits } from "../../../src/in/ingest/writer.ts";
import { long, test } from "../../support/long.ts";
import { opensWhatIsMissing } from "./missing-stories.ts";
import { DAY, HOUR, placeOf } from "./unusual-stories.ts";

type Project = ReturnType<ReturnType<typeof placeOf>["project"]>;

const TEXT = "backup has ended";
const MINUTE = 60;

/** It comes `often` a day for so many days, at equal distances. */
function comes({ send, pass }: Project, { days, often }: { days: number; often: number }): void {
  const every = DAY / often;
  // Twenty at once stand for as many, so that a test of two weeks is short.
  for (let n = 0; n < days * often; n++) {
    for (let i = 0; i < 20; i++) send(TEXT);
    pass(every);
  }
}

test("it is missing after three times its longest pause, once; it ends when it comes", (t) => {
  const { project, now, store } = placeOf(t);
  const gone = project({ missing: true });
  comes(gone, { days: 15, often: 8 });
  const last = now() - 3 * HOUR;
  gone.pass(6 * HOUR + MINUTE - 1);
  assert.equal(gone.openings().length, 0);
  gone.pass(1);
  assert.deepEqual(gone.openings(), [{ at: last + 9 * HOUR + MINUTE, template: TEXT, host: "" }]);
  // Somebody resolves it: the same silence opens no other, also after a kill.
  gone.end();
  gone.pass(3 * HOUR);
  gone.again();
  gone.pass(3 * HOUR);
  assert.equal(gone.openings().length, 1);
  gone.send(TEXT);
  gone.pass(46 * HOUR);
  assert.equal(gone.openings().length, 2, "its longest pause was 15 hours");
  assert.equal(gone.ends().length, 0);
  gone.send(TEXT);
  assert.deepEqual(gone.ends(), [now()]);
  const state = store.sql<[], string>("SELECT state FROM alerts ORDER BY id DESC").pluck();
  assert.equal(state.get(), "resolved");
});

test("a start looks for it a little at a time, and loads no templates for that", (t) => {
  const { project, store, now } = placeOf(t);
  const many = project({ missing: true, identifier_keys: ["host"] });
  for (let n = 0; n < 1300; n++) many.send(TEXT, { host: `h${n}` });
  const slices = () => {
    const writer = createWriter(store, defaultWriterLimits);
    let n = 1;
    for (let at = writer.lookForMissing(); at !== null && at <= now(); n++)
      at = writer.lookForMissing();
    assert.equal(writer.stats().templates, 0);
    return n;
  };
  assert.equal(slices(), 3, "a thousand keys are read at once");
  many.pass(DAY);
  assert.equal(slices(), 1 + Math.ceil(1300 / 200) + 1, "of 200 the days before are read");
});

test("while nothing comes, the next look is when the first that came can be missing, also by a clock set back", (t) => {
  const { project, store, now, wait } = placeOf(t);
  const gone = project({ missing: true });
  gone.send(TEXT);
  const last = now();
  gone.pass(MINUTE);
  const next = () => {
    const writer = createWriter(store, defaultWriterLimits);
    for (;;) {
      const at = writer.nextMissing();
      if (at === null || at > now()) return at;
    }
  };
  gone.pass(10 * MINUTE);
  assert.equal(next(), last + HOUR + MINUTE);
  wait(-DAY);
  assert.equal(next(), last + HOUR + MINUTE);
});

long("a dry run judges no silence whose two weeks are deleted, and says so", (t) => {
  const gone = placeOf(t).project({ missing: true });
  const tried = { missing: true };
  comes(gone, { days: 1, often: 8 });
  // Later silences may last three times as long, while this day is known.
  gone.pass(20 * HOUR);
  comes(gone, { days: 13, often: 8 });
  gone.pass(30 * HOUR);
  comes(gone, { days: 19, often: 8 });
  assert.deepEqual([gone.openings(), gone.dry(tried), gone.goneUntil(tried)], [[], [], null]);
  gone.sweep();
  assert.deepEqual([gone.dry(tried), gone.goneUntil(tried)], [[], null], "all is kept");
  comes(gone, { days: 5, often: 8 });
  gone.sweep();
  assert.deepEqual(gone.dry(tried), []);
  assert.notEqual(gone.goneUntil(tried), null);
});

test("what comes seldom, or is new, isn't watched", (t) => {
  const { project } = placeOf(t);
  const seldom = project({ missing: true });
  for (let day = 0; day < 15; day++) {
    for (let i = 0; i < 22; i++) seldom.send(TEXT);
    seldom.pass(DAY);
  }
  seldom.pass(10 * DAY);
  assert.equal(seldom.openings().length, 0, "336 times are needed");
  const fresh = project({ missing: true });
  for (let i = 0; i < 400; i++) fresh.send(TEXT);
  fresh.pass(20 * DAY);
  assert.equal(fresh.openings().length, 0, "an hour's burst is no rhythm");
});

test("a pause of days belongs to its rhythm, over kills", (t) => {
  const { project, now } = placeOf(t);
  const weekdays = project({ missing: true });
  for (let week = 0; week < 3; week++) {
    comes(weekdays, { days: 4, often: 3 });
    weekdays.again();
    weekdays.pass(3 * DAY);
  }
  comes(weekdays, { days: 1, often: 3 });
  // Its longest pause had three days and eight hours.
  const due = now() - DAY / 3 + 10 * DAY + MINUTE;
  weekdays.again();
  weekdays.pass(11 * DAY);
  assert.deepEqual(
    weekdays.openings().map(({ at }) => at),
    [due],
  );
});

test("a clock that was set back makes nothing missing, and hides what is", (t) => {
  const { project, wait, now, store } = placeOf(t);
  const gone = project({ missing: true });
  comes(gone, { days: 16, often: 8 });
  wait(-10 * HOUR);
  store.write((tx) => {
    noteDowntime(tx, { until: tx.at, seconds: -10 * HOUR });
    tx.note({ topic: "clock", by: -10 * HOUR });
  });
  const back = now();
  gone.pass(2 * HOUR);
  gone.send(TEXT);
  gone.pass(7 * HOUR);
  assert.equal(gone.openings().length, 0, "it came since");
  gone.pass(3 * HOUR);
  const [opened] = gone.openings();
  assert.ok(opened !== undefined && opened.at >= back + 11 * HOUR, "nine hours after it came");
});

test("of what isn't heard again after the clock was set back it is said, too", (t) => {
  const { project, wait, now, store } = placeOf(t);
  const gone = project({ missing: true });
  comes(gone, { days: 18, often: 8 });
  wait(-2 * DAY);
  store.write((tx) => {
    noteDowntime(tx, { until: tx.at, seconds: -2 * DAY });
    tx.note({ topic: "clock", by: -2 * DAY });
  });
  const back = now();
  gone.pass(DAY);
  assert.deepEqual(
    gone.openings().map(({ at }) => at),
    [back + 9 * HOUR + MINUTE],
  );
});

test("while events are refused nothing is silent, also if the box is killed meanwhile", (t) => {
  const { project, wait, now, store } = placeOf(t);
  const gone = project({ missing: true });
  comes(gone, { days: 15, often: 8 });
  const full = createIngest(store);
  full.shed("storage_full");
  for (let minute = 0; minute < 600; minute++) {
    wait(60);
    full.lookForMissing();
  }
  // It starts again, and has room.
  gone.again();
  const downs = store.sql<[], number>("SELECT seconds FROM downtimes").pluck().all();
  assert.deepEqual(downs, [10 * HOUR], "one stretch");
  const begun = now();
  gone.pass(6 * HOUR + MINUTE - 1);
  assert.equal(gone.openings().length, 0);
  gone.pass(HOUR);
  assert.deepEqual(
    gone.openings().map(({ at }) => at),
    [begun + 6 * HOUR + MINUTE],
  );
});

test("templates that become one are silent for no longer than one of them, also if one of them is new", (t) => {
  const { project, store } = placeOf(t);
  const { send, pass, openings } = project({ missing: true });
  const backup = (customer: string) => send(`backup of customer ${customer} failed after a while`);
  for (let n = 0; n < 18 * 8; n++) {
    for (let i = 0; i < 4; i++) backup("alpha");
    if (n > 10 * 8) backup("bravo");
    pass(3 * HOUR);
  }
  const roots = store
    .sql<[], number>("SELECT count(*) FROM templates WHERE alias_of IS NULL")
    .pluck();
  assert.equal(roots.get(), 2);
  backup("charlie");
  assert.equal(roots.get(), 1);
  pass(9 * HOUR + MINUTE - 1);
  assert.equal(openings().length, 0);
  pass(4 * HOUR);
  assert.equal(openings().length, 1);
});

test("of what may not have been counted nothing is said", (t) => {
  const { project, store } = placeOf(t);
  const gone = project({ missing: true });
  comes(gone, { days: 15, often: 1 });
  for (let i = 0; i < 100; i++) gone.send(TEXT);
  const many = store.sql<[], number>("SELECT max(day) FROM hour_counts").pluck().get() as number;
  store.write((tx) => {
    for (let key = 0; key < 2000; key++)
      tx.sql(
        `INSERT INTO hour_counts (series_id, day, key, n, hours, last, gap)
          SELECT series_id, ?, ?, 1, hours, last, gap FROM hour_counts LIMIT 1`,
      ).run(many + 1, `k${key}`);
  });
  gone.pass(3.5 * DAY);
  assert.equal(gone.openings().length, 0);
  // They were never there: then all is known.
  store.write((tx) => tx.sql("DELETE FROM hour_counts WHERE key LIKE 'k%'").run());
  gone.again();
  gone.pass(HOUR);
  assert.equal(gone.openings().length, 1);
});

test("a kill takes less than a minute of what came, and a twentieth of its hour at most", (t) => {
  const { project, wait, now, store } = placeOf(t);
  const { send, again } = project({ missing: true });
  const stored = () =>
    store.sql<[], { n: number; last: number }>("SELECT n, last FROM hour_counts").get();
  for (let i = 0; i < 400; i++) send(TEXT);
  again();
  const kept = stored()?.n ?? 0;
  assert.ok(kept >= 380 && kept < 400, `${kept}`);
  // The first after a kill, or after a minute, is kept.
  for (const seconds of [1, 61]) {
    wait(seconds);
    send(TEXT);
    again();
    assert.equal(stored()?.last, now());
  }
  wait(61);
  send(TEXT);
  for (let second = 0; second < 59; second++) {
    wait(1);
    send(TEXT);
  }
  again();
  assert.ok(now() - (stored()?.last ?? 0) < MINUTE);
});

test("what waits to be written is written before it is looked for", (t) => {
  const { project, now, wait } = placeOf(t);
  const gone = project({ missing: true });
  comes(gone, { days: 15, often: 8 });
  for (let i = 0; i < 20; i++) gone.send(TEXT);
  wait(50);
  gone.send(TEXT);
  const last = now();
  gone.pass(DAY);
  assert.deepEqual(gone.openings(), [{ at: last + 9 * HOUR + MINUTE, template: TEXT, host: "" }]);
});

test("of what waits a thousand counts are written at once", (t) => {
  const { project, store, wait } = placeOf(t);
  project({ missing: true }).send(TEXT);
  const series = store.sql<[], number>("SELECT id FROM count_series").pluck().get() as number;
  const keys = Array.from({ length: 1300 }, (_, n) => `t${n}`);
  const counts = createHourCounts();
  const come = (times: number) =>
    store.write((tx) => {
      for (const key of keys) for (let n = 0; n < times; n++) counts.add(tx, { series, key }, true);
      counts.flush(tx);
    });
  const written = () =>
    store.sql<[], number>("SELECT count(*) FROM hour_counts WHERE n = 22").pluck().get();
  come(21);
  wait(1);
  come(1);
  assert.equal(written(), 0, "less than a twentieth, for less than a minute");
  wait(MINUTE);
  come(0);
  assert.equal(written(), 1000);
  come(0);
  assert.equal(written(), 1300);
});

const RUNS = 10;

test("any story opens what the contract's words say, over kills, and the dry run finds the same", (t) => {
  const some = opensWhatIsMissing(t, RUNS);
  assert.ok(some > RUNS / 5, `${some} alerts`);
});
