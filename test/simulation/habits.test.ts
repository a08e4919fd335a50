import assert from "node:assert/strict";
import { test } from "node:test";
import { playHabitsWell } from "./habits/stories.ts";
import { playHabits } from "./habits/story.ts";
import { openFiles } from "./story.ts";

/** Far fewer than show everything: the long form and `run.ts --habits` play the rest. */
const STORIES = 5;

test(`${STORIES} stories of what is new, unusual or missing go as the contract says, over kills and restores`, (t) => {
  t.diagnostic(playHabitsWell(1, STORIES));
});

test("the same seed gives the same story, to the byte", (t) => {
  const files = openFiles();
  t.after(() => files.close());
  const log = () => playHabits(2, files.fresh()).log;
  assert.equal(log(), log());
});
