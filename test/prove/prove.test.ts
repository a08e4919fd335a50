import assert from "node:assert/strict";
import { existsSync, rmSync } from "node:fs";
import path from "node:path";
import { before, test } from "node:test";
import { systemClock } from "../../src/kit/clock.ts";
import { moments, planKills } from "../../src/prove/kills.ts";
import { prove } from "../../src/prove/prove.ts";
import type { Program } from "../../src/prove/scratch-box.ts";
import { program } from "../support/program.ts";

let box: Program;
before(async () => {
  box = await program();
});

test("a box that is killed at every kind of moment loses nothing", async () => {
  const { verdict, directory } = await prove({
    ...{ program: box, seed: 11, kills: moments.length, clock: systemClock },
  });
  assert.deepEqual(verdict.violations, []);
  assert.deepEqual(verdict.unproven, []);
  assert.ok(verdict.ok);
  assert.equal(existsSync(directory), false);
  assert.deepEqual(new Set(Object.values(verdict.figures.kills)), new Set([1]));
  const { events, named } = verdict.figures;
  assert.ok(events.accepted > 50, "too little was fed to prove anything");
  assert.ok(named.firings > 5 && named.ends > 0, "too little was said of names");
});

test("a box that forgets one line a start is found out", async (t) => {
  const liar: Program = [process.execPath, path.join(import.meta.dirname, "liar.ts"), ...box];
  const { verdict, directory } = await prove({
    ...{ program: liar, seed: 12, kills: 3, clock: systemClock },
  });
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  assert.equal(verdict.ok, false);
  const broken = verdict.violations.map(({ promise }) => promise);
  assert.ok(broken.includes("every accepted event is stored"), broken.join(", "));
  assert.ok(existsSync(directory), "the data of a failed proof is kept");
});

test("a box that does not come back is a broken promise, too", async (t) => {
  const script = 'for word; do test -e "$word/box.db" && exit 65; done; exec "$0" "$@"';
  const { verdict, directory } = await prove({
    ...{ program: ["sh", "-c", script, ...box], seed: 13, kills: 2, clock: systemClock },
  });
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  assert.equal(verdict.ok, false);
  assert.deepEqual(
    verdict.violations.map(({ promise }) => promise),
    ["the box ends only when it is killed"],
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
