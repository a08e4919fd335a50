import assert from "node:assert/strict";
import { test } from "node:test";
import { createWaiters } from "../../src/tenant/waiters.ts";
import { handClock } from "../support/clock.ts";

const never = new AbortController().signal;

/** Whether it has resolved by now. */
async function isOver(promise: Promise<void>): Promise<boolean> {
  return Promise.race([promise.then(() => true), Promise.resolve().then(() => false)]);
}

test("one key parks its number of readers, all keys together theirs; one more is answered at once", async () => {
  const waiters = createWaiters(handClock(), { perKey: 2, all: 3 });
  const parked = ["a", "a", "b"].map((key) => waiters.park(key, 1000, never));
  assert.deepEqual(await Promise.all(parked.map(({ woken }) => isOver(woken))), [
    false,
    false,
    false,
  ]);
  assert.ok(await isOver(waiters.park("a", 1000, never).woken), "over the key's");
  assert.ok(await isOver(waiters.park("c", 1000, never).woken), "over all");
  assert.equal(waiters.parked, 3);

  parked[0]?.leave();
  parked[0]?.leave();
  assert.equal(waiters.parked, 2, "a place is given back once");
  assert.equal(await isOver(waiters.park("a", 1000, never).woken), false);
});

test("time, a wake-up and a client that goes away each give all that is held back", async () => {
  const clock = handClock();
  const timers = clock.timers();
  const waiters = createWaiters(clock, { perKey: 5, all: 5 });
  const gone = new AbortController();
  const three = [waiters.park("a", 50, never), waiters.park("a", 1000, gone.signal)];
  await clock.turn(50);
  assert.deepEqual(await Promise.all(three.map(({ woken }) => isOver(woken))), [true, false]);
  gone.abort();
  assert.equal(waiters.parked, 0);
  const last = waiters.park("a", 1000, never);
  waiters.wake();
  assert.ok(await isOver(last.woken));
  assert.deepEqual([waiters.parked, clock.timers()], [0, timers]);
});

test("who has gone already, or doesn't want to wait, isn't parked", () => {
  const waiters = createWaiters(handClock(), { perKey: 5, all: 5 });
  waiters.park("a", 0, never);
  waiters.park("a", 1000, AbortSignal.abort());
  assert.equal(waiters.parked, 0);
});

test("many are woken a few in each turn of the loop, and only those who were parked then", async () => {
  const waiters = createWaiters(handClock(), { perKey: 1000, all: 1000 });
  const parked = Array.from({ length: 100 }, () => waiters.park("a", 1000, never));
  waiters.wake();
  assert.ok(waiters.parked > 0 && waiters.parked < 100, `${waiters.parked}`);
  const late = waiters.park("a", 1000, never);
  await Promise.all(parked.map(({ woken }) => woken));
  assert.equal(waiters.parked, 1);
  assert.equal(await isOver(late.woken), false);
  late.leave();
});
