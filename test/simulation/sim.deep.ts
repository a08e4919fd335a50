import { after, test } from "node:test";
import { seed } from "../support/seed.ts";
import { playStories } from "./stories.ts";
import { openStage } from "./story.ts";

const stage = openStage();
after(() => stage.close());

const STORIES = 5000;

test(`${STORIES} stories go as the contract says`, (t) => {
  t.diagnostic(playStories(stage, seed, STORIES));
});
