/** `first-start.ts PATH N`: opens a store at PATH and kills itself before the N-th step of it. */
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";

const [, , path = "", count = ""] = process.argv;
let left = Number(count);

function step(): void {
  left -= 1;
  if (left === 0) process.kill(process.pid, "SIGKILL");
}

for (const name of ["mkdirSync", "linkSync", "openSync", "fsyncSync", "rmSync", "readdirSync"]) {
  const module = fs as unknown as Record<string, (...args: unknown[]) => unknown>;
  const real = module[name];
  if (real === undefined) throw new Error(name);
  module[name] = (...args) => {
    step();
    return real(...args);
  };
}
syncBuiltinESMExports();

const { default: Database } = await import("better-sqlite3");
const { pragma, exec } = Database.prototype;
Database.prototype.pragma = function (this: never, ...args) {
  step();
  return pragma.apply(this, args);
} as typeof pragma;
Database.prototype.exec = function (this: never, ...args) {
  step();
  return exec.apply(this, args);
};

const { openStore } = await import("../../src/store/store.ts");
const { systemClock } = await import("../../src/kit/clock.ts");
const { systemRandom } = await import("../../src/kit/random.ts");
left = Number(count);
openStore({ path, kind: "box", clock: systemClock, random: systemRandom }).close();
