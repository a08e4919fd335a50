import assert from "node:assert/strict";
import { test } from "node:test";
import { boxConfig } from "../../src/app/config.ts";

const backups = (hours?: string, keep?: string) =>
  boxConfig({
    backupDir: "/backups",
    ...(hours !== undefined && { backupHours: hours }),
    ...(keep !== undefined && { backupKeep: keep }),
  }).backups;

test("a directory for backups alone loses an hour at most, and keeps a day of hours and a week of days", () => {
  assert.deepEqual(backups(), { dir: "/backups", hours: 1, keep: 30 });
  assert.equal(backups("0.5")?.hours, 0.5);
  assert.equal(backups("0.02")?.hours, 0.02);
});

test("what is below a bound is refused, not raised", () => {
  for (const hours of ["0.001", "0", "-1", "", "x", "Infinity"])
    assert.throws(() => backups(hours), /--backup-hours must be a number of at least 0\.02, not/);
  for (const keep of ["0", "1.5", "-1", "x"])
    assert.throws(() => backups("1", keep), /--backup-keep must be a whole number of at least 1/);
  assert.throws(() => boxConfig({ backupHours: "0.001" }), /--backup-hours/);
});
