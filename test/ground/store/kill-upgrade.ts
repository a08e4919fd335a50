/** `kill-upgrade.ts PATH N`: upgrades the store at PATH and dies before its N-th step; 0: prints how many there are. */
import Database from "better-sqlite3";
import { dieBefore, step, stepsTaken } from "./steps.ts";

const [, , path = "", count = ""] = process.argv;
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
dieBefore(Number(count));
openStore({
  path,
  kind: "box",
  clock: systemClock,
  random: systemRandom,
  migrations: laterWith("SELECT step();"),
}).close();
process.stdout.write(String(stepsTaken()));
