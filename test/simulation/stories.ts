import assert from "node:assert/strict";
import { type Stage, WORTH_TELLING } from "./story.ts";

/** Plays `count` stories, the first with the seed `from`; says what they came to. */
export function playStories(stage: Stage, from: number, count: number): string {
  const sum = {
    days: 0,
    events: 0,
    restarts: 0,
    jumps: 0,
    stale: 0,
    reopened: 0,
    repeats: 0,
    orphans: 0,
    followed: 0,
    lastResorts: 0,
  };
  for (let seed = from; seed < from + count; seed += 1) {
    const story = stage.play(seed);
    const again = `seed ${seed}: node test/simulation/run.ts --from ${seed} --seeds 1`;
    assert.deepEqual(story.faults, [], again);
    sum.days += story.simulatedSeconds / 86_400;
    sum.events += story.events;
    sum.restarts += story.restarts;
    sum.jumps += story.jumps;
    sum.stale += story.stale;
    sum.reopened += story.reopened;
    sum.repeats += story.repeats;
    sum.orphans += story.orphans;
    sum.followed += story.followed;
    sum.lastResorts += story.lastResorts;
  }
  if (count < WORTH_TELLING) return JSON.stringify(sum);
  assert.ok(sum.days > (7 * count) / 2 && sum.events > 10 * count, "the stories are worth telling");
  assert.ok(sum.restarts > count / 2 && sum.jumps > count / 2, "and have their troubles");
  const { stale, reopened, repeats } = sum;
  assert.ok(
    Math.min(stale, 3 * reopened, repeats) > count / 4,
    "and senders that name their alerts",
  );
  const { followed, lastResorts } = sum;
  assert.ok(Math.min(followed, lastResorts) > count / 8, "and ladders that are shared and change");
  assert.ok(sum.orphans > 0, "and rules that go while their ladders are climbed");
  return JSON.stringify(sum);
}
