import { test } from "node:test";
import { seed } from "../support/seed.ts";
import { playQuietWell } from "./quiet/stories.ts";

const STORIES = 5000;

test(`${STORIES} stories of silences, snoozes, drills and jobs that must report break no law of theirs`, async (t) => {
  t.diagnostic(await playQuietWell(seed, STORIES));
});
