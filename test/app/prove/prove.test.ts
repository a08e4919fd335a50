import assert from "node:assert/strict";
import { existsSync, rmSync } from "node:fs";
import path from "node:path";
import { before } from "node:test";
import { moments, planKills } from "../../../src/app/prove/kills.ts";
import type { Program } from "../../../src/app/prove/scratch-box.ts";
import { long, test } from "../../support/long.ts";
import { program } from "../../support/program.ts";
import { proved } from "./proved.ts";

let box: Program;
before(async () => {
  box = await program();
});

/** So few kills may leave no time for a link to be pressed: what a run doesn't prove, another may. */
const SEEDS = [11, 14, 15, 16];

long("a box that is killed at every kind of moment loses nothing", async (t) => {
  let unproven: string[] | null = null;
  for (const seed of SEEDS) {
    const { verdict, directory, told } = await proved({
      program: box,
      seed,
      kills: moments.length,
    });
    t.after(() => rmSync(directory, { recursive: true, force: true }));
    assert.deepEqual(verdict.violations, [], told);
    assert.deepEqual(new Set(Object.values(verdict.figures.kills)), new Set([1]));
    const { events, named, quiet } = verdict.figures;
    assert.ok(events.accepted > 50, `too little was fed to prove anything: ${told}`);
    assert.ok(named.firings > 5 && named.ends > 0, `too little was said of names: ${told}`);
    assert.ok(quiet.silences > 1 && quiet.rings > 1, `too little was kept quiet: ${told}`);
    assert.equal(existsSync(directory), !verdict.ok, "the data of a proof is dropped");
    unproven = verdict.unproven.filter((one) => unproven?.includes(one) ?? true);
    if (unproven.length === 0) break;
  }
  assert.deepEqual(unproven, []);
});

long("a box that forgets one line a start is found out", async (t) => {
  const liar: Program = [process.execPath, path.join(import.meta.dirname, "liar.ts"), ...box];
  const { verdict, directory, told } = await proved({ program: liar, seed: 12, kills: 3 });
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  assert.equal(verdict.ok, false, told);
  // Whether the lines' senders had heard of them is chance; alerts had counted them.
  const found = new Set(["every accepted event is stored", "alerts count what is stored"]);
  assert.ok(
    verdict.violations.some(({ promise }) => found.has(promise)),
    told,
  );
  assert.ok(existsSync(directory), "the data of a failed proof is kept");
});

long("a box that does not come back is a broken promise, too", async (t) => {
  const script = 'for word; do test -e "$word/box.db" && exit 65; done; exec "$0" "$@"';
  const { verdict, directory, told } = await proved({
    program: ["sh", "-c", script, ...box],
    seed: 13,
    kills: 2,
  });
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  assert.equal(verdict.ok, false, told);
  assert.deepEqual(
    verdict.violations.map(({ promise }) => promise),
    ["the box ends only when it is killed"],
    told,
  );
  assert.match(verdict.violations[0]?.example ?? "", /did not start \(exit code 65\)/);
});

test("a seed fixes the moments, and each kind has its turn", () => {
  const plan = planKills(60, 7);
  assert.deepEqual(plan, planKills(60, 7));
  assert.notDeepEqual(plan, planKills(60, 8));
  assert.equal(plan.length, 60);
  for (const moment of moments)
    assert.ok(plan.filter((planned) => planned === moment).length >= 6, moment);
  assert.deepEqual(planKills(0, 1), []);
});
