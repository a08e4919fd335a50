import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import type { Program } from "../../src/app/prove/scratch-box.ts";
import { postgresTest } from "../support/postgres.ts";
import { type BoxFaultName, boxFaults, spoiltBox } from "./nodes/programs.ts";
import { type Blow, IN_VAIN, standbyStory } from "./standby.ts";

/**
 * Two machines of one box whose program has a fault: the blow that shows it finds it, and finds nothing without it.
 *
 *     node --test --test-name-pattern=planted test/scenarios/standby-faults.deep.ts
 */

const FOUND_BY: Record<BoxFaultName, Blow> = {
  "events don't wait": "cut, then killed",
  "what leaves doesn't wait": "cut, then killed",
  "anybody writes the box": "SIGSTOP",
  "answers don't wait": "SIGSTOP",
  "an epoch isn't raised, and a process isn't named": "SIGSTOP",
  "no id is skipped after an owner that was lost": "owner cut",
  "a box is taken by who has just heard the database": "both cut",
  "what is confirmed alone isn't noted": "owner cut",
  "datagrams aren't kept while nobody serves": "SIGKILL",
};
/** In the moment in which a machine takes a port over, a few are lost. */
const FEW = 5;

async function story(t: TestContext, blow: Blow, first?: Program): Promise<void> {
  let isSetUp = false;
  const look = async () => {
    isSetUp = true;
  };
  try {
    const seen = await standbyStory(t, [blow], { look, isLinked: true, ...(first && { first }) });
    const lost = seen.reduce((sum, { lived }) => sum + lived.lost, 0);
    assert.ok(lost <= FEW, `${lost} datagrams are lost that came to a machine that lived`);
  } catch (error) {
    if (isSetUp) throw error;
    throw new Error(`the machines can't be set up: ${error}`, { cause: error });
  }
}

/** A promise was broken. A story that merely takes too long has found nothing, but whatever is answered rings soon. */
const isBroken = (error: unknown) =>
  error instanceof assert.AssertionError &&
  (error.message === `${IN_VAIN}each page has rung` || !error.message.startsWith(IN_VAIN));

for (const blow of new Set(Object.values(FOUND_BY)))
  postgresTest(`${blow}: without a fault nothing is found`, (t) => story(t, blow));

for (const fault of Object.keys(boxFaults) as BoxFaultName[])
  postgresTest(`planted, that ${fault}: it is found`, async (t) => {
    const first: Program = [process.execPath, await spoiltBox(fault)];
    const found = await story(t, FOUND_BY[fault], first).then(
      () => null,
      (error: unknown) => error,
    );
    t.diagnostic(String(found).slice(0, 200));
    assert.ok(isBroken(found), String(found));
  });
