import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { createTurns, type LoopTurns } from "../../../src/ground/kit/turns.ts";

let now = 0;
let close: (() => void) | null = null;
let turns: LoopTurns;

beforeEach(() => {
  now = 0;
  close = null;
  turns = createTurns(
    () => now,
    (end) => {
      assert.equal(close, null, "one end a turn");
      close = end;
    },
  );
});

/** Works of these milliseconds in one turn. */
function turn(...works: [work: string, ms: number][]): void {
  for (const [work, ms] of works) turns.during(work, () => (now += ms));
  const end = close;
  close = null;
  end?.();
}

const counted = () => [...turns.all()].map(([work, { count, ms }]) => [work, count, ms]);

test("a turn is long by all its works together, and has the name of the one that took most of it", () => {
  turn(["events", 1], ["GET /v1/alerts", 3.75]);
  assert.deepEqual(counted(), [], "4.75 ms");
  turn(["events", 1], ["GET /v1/alerts", 3], ["events", 2.5]);
  turn(["write", 8]);
  turn(["write", 5]);
  assert.deepEqual(counted(), [
    ["events", 1, 6.5],
    ["write", 2, 13],
  ]);
});

test("work inside other work counts with it, also where it throws", () => {
  assert.equal(
    turns.during("page /alerts", () => turns.during("write", () => (now += 6)) && "drawn"),
    "drawn",
  );
  turn();
  const fails = () => {
    now += 7;
    throw new RangeError("broken");
  };
  assert.throws(
    () => turns.during("job retention", () => turns.during("write", fails)),
    RangeError,
  );
  turn();
  turn(["write", 9]);
  assert.deepEqual(counted(), [
    ["page /alerts", 1, 6],
    ["job retention", 1, 7],
    ["write", 1, 9],
  ]);
});

test("the longest is that of the last hour", () => {
  assert.equal(turns.longest(), null);
  turn(["write", 40]);
  turn(["events", 90]);
  turn(["write", 50]);
  assert.deepEqual(turns.longest(), { work: "events", ms: 90 });
  now += 30 * 60_000;
  turn(["write", 20]);
  assert.deepEqual(turns.longest(), { work: "events", ms: 90 });
  now += 31 * 60_000;
  assert.deepEqual(turns.longest(), { work: "write", ms: 20 });
  now += 60 * 60_000;
  assert.equal(turns.longest(), null);
});

test("works past the bound have one name together", () => {
  for (let i = 0; i < 501; i++) turn([`work ${i}`, 5]);
  turn(["work 3", 5]);
  assert.equal(turns.all().size, 501);
  assert.deepEqual(turns.all().get("other"), { count: 1, ms: 5 });
  assert.deepEqual(turns.all().get("work 3"), { count: 2, ms: 10 });
});
