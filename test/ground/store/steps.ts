/**
 * Counts what a process does to files and databases, and keeps what a kill before one of these steps
 * would leave: for programs of tests that must survive a kill anywhere. Imported before what it watches.
 */
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { basename, join } from "node:path";
import Database from "better-sqlite3";

let before: ((step: number, name: string) => void) | null = null;
let taken = 0;

/** From now on calls `does` before each step, with its number and what it is: "renameSync box.db". Its own aren't any. */
export function beforeEach(does: (step: number, name: string) => void): void {
  taken = 0;
  before = does;
}

/**
 * From now on copies `directory` before each step, or each of some, to a folder in `into` that has the step's number as
 * its name. A kill leaves the files as they are there; a process that dies at a step would have to be started for each.
 */
export function keepEach(directory: string, into: string, every = 1): void {
  beforeEach((step) => {
    if (step % every === 0) fs.cpSync(directory, join(into, String(step)), { recursive: true });
  });
}

export function stepsTaken(): number {
  return taken;
}

/** One step; 0, so that it can be an SQL function. */
export function step(name = ""): number {
  const run = before;
  taken += 1;
  // What it does itself is no step.
  before = null;
  const now = taken;
  run?.(now, name);
  [before, taken] = [run, now];
  return 0;
}

type Methods = Record<string, (...args: unknown[]) => unknown>;

function watch(object: Methods, names: readonly string[]): void {
  for (const name of names) {
    const real = object[name];
    if (real === undefined) throw new Error(`no ${name}`);
    object[name] = function (this: unknown, ...args) {
      step(`${name} ${basename(String(args[0] ?? ""))}`);
      return real.apply(this, args);
    };
  }
}

watch(fs as unknown as Methods, [
  "mkdirSync",
  "linkSync",
  "openSync",
  "fsyncSync",
  "rmSync",
  "renameSync",
  "copyFileSync",
]);
syncBuiltinESMExports();
watch(Database.prototype as unknown as Methods, ["exec", "pragma", "prepare", "close"]);
