import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import type { TestContext } from "node:test";
import type { Program } from "../../../src/app/prove/scratch-box.ts";
import { spoiltStores } from "../../scenarios/nodes/programs.ts";
import { postgresTest, testDatabase } from "../../support/postgres.ts";
import { program } from "../../support/program.ts";
import { proved } from "./proved.ts";

async function provedOn(t: TestContext, box: Program, seed: number) {
  const { url } = await testDatabase(t, { empty: true });
  const database = { BOX_DATABASE: url };
  const run = await proved({ program: box, database, seed, kills: 9 });
  t.after(() => rmSync(run.directory, { recursive: true, force: true }));
  return { ...run, again: () => proved({ program: box, database, seed, kills: 1 }) };
}

postgresTest("two machines and a database lose nothing of what was answered", async (t) => {
  const { verdict, told, again } = await provedOn(t, await program(), 21);
  assert.deepEqual(verdict.violations, [], told);
  assert.ok(verdict.figures.events.accepted > 50, told);
  assert.equal(verdict.figures.takeMs?.times, 3, told);
  await assert.rejects(again(), /no box starts with the database, which must be empty/);
});

/** What a busy machine may break as well. */
const FALLS = "the box ends only when it is killed";
/** Whether a kill falls between an answer and its commit in the database is chance. */
const SEEDS = [22, 23, 24];

postgresTest("what is answered before the database has it is found out", async (t) => {
  const liar: Program = [process.execPath, await spoiltStores("events don't wait")];
  const told: string[] = [];
  for (const seed of SEEDS) {
    const run = await provedOn(t, liar, seed);
    if (run.verdict.violations.some(({ promise }) => promise !== FALLS)) return;
    told.push(run.told);
  }
  assert.fail(told.join());
});
