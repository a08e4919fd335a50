import assert from "node:assert/strict";
import { openPeopleStage, type PeopleStory } from "./story.ts";

export type PeopleSum = Omit<PeopleStory, "faults" | "log"> & { stories: number; broken: number };

/** Plays `count` stories, the first with the seed `from`, and adds up what they came to; `onFaults` hears of each that broke a law. */
export async function playPeople(
  from: number,
  count: number,
  onFaults: (seed: number, faults: readonly string[]) => void,
): Promise<PeopleSum> {
  const stage = openPeopleStage();
  const sum: PeopleSum = {
    stories: 0,
    broken: 0,
    pages: 0,
    messages: 0,
    bundles: 0,
    rises: 0,
    failed: 0,
    withdrawn: 0,
    unreachable: 0,
    fallbacks: 0,
    undelivered: 0,
    shown: 0,
    restarts: 0,
  };
  try {
    for (let seed = from; seed < from + count && sum.broken < 10; seed += 1) {
      const { faults, log: _, ...story } = await stage.play(seed);
      sum.stories += 1;
      for (const [what, n] of Object.entries(story)) sum[what as keyof typeof story] += n;
      if (faults.length === 0) continue;
      sum.broken += 1;
      onFaults(seed, faults);
    }
    return sum;
  } finally {
    stage.close();
  }
}

/** As `playPeople`, and nothing of it may be broken, or too tame to show anything. */
export async function playGoodPeople(from: number, count: number): Promise<string> {
  const sum = await playPeople(from, count, (seed, faults) =>
    assert.deepEqual(
      faults,
      [],
      `seed ${seed}: node test/simulation/run.ts --people --from ${seed} --seeds 1`,
    ),
  );
  assert.ok(sum.pages > 10 * count && sum.bundles > 10 * count, "people are paged");
  assert.ok(Math.min(sum.failed, sum.withdrawn, sum.unreachable) > count, "and have trouble");
  assert.ok(sum.rises > 0, "and alerts become worse");
  assert.ok(sum.shown > 0, "and devices show what they were pushed");
  assert.ok(sum.fallbacks > 0 && sum.restarts > count, "and their box has, too");
  return JSON.stringify(sum);
}
