import assert from "node:assert/strict";
import { test } from "node:test";
import { steadyClock } from "../../../src/ground/kit/steady-clock.ts";
import { handClock } from "../../support/clock.ts";

const START = 1_000_000_000;

test("follows the machine's clock while that keeps its line", async () => {
  const machine = handClock(START);
  const clock = steadyClock(machine);
  await machine.turn(5000);
  assert.deepEqual([clock.now(), clock.jump()], [START + 5000, 0]);
});

for (const by of [3_600_000, -3_600_000, 2001, -2001]) {
  test(`a jump of ${by} ms is kept off until it is adopted`, async () => {
    const machine = handClock(START);
    const clock = steadyClock(machine);
    machine.setWall(START + by);
    await machine.turn(500);
    assert.deepEqual([clock.now(), clock.jump()], [START + 500, by]);
    clock.adopt();
    assert.deepEqual([clock.now(), clock.jump()], [START + 500 + by, 0]);
  });
}

test("a difference of up to two seconds is followed, and does not add up to a jump", async () => {
  const machine = handClock(START);
  const clock = steadyClock(machine);
  for (let i = 1; i <= 10; i += 1) {
    machine.setWall(machine.now() + 1500);
    assert.equal(clock.jump(), 0);
    assert.equal(clock.now(), START + i * 1500);
  }
});

test("a jump that is taken back before it was adopted never was", () => {
  const machine = handClock(START);
  const clock = steadyClock(machine);
  machine.setWall(START + 60_000);
  assert.equal(clock.now(), START);
  machine.setWall(START);
  assert.deepEqual([clock.now(), clock.jump()], [START, 0]);
});

test("is in whole milliseconds also while it keeps off a jump", () => {
  let wall = START;
  let mono = 0.25;
  const machine = { now: () => wall, mono: () => mono, after: () => () => {} };
  const clock = steadyClock(machine);
  wall += 60_000;
  mono += 1234.56;
  assert.equal(clock.now(), START + 1235);
});
