import assert from "node:assert/strict";
import { inBoth, long, test } from "../support/long.ts";
import { playQuietly, playQuietWell } from "./quiet/stories.ts";
import { playQuiet } from "./quiet/story.ts";
import { openFiles } from "./story.ts";

/** The first of seeds whose stories come to everything that is asked for, and not narrowly. */
const FROM = 53;

/** A thousandth of what shows everything: the deep form and `run.ts --quiet` play the rest. */
for (const [as, stories] of inBoth(4, 25))
  as(
    `${stories} stories of silences, snoozes, drills and jobs that must report break no law of theirs`,
    async (t) => {
      t.diagnostic(await playQuietWell(FROM, stories));
    },
  );

test("a person may run the last rung where the fallback has nobody: its line says so", async () => {
  const faults: string[] = [];
  await playQuietly(29_300_024, 1, (_, found) => void faults.push(...found));
  assert.deepEqual(faults, []);
});

long("the same seed gives the same story, to the byte; another seed another", async (t) => {
  const files = openFiles();
  t.after(() => files.close());
  const log = async (seed: number) => (await playQuiet(seed, files.fresh())).log;
  const [first, again, other] = [await log(3), await log(3), await log(4)];
  assert.equal(first, again);
  assert.notEqual(first, other);
});
