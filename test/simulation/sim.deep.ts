import assert from "node:assert/strict";
import { after, test } from "node:test";
import { seed } from "../support/seed.ts";
import { playStories } from "./stories.ts";
import { openStage } from "./story.ts";

const stage = openStage();
after(() => stage.close());

const STORIES = 5000;

test("the same seed gives the same log, byte for byte", () => {
  for (let n = seed; n < seed + 10; n += 1)
    assert.equal(stage.play(n).log, stage.play(n).log, `seed ${n}`);
});

test(`${STORIES} stories go as the contract says`, (t) => {
  t.diagnostic(playStories(stage, seed, STORIES));
});
