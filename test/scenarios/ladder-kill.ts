/**
 * `ladder-kill.ts PATH N`: changes the ladder of the store at PATH and lets its alerts follow; dies before its N-th write.
 * 0: prints how many there are.
 */
import Database from "better-sqlite3";
import { dieBefore, step, stepsTaken } from "../ground/store/steps.ts";
import { changeAndFollow, openLater } from "./ladder-change.ts";

const [, , path = "", count = ""] = process.argv;
const store = openLater(path);
// Each statement that is run is a write.
const statements = Object.getPrototypeOf(new Database(":memory:").prepare("SELECT 1"));
const { run } = statements;
statements.run = function (this: unknown, ...values: unknown[]) {
  step();
  return run.apply(this, values);
};
dieBefore(Number(count));
changeAndFollow(store);
process.stdout.write(String(stepsTaken()));
