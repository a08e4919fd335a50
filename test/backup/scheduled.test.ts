import assert from "node:assert/strict";
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { verifyBackup } from "../../src/backup/verify.ts";
import { testBox } from "../support/box.ts";
import { handClock } from "../support/clock.ts";
import { scratch } from "../support/scratch.ts";

const { setTimeout: pause } = process.getBuiltinModule("node:timers/promises");

async function until(condition: () => boolean): Promise<void> {
  for (let tries = 0; !condition(); tries++) {
    assert.ok(tries < 9000);
    await pause(10);
  }
}

const databases = (dir: string) =>
  readdirSync(dir)
    .filter((name) => name.endsWith(".db") && !name.startsWith("."))
    .sort();

test("a box makes proved backups at their times, keeps as many as told, and says how old the last is", async (t) => {
  const dir = join(scratch(t), "backups");
  // What makes a backup lives in the machine's time.
  const clock = handClock(Date.now());
  const flags = { backupDir: dir, backupHours: "6", backupKeep: "2" };
  const box = await testBox(flags, clock);
  t.after(() => box.stop());
  const check = async () => {
    const { body } = await box.api("GET", "/readyz", undefined, null);
    return body.checks.find(({ name }: { name: string }) => name === "backup");
  };
  assert.deepEqual([(await check()).ok, (await check()).detail], [true, "none was ever proved"]);
  // One process was killed in the middle of one, another is making one, and the third isn't ours.
  mkdirSync(dir);
  const gone = ".box-2020-01-01T00-00-00Z.db.aside-999999999";
  const others = [`.box-2020-01-01T00-00-00Z.db.aside-${process.ppid}`, ".mine.db.aside-999999999"];
  for (const name of [gone, ...others]) mkdirSync(join(dir, name));
  await clock.turn(1000);
  await until(() => databases(dir).length === 1);
  // Its process goes on for a while: it gives the manifest its name, and what is due next is set when it ends.
  for (let running = true; running; await pause(10))
    ({ running } = (await box.api("GET", "/v1/backups")).body);
  assert.deepEqual(
    readdirSync(dir).filter((name) => name.startsWith(".")),
    others.toSorted(),
  );
  const [first = ""] = databases(dir);
  const manifest = verifyBackup(join(dir, first));
  assert.equal(manifest.tenant_id, box.tenant.id);
  assert.equal(manifest.serving, true);
  assert.match((await check()).detail, /the last one was proved \d+ s ago/);
  // Not before its time.
  const due = (manifest.taken_at + 6 * 3600) * 1000;
  await clock.turn(due - 1000 - clock.now());
  assert.deepEqual(databases(dir), [first]);
  for (const name of ["box-2020-01-01T00-00-00Z.db", "box-2020-01-01T00-00-00Z.db.json", "mine.db"])
    writeFileSync(join(dir, name), "old");
  await clock.turn(2000);
  await until(() => databases(dir).length === 3 && !databases(dir).some((n) => n.includes("2020")));
  assert.ok(databases(dir).includes("mine.db"), "what isn't a backup of its own stays");
});

test("a backup that can't be made is said, tried again, and holds up no page", async (t) => {
  const parent = scratch(t);
  const dir = join(parent, "backups");
  writeFileSync(dir, "in the way");
  const clock = handClock(Date.now());
  const box = await testBox({ backupDir: dir }, clock);
  t.after(() => box.stop());
  await clock.turn(1000);
  const ready = await box.api("GET", "/readyz", undefined, null);
  const check = ready.body.checks.find(({ name }: { name: string }) => name === "backup");
  assert.deepEqual([ready.status, ready.body.status, check.ok], [200, "degraded", false]);
  assert.match(check.detail, /the scheduled backup fails: look at the log/);
  assert.ok(!check.detail.includes(parent));
  const token = await box.project("shop");
  assert.equal((await box.ingest(token, { message: "goes on" })).status, 202);
  rmSync(dir);
  await clock.turn(901_000);
  await until(() => databases(dir).length === 1);
});

test("a stop in the middle of a backup ends it at once", async (t) => {
  const dir = join(scratch(t), "backups");
  mkdirSync(dir);
  const clock = handClock(Date.now());
  const box = await testBox({ backupDir: dir }, clock);
  await clock.turn(1000);
  await box.stop();
  assert.deepEqual(readdirSync(dir), []);
});

test("backups of a clock that was ahead put off no others, and take no places of those that follow", async (t) => {
  const dir = scratch(t);
  const clock = handClock(Date.now());
  const at = (ms: number) => {
    const stamp = `${new Date(ms).toISOString().slice(0, 19).replaceAll(":", "-")}Z`;
    const file = `box-${stamp}.db`;
    writeFileSync(join(dir, file), "");
    const said = { sha256: "0".repeat(64), size: 0, kind: "box", schema: 1, counts: {} };
    const taken_at = Math.floor(ms / 1000);
    writeFileSync(join(dir, `${file}.json`), JSON.stringify({ ...said, taken_at }));
    return file;
  };
  const YEAR = 365 * 86_400_000;
  const ahead = [at(clock.now() + YEAR), at(clock.now() + 2 * YEAR)];
  const before = at(clock.now() - YEAR);
  const box = await testBox({ backupDir: dir, backupKeep: "2" }, clock);
  t.after(() => box.stop());
  await clock.turn(1000);
  const { body } = await box.api("GET", "/v1/backups");
  assert.equal(body.running, true);
  await until(() => databases(dir).length === 2);
  const [oldest, made = ""] = databases(dir);
  assert.equal(oldest, before);
  assert.ok(!ahead.includes(made));
});
