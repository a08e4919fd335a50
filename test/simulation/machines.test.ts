import assert from "node:assert/strict";
import { test } from "node:test";
import { PLANTED, type Planted } from "./machines/machine.ts";
import { playMachines } from "./machines/story.ts";

/** Far fewer than show everything: `node --test test/simulation/machines.deep.ts` plays the rest. */
const STORIES = 60;

test(`${STORIES} stories of two machines: what was answered is in the record once`, (t) => {
  const sums = { answered: 0, handed: 0, takings: 0 };
  for (let seed = 1; seed <= STORIES; seed++) {
    const { answered, handed, takings } = playMachines(seed);
    sums.answered += answered;
    sums.handed += handed;
    sums.takings += takings;
  }
  t.diagnostic(JSON.stringify(sums));
  assert.ok(sums.handed > STORIES && sums.takings > 2 * STORIES, "things happen in them");
});

/** A story that finds it. */
const FOUND_BY: Record<Planted, number> = {
  "all is handed over": 2,
  "what waited at the gate isn't noted": 3,
  "dropped before all is kept": 172,
  "dropped before it is handed over": 45,
  "the epoch is noted after the first keeping": 2,
  "taken without a mark": 48,
  "forgotten before it is kept": 691,
  "what was handed over is noted, too": 127,
  "an answer by this disk isn't noted": 2,
};

for (const planted of PLANTED)
  test(`a story finds it where ${planted}`, () => {
    const seed = FOUND_BY[planted];
    playMachines(seed);
    assert.throws(() => playMachines(seed, planted), /in the record/);
  });
