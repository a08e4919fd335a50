import { setImmediate as turn } from "node:timers/promises";
import { parseArgs } from "node:util";
import { playAllHabits } from "./habits/stories.ts";
import { playPeople } from "./people/stories.ts";
import { playQuietly } from "./quiet/stories.ts";
import { openStage } from "./story.ts";

/**
 * node test/simulation/run.ts [--people|--quiet|--habits] [--seeds N] [--from SEED]: plays N stories, with --people those of their contacts
 * and pages, with --quiet those of silences, snoozes and heartbeats, with --habits those of rules for what is new, unusual or
 * missing, and prints what they came to.
 */
const { values } = parseArgs({
  options: {
    seeds: { type: "string", default: "2000" },
    from: { type: "string", default: "1" },
    people: { type: "boolean", default: false },
    quiet: { type: "boolean", default: false },
    habits: { type: "boolean", default: false },
  },
});
const from = Number(values.from);
const seeds = Number(values.seeds);
const tell = (seed: number, faults: readonly string[]) =>
  process.stderr.write(`seed ${seed}:\n  ${faults.slice(0, 10).join("\n  ")}\n`);
if (values.people || values.quiet || values.habits) {
  const began = performance.now();
  const play = values.habits ? playAllHabits : values.quiet ? playQuietly : playPeople;
  const told = await play(from, seeds, tell);
  const seconds = Math.round((performance.now() - began) / 100) / 10;
  process.stdout.write(`${JSON.stringify({ ...told, seconds })}\n`);
  process.exit(told.broken === 0 ? 0 : 1);
}
const stage = openStage();
const began = performance.now();
const sum = {
  seeds: 0,
  broken: 0,
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
  seconds: 0,
};
try {
  for (let seed = from; seed < from + seeds; seed += 1) {
    const story = stage.play(seed);
    // SQLite's closed statements are freed between turns of the loop.
    await turn();
    sum.seeds += 1;
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
    if (story.faults.length === 0) continue;
    sum.broken += 1;
    tell(seed, story.faults);
    if (sum.broken >= 10) break;
  }
} finally {
  stage.close();
}
sum.seconds = Math.round((performance.now() - began) / 100) / 10;
sum.days = Math.round(sum.days);
process.stdout.write(`${JSON.stringify(sum)}\n`);
process.exitCode = sum.broken === 0 ? 0 : 1;
