import assert from "node:assert/strict";
import { test } from "node:test";
import { playGoodPeople } from "./people/stories.ts";
import { openPeopleStage } from "./people/story.ts";

/** Far less than what shows everything: the long form and `run.ts --people` play the rest. */
const STORIES = 4;

/** The first of seeds whose stories come to everything that is asked for, and not narrowly. */
const FROM = 7;

test(`${STORIES} stories of people, their contacts and services that fail break no law of pages`, async (t) => {
  t.diagnostic(await playGoodPeople(FROM, STORIES));
});

test("the same seed gives the same pages, to the byte; another seed others", async (t) => {
  const stage = openPeopleStage();
  t.after(() => stage.close());
  const [first, again, other] = [await stage.play(3), await stage.play(3), await stage.play(4)];
  assert.equal(first.log, again.log);
  assert.notEqual(first.log, other.log);
});
