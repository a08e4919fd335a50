import assert from "node:assert/strict";
import { openFiles, WORTH_TELLING } from "../story.ts";
import { type HabitsStory, playHabits } from "./story.ts";

export type HabitsSum = Omit<HabitsStory, "faults" | "log"> & { stories: number; broken: number };

/** Plays `count` stories, the first with the seed `from`, and adds up what they came to; `onFaults` hears of each that broke a law. */
export function playAllHabits(
  from: number,
  count: number,
  onFaults: (seed: number, faults: readonly string[]) => void,
): HabitsSum {
  const files = openFiles();
  const sum: HabitsSum = {
    ...{ stories: 0, broken: 0, days: 0, events: 0, kills: 0, restores: 0, jumps: 0 },
    ...{ fresh: 0, more: 0, missing: 0, either: 0 },
  };
  try {
    for (let seed = from; seed < from + count && sum.broken < 10; seed += 1) {
      const { faults, log: _, ...story } = playHabits(seed, files.fresh());
      sum.stories += 1;
      for (const [what, n] of Object.entries(story)) sum[what as keyof typeof story] += n;
      if (faults.length === 0) continue;
      sum.broken += 1;
      onFaults(seed, faults);
    }
    return { ...sum, days: Math.round(sum.days) };
  } finally {
    files.close();
  }
}

/** As `playAllHabits`, and nothing of it may be broken, or too tame to show anything. */
export function playHabitsWell(from: number, count: number): string {
  const sum = playAllHabits(from, count, (seed, faults) =>
    assert.deepEqual(
      faults,
      [],
      `seed ${seed}: node test/simulation/run.ts --habits --from ${seed} --seeds 1`,
    ),
  );
  if (count < WORTH_TELLING) return JSON.stringify(sum);
  const { kills, restores, jumps, fresh, more, missing, either } = sum;
  assert.ok(Math.min(kills, 3 * restores, jumps) > count, "boxes are in trouble");
  assert.ok(Math.min(fresh, 3 * more, 3 * missing) > count, "each rule opens alerts");
  assert.ok(either <= (fresh + more + missing) / 4, "and little is left open");
  return JSON.stringify(sum);
}
