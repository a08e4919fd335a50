import { test } from "node:test";
import { seed } from "../support/seed.ts";
import { playGoodPeople } from "./people/stories.ts";

const STORIES = 1000;

test(`${STORIES} stories of people, their contacts and services that fail break no law of pages`, async (t) => {
  t.diagnostic(await playGoodPeople(seed, STORIES));
});
