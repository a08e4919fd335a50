import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { outdated } from "../../../src/records/backup/scheduled.ts";
import { verifyBackup } from "../../../src/records/backup/verify.ts";
import { testBox } from "../../support/box.ts";
import { type HandClock, handClock } from "../../support/clock.ts";
import { scratch } from "../../support/scratch.ts";

const { setTimeout: pause } = process.getBuiltinModule("node:timers/promises");

/** Turns the clock on by a second at a time: what is read of a directory comes when it comes, and is then acted on. */
async function until(clock: HandClock, condition: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; !(await condition()); tries++) {
    assert.ok(tries < 2400);
    await clock.turn(1000);
    await pause(100);
  }
}

const databases = (dir: string) =>
  readdirSync(dir)
    .filter((name) => name.endsWith(".db") && !name.startsWith("."))
    .sort();

test("hourly backups stay for a day, then the last of each day, and no more than told", () => {
  const nameAt = (hour: number) =>
    `box-${new Date(hour * 3_600_000).toISOString().slice(0, 19).replaceAll(":", "-")}Z.db`;
  const first = Date.UTC(2026, 0, 1, 9) / 3_600_000;
  let there: string[] = [];
  for (let hour = first; hour < first + 10 * 24; hour++) {
    const made = nameAt(hour);
    there.push(made);
    const gone = outdated(there, made, 30);
    there = there.filter((name) => !gone.includes(name));
  }
  const last = first + 10 * 24 - 1;
  const hourly = Array.from({ length: 24 }, (_, i) => nameAt(last - i));
  const daily = there.filter((name) => !hourly.includes(name)).toSorted();
  assert.equal(there.length, 30);
  assert.deepEqual(
    daily.map((name) => name.slice(4, 17)),
    [...[5, 6, 7, 8, 9].map((day) => `2026-01-0${day}T23`), "2026-01-10T08"],
  );
  const made = nameAt(last);
  assert.deepEqual(outdated([...hourly, nameAt(last + 50)], made, 24), [nameAt(last + 50)]);
  assert.deepEqual(outdated([made], made, 1), []);
});

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
  await until(clock, () => databases(dir).length === 1);
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
  await until(
    clock,
    () => databases(dir).length === 3 && !databases(dir).some((n) => n.includes("2020")),
  );
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
  const readyz = () => box.api("GET", "/readyz", undefined, null);
  await until(clock, async () => (await readyz()).body.status === "degraded");
  const ready = await readyz();
  const check = ready.body.checks.find(({ name }: { name: string }) => name === "backup");
  assert.deepEqual([ready.status, ready.body.status, check.ok], [200, "degraded", false]);
  assert.match(check.detail, /the scheduled backup fails: look at the log/);
  assert.ok(!check.detail.includes(parent));
  const token = await box.project("shop");
  assert.equal((await box.ingest(token, { message: "goes on" })).status, 202);
  rmSync(dir);
  await clock.turn(901_000);
  await until(clock, () => existsSync(dir) && databases(dir).length === 1);
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
  await until(clock, () => databases(dir).length === 2);
  const [oldest, made = ""] = databases(dir);
  assert.equal(oldest, before);
  assert.ok(!ahead.includes(made));
});

test("a clock that was behind at the start puts the next off for an hour, and not for years", async (t) => {
  const dir = scratch(t);
  const right = Date.now();
  const clock = handClock(right);
  const box = await testBox({ backupDir: dir }, clock);
  t.after(() => box.stop());
  await clock.turn(1000);
  const isDone = (n: number) =>
    until(clock, async () => {
      const { running, backups } = (await box.api("GET", "/v1/backups")).body;
      return !running && backups.length === n;
    });
  await isDone(1);
  await box.restart(() => clock.setWall(right - 5 * 365 * 86_400_000));
  await clock.turn(1000);
  clock.setWall(right + 25 * 3_600_000);
  await clock.turn(2000);
  await clock.turn(3_600_000);
  await isDone(2);
});

test("a directory for backups that doesn't answer, as a share without its server, holds up no page", async (t) => {
  const dir = scratch(t);
  const name = "box-2026-01-01T00-00-00Z.db";
  writeFileSync(join(dir, name), "");
  // To read it waits until somebody writes.
  execFileSync("mkfifo", [join(dir, `${name}.json`)]);
  const clock = handClock(Date.now());
  const box = await testBox({ backupDir: dir }, clock);
  await clock.turn(1000);
  const from = performance.now();
  const token = await box.project("shop");
  assert.equal((await box.ingest(token, { message: "goes on" })).status, 202);
  for (let i = 0; i < 100; i++)
    assert.equal(
      (await box.api("GET", "/v1/backups")).status,
      200,
      "and so many looks take no thread each",
    );
  await box.stop();
  assert.ok(performance.now() - from < 10_000);
  execFileSync("timeout", ["5", "sh", "-c", 'echo "{}" > "$0"', join(dir, `${name}.json`)]);
});
