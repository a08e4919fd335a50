import assert from "node:assert/strict";
import { test } from "node:test";
import { levelFrom, levelName } from "../../../src/ground/kit/level.ts";

test("levels have their names, and those between say which they are", () => {
  const rows = [100, 200, 300, 400, 500, 450, 550, 50, 0].map(levelName);
  assert.deepEqual(rows, [
    "debug",
    "info",
    "warn",
    "error",
    "critical",
    "error (450)",
    "critical (550)",
    "level (50)",
    "level (0)",
  ]);
});

test("a level is written by its name or its number, and nothing else is one", () => {
  assert.deepEqual(
    ["debug", " Info", "warn", "ERROR", "critical"].map(levelFrom),
    [100, 200, 300, 400, 500],
  );
  assert.deepEqual(["0", "450"].map(levelFrom), [0, 450]);
  assert.deepEqual(
    ["", "loud", "-1", "1e3", "4.5", "9".repeat(16)].map(levelFrom),
    Array(6).fill(null),
  );
});
