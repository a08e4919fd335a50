import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";
import { type Plane, step, testPlane } from "../support/plane.ts";

let plane: Plane;
beforeEach(() => {
  plane = testPlane();
  for (const name of ["ann", "bob", "cat"]) plane.account(name);
});
afterEach(() => plane.close());

/** The box is off for `minutes`. */
async function outage(minutes: number): Promise<void> {
  await plane.stop();
  await plane.minutes(minutes);
  plane.again();
}

const pages = () =>
  plane.events("alert.escalated").map(({ minute, level, accounts }) => [minute, level, accounts]);

test("a box that is off from minute 8 to 31 pages everyone it owes once, and says how late", async () => {
  plane.rule({
    escalations: [
      step(0, ["ann"], { repeat: 5 }),
      step(10, ["bob"]),
      step(20, ["cat"], { repeat: 15 }),
    ],
  });
  await plane.fire();
  await plane.minutes(8);
  await outage(23);
  await plane.clock.turn(5000);
  assert.deepEqual(pages(), [
    [0, 1, ["ann"]],
    [5, 1, ["ann"]],
    [31, 3, ["bob", "cat"]],
  ]);
  assert.deepEqual(plane.timeline().at(-1)?.detail, {
    level: 3,
    steps: [2, 3],
    accounts: ["bob", "cat"],
    why: "step",
    late_seconds: 11 * 60,
    late_because: "box was down",
  });
  await plane.minutes(20);
  assert.deepEqual(pages().slice(3), [[46, 3, ["cat"]]]);
});

test("of renotifies missed there is one, and the next counts from then", async () => {
  plane.rule({ renotify_minutes: 10 });
  await plane.fire();
  await plane.minutes(5);
  await outage(50);
  await plane.minutes(12);
  assert.deepEqual(
    plane.events("alert.renotified").map(({ minute }) => minute),
    [55, 65],
  );
});

test("time in which the box was down is no quiet", async () => {
  plane.rule({ auto_resolve_quiet_minutes: 30 });
  await plane.fire();
  await plane.minutes(10);
  await outage(600);
  await plane.minutes(19);
  assert.equal(plane.last().state, "open");
  await plane.minutes(1);
  assert.equal(plane.last().state, "resolved");
});

test("an acknowledged alert stays silent over an outage, and over thirty days", async () => {
  plane.rule({ escalations: [step(0, ["ann"], { repeat: 5 }), step(20, ["bob"])] });
  await plane.fire();
  plane.ack();
  const before = plane.events();
  await outage(30 * 24 * 60);
  await plane.minutes(30);
  assert.deepEqual(plane.events(), before);
});
