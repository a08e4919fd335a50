/**
 * Counts what a process does to files and databases, and kills it before one of these steps: for
 * programs of tests that must survive a kill anywhere. Imported before what it watches.
 */
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import Database from "better-sqlite3";

let fatal = 0;
let taken = 0;

/** From now on counts; dies before step `n` (0 = never). */
export function dieBefore(n: number): void {
  fatal = n;
  taken = 0;
}

export function stepsTaken(): number {
  return taken;
}

/** One step; 0, so that it can be an SQL function. */
export function step(): number {
  taken += 1;
  if (taken === fatal) process.kill(process.pid, "SIGKILL");
  return 0;
}

type Methods = Record<string, (...args: unknown[]) => unknown>;

function watch(object: Methods, names: readonly string[]): void {
  for (const name of names) {
    const real = object[name];
    if (real === undefined) throw new Error(`no ${name}`);
    object[name] = function (this: unknown, ...args) {
      step();
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
