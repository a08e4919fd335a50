import assert from "node:assert/strict";
import { test } from "node:test";
import { livingOn } from "../../src/app/box-living.ts";
import { RecordFault } from "../../src/ground/store/record/record.ts";
import { handClock } from "../support/clock.ts";

/** What an owner says while it is at long work. */

/** Work of a minute, and how often its owner said that it lives. */
async function working(renewed: (n: number) => Promise<boolean>) {
  const clock = handClock();
  const work = Promise.withResolvers<void>();
  let n = 0;
  const over = livingOn({ renew: () => renewed(++n) }, { clock }, () => work.promise);
  over.catch(() => {});
  await clock.turn(60_000);
  work.resolve();
  return { over, n };
}

test("an owner at long work says every two seconds that it lives, also where that failed once", async () => {
  const { over, n } = await working(async (n) => {
    if (n === 3) throw new Error("no answer");
    return true;
  });
  await over;
  assert.equal(n, 30);
});

test("an owner that was replaced while it works hears of it at once, and says no more that it lives", async () => {
  const clock = handClock();
  const gone = new RecordFault("taken", "another machine has taken it");
  const work = Promise.withResolvers<void>();
  let n = 0;
  const renew = async () => {
    if (++n === 3) throw gone;
    return true;
  };
  const over = livingOn({ renew }, { clock }, () => work.promise).catch((error) => error);
  await clock.turn(7_000);
  assert.equal(await Promise.race([over, "still at work"]), gone);
  // Its end, whatever it is, is nobody's concern.
  work.reject(new Error("late"));
  await clock.turn(60_000);
  assert.equal(n, 3);
});

test("what an owner leaves isn't called its own by a word that was under way", async () => {
  const clock = handClock();
  const work = Promise.withResolvers<void>();
  const word = Promise.withResolvers<boolean>();
  let isOver = false;
  const over = livingOn({ renew: () => word.promise }, { clock }, () => work.promise)
    .catch((error: Error) => error.message)
    .finally(() => {
      isOver = true;
    });
  await clock.turn(2_000);
  work.reject(new Error("it failed"));
  await clock.turn(0);
  assert.ok(!isOver, "the word comes first");
  word.resolve(true);
  assert.equal(await over, "it failed");
});

test("a loss that the last word brings is said, also where the work is done", async () => {
  const clock = handClock();
  const work = Promise.withResolvers<void>();
  const word = Promise.withResolvers<boolean>();
  const over = livingOn({ renew: () => word.promise as never }, { clock }, () => work.promise).then(
    () => "went on",
    (e: Error) => e.message,
  );
  await clock.turn(2_000);
  work.resolve();
  await clock.turn(0);
  word.reject(new RecordFault("taken", "another has it"));
  assert.equal(await over, "another has it");
});
