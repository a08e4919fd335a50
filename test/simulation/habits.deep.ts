import { test } from "node:test";
import { seed } from "../support/seed.ts";
import { playHabitsWell } from "./habits/stories.ts";

const STORIES = Number(process.env["RUNS"] ?? 500);

test(`${STORIES} stories of what is new, unusual or missing go as the contract says, over kills and restores`, (t) => {
  t.diagnostic(playHabitsWell(seed, STORIES));
});
