/**
 * `ladder-kill.ts PATH INTO EVERY`: changes the ladder of the store at PATH and lets its alerts follow, keeps its folder as it
 * is before each EVERY-th write in INTO, and prints how many there are.
 */
import { dirname } from "node:path";
import Database from "better-sqlite3";
import { keepEach, step, stepsTaken } from "../ground/store/steps.ts";
import { changeAndFollow, openLater } from "./ladder-change.ts";

const [, , path = "", into = "", every = ""] = process.argv;
const store = openLater(path);
// Each statement that is run is a write.
const statements = Object.getPrototypeOf(new Database(":memory:").prepare("SELECT 1"));
const { run } = statements;
statements.run = function (this: unknown, ...values: unknown[]) {
  step();
  return run.apply(this, values);
};
keepEach(dirname(path), into, Number(every));
changeAndFollow(store);
process.stdout.write(String(stepsTaken()));
