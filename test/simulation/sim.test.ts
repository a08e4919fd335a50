import assert from "node:assert/strict";
import { after } from "node:test";
import { inBoth } from "../support/long.ts";
import { playStories } from "./stories.ts";
import { openStage } from "./story.ts";

const stage = openStage();
after(() => stage.close());

/** The first of seeds whose stories come to everything that is asked for, and not narrowly. */
const FROM = 41;

/** Far fewer than show everything: the deep form and `run.ts` play the rest. */
for (const [as, stories] of inBoth(4, 80))
  as(
    `${stories} stories of rules, ladders, named alerts, acks, restarts and clock steps go as the contract says`,
    (t) => {
      t.diagnostic(playStories(stage, FROM, stories));
    },
  );

for (const [as, seeds] of inBoth(1, 5))
  as(`the same seed gives the same log, byte for byte, of ${seeds}; another seed another`, () => {
    for (let seed = 1; seed <= seeds; seed += 1)
      assert.equal(stage.play(seed).log, stage.play(seed).log, `seed ${seed}`);
    assert.notEqual(stage.play(1).log, stage.play(2).log);
  });
