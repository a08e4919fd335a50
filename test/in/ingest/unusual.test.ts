import assert from "node:assert/strict";
import { noteDowntime } from "../../../src/in/ingest/first-seen.ts";
import { sweepHours } from "../../../src/in/ingest/hour-rows.ts";
import { inBoth, test } from "../../support/long.ts";
import { DAY, HOUR, opensWhatIsUnusual, placeOf, WEEK } from "./unusual-stories.ts";

const asks = (factor: number, at_least = 1) => ({
  match: { unusual: { factor, at_least } },
  fire_after: { count: 1, window_minutes: 60 },
});

test("two weeks are learned; then more than so many times the median opens an alert", (t) => {
  const { project, wait, now } = placeOf(t);
  const begun = now();
  const { send, openings, comparesFrom } = project(asks(3, 5));
  assert.equal(comparesFrom(), null);
  const hourOf = (n: number) => {
    const opened = Array.from({ length: n }, () => send("payment was refused"));
    return opened.filter(Boolean).length;
  };
  assert.equal(hourOf(2), 0);
  assert.equal(comparesFrom(), begun + 2 * WEEK + HOUR);
  wait(WEEK);
  assert.equal(hourOf(50), 0, "one week isn't enough");
  wait(WEEK);
  // The window begins before the first week of all did.
  assert.equal(hourOf(100), 0, "nor are two, where the first is cut");
  wait(WEEK + HOUR - 1);
  // Half an hour would have half of it: at its end the median of 2 weeks is all of 100 and 50.
  assert.equal(hourOf(200), 0);
  assert.equal(openings().length, 0);
});

test("below the least number nothing is unusual, above it what never came is", (t) => {
  const { project, wait } = placeOf(t);
  const { send, openings } = project(asks(2, 3));
  send("something else");
  wait(2 * WEEK + HOUR);
  assert.deepEqual(
    [1, 2, 3].map(() => send("disk is full")),
    [false, false, true],
  );
  assert.equal(openings().length, 1);
});

test("until the least number came, the weeks before aren't read", (t) => {
  const { project, wait, store } = placeOf(t);
  const { send } = project(asks(2, 3));
  for (let week = 0; week < 3; week++) {
    send("disk is full");
    wait(WEEK);
  }
  // What reads them fails.
  store.db.exec("UPDATE hour_counts SET hours = 'no'");
  wait(HOUR - 1);
  for (let n = 0; n < 2; n++) send("disk is full");
  assert.throws(() => send("disk is full"), SyntaxError);
});

test("once it comes as usual it is no match: the alert isn't heard again", (t) => {
  const { project, wait, store } = placeOf(t);
  const { send, again } = project(asks(2, 1));
  for (let week = 0; week < 3; week++) {
    for (let n = 0; n < 4; n++) send("queue is long");
    wait(2 * HOUR - 1);
    send("queue is long");
    wait(WEEK - 2 * HOUR + 1);
  }
  again();
  wait(HOUR - 1);
  for (let n = 0; n < 8; n++) send("queue is long");
  const count = () => store.sql<[], number>("SELECT count FROM alerts").pluck().get();
  assert.equal(count(), 1, "the eighth was more than twice what came until then, nearly four");
  wait(HOUR);
  assert.equal(send("queue is long"), false);
  assert.equal(count(), 1);
});

test("a week in which the box was off is none to compare with", (t) => {
  const { project, wait, store, now } = placeOf(t);
  const { send, again } = project(asks(2, 2));
  send("x y z");
  wait(WEEK);
  store.write((tx) => noteDowntime(tx, { until: now() + 60, seconds: 120 }));
  again();
  wait(WEEK);
  wait(HOUR);
  send("link was lost");
  assert.equal(send("link was lost"), false, "one of the two weeks was cut short");
  wait(WEEK);
  send("link was lost");
  assert.equal(send("link was lost"), true, "now there are two");
});

test("merged templates count together, also of the weeks before", (t) => {
  const { project, wait, store } = placeOf(t);
  const { send } = project(asks(2, 1));
  const names = ["web", "shop"];
  for (let week = 0; week < 3; week++) {
    for (const name of names) for (let n = 0; n < 3; n++) send(`cannot start container ${name}`);
    wait(WEEK);
  }
  wait(HOUR - 1);
  // These make "container <*>" of all: six came usually.
  const opened = ["mail", "stock", "basket", "cart"].map((name) =>
    send(`cannot start container ${name}`),
  );
  const n = store
    .sql<[], number>(
      "SELECT sum(n) FROM hour_counts WHERE key = (SELECT id FROM templates WHERE alias_of IS NULL)",
    )
    .pluck();
  assert.equal(n.get(), 22, "all of them are the oldest's");
  assert.equal(opened.at(-1), false);
});

test("five weeks are kept, and of a day that is over the 2,000 that came most", (t) => {
  const { project, wait, store } = placeOf(t);
  const { send } = project({ ...asks(2, 1), identifier_keys: ["host"] });
  for (let n = 0; n < 2100; n++) send("disk is full", { host: `h${n}` });
  for (let n = 0; n < 1999; n++) send("disk is full", { host: `h${n}` });
  const kept = () => store.sql<[], number>("SELECT count(*) FROM hour_counts").pluck().get();
  const all = kept() as number;
  const sweep = () => store.write((tx) => sweepHours(tx, 5000));
  sweep();
  assert.equal(kept(), all, "today's are all kept");
  wait(DAY);
  sweep();
  assert.equal(kept(), all - 100);
  wait(37 * DAY);
  sweep();
  assert.equal(kept(), 0);
});

test("a dry run judges no line whose weeks are deleted, and says so", (t) => {
  const { project, wait } = placeOf(t);
  const { send, openings, dry, goneUntil, sweep } = project(asks(2, 1));
  wait(HOUR / 2);
  for (let week = 0; week < 7; week++) {
    for (let n = 0; n < 5; n++) send("queue is long");
    wait(WEEK);
  }
  wait(HOUR);
  assert.deepEqual([openings(), dry(asks(2, 1)), goneUntil(asks(2, 1))], [[], [], null]);
  sweep();
  assert.deepEqual([openings(), dry(asks(2, 1))], [[], []]);
  assert.notEqual(goneUntil(asks(2, 1)), null);
});

for (const [as, runs] of inBoth(10, 40))
  as(
    `any of ${runs} stories opens what the contract's words say, over kills, and the dry run finds the same`,
    (t) => {
      const { some, unsure } = opensWhatIsUnusual(t, runs);
      assert.ok(some > runs / 4, `${some} alerts`);
      assert.ok(unsure > runs / 20, `${unsure} not judged whole`);
    },
  );
