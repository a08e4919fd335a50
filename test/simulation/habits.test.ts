import assert from "node:assert/strict";
import { inBoth, long } from "../support/long.ts";
import { playHabitsWell } from "./habits/stories.ts";
import { playHabits } from "./habits/story.ts";
import { openFiles } from "./story.ts";

/** Far fewer than show everything: the deep form and `run.ts --habits` play the rest. */
for (const [as, stories] of inBoth(1, 5))
  as(
    `${stories} stories of what is new, unusual or missing go as the contract says, over kills and restores`,
    (t) => {
      t.diagnostic(playHabitsWell(1, stories));
    },
  );

long("the same seed gives the same story, to the byte", (t) => {
  const files = openFiles();
  t.after(() => files.close());
  const log = () => playHabits(2, files.fresh()).log;
  assert.equal(log(), log());
});
