import assert from "node:assert/strict";
import { setImmediate as turn } from "node:timers/promises";
import { openFiles, WORTH_TELLING } from "../story.ts";
import { playQuiet, type QuietStory } from "./story.ts";

export type QuietSum = Omit<QuietStory, "faults" | "log"> & { stories: number; broken: number };

/** Plays `count` stories, the first with the seed `from`, and adds up what they came to; `onFaults` hears of each that broke a law. */
export async function playQuietly(
  from: number,
  count: number,
  onFaults: (seed: number, faults: readonly string[]) => void,
): Promise<QuietSum> {
  const files = openFiles();
  const sum: QuietSum = {
    stories: 0,
    broken: 0,
    days: 0,
    events: 0,
    restarts: 0,
    jumps: 0,
    held: 0,
    released: 0,
    woken: 0,
    drills: 0,
    crowded: 0,
    mergedHeld: 0,
    outgrown: 0,
    varied: 0,
    missing: 0,
  };
  try {
    for (let seed = from; seed < from + count && sum.broken < 10; seed += 1) {
      const { faults, log: _, ...story } = await playQuiet(seed, files.fresh());
      // SQLite's closed statements are freed between turns of the loop.
      await turn();
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

/** As `playQuietly`, and nothing of it may be broken, or too tame to show anything. */
export async function playQuietWell(from: number, count: number): Promise<string> {
  const sum = await playQuietly(from, count, (seed, faults) =>
    assert.deepEqual(
      faults,
      [],
      `seed ${seed}: node test/simulation/run.ts --quiet --from ${seed} --seeds 1`,
    ),
  );
  if (count < WORTH_TELLING) return JSON.stringify(sum);
  const { held, released, woken, missing, restarts, jumps, drills, crowded, mergedHeld } = sum;
  assert.ok(Math.min(held, released, woken) > count / 4, "news is held back and told");
  assert.ok(Math.min(missing, restarts, jumps) > count / 4, "jobs are missing, boxes in trouble");
  assert.ok(Math.min(drills, crowded) > count / 10, "drills go on, and rules have no room");
  const { outgrown, varied } = sum;
  assert.ok(Math.min(3 * outgrown, varied) > count / 10, "what silences look at changes");
  assert.ok(count < 1000 || mergedHeld > 0, "and what is held becomes one");
  return JSON.stringify(sum);
}
