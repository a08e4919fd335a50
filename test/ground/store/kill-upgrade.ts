/** `kill-upgrade.ts PATH INTO`: upgrades the store at PATH, keeps its folder as it is before each step in INTO, and prints how many there are. */
import { dirname } from "node:path";
import Database from "better-sqlite3";
import { keepEach, step, stepsTaken } from "./steps.ts";

const [, , path = "", into = ""] = process.argv;
const { openStore } = await import("../../../src/ground/store/store.ts");
const { systemClock } = await import("../../../src/ground/kit/clock.ts");
const { systemRandom } = await import("../../../src/ground/kit/random.ts");
const { laterWith } = await import("./later.ts");

const { exec } = Database.prototype;
Database.prototype.exec = function (this: Database.Database, sql) {
  // Within a migration's text there are steps, too.
  if (sql.startsWith("BEGIN")) this.function("step", step);
  return exec.call(this, sql);
};
keepEach(dirname(path), into);
openStore({
  path,
  kind: "box",
  clock: systemClock,
  random: systemRandom,
  migrations: laterWith("SELECT step();"),
}).close();
process.stdout.write(String(stepsTaken()));
