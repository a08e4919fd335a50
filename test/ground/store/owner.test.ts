import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  chownSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { atDesk } from "../../../src/app/offline/desk.ts";
import { withHosted } from "../../../src/app/offline/hosted.ts";
import { addKeyFile } from "../../../src/app/offline/key-file.ts";
import { seePeople } from "../../../src/app/offline/people.ts";
import { loadKeyRing, openKeyRing } from "../../../src/ground/kit/key-ring.ts";
import { systemRandom } from "../../../src/ground/kit/random.ts";
import { StoreFault } from "../../../src/ground/store/faults.ts";
import { isLocked, lockDirectory } from "../../../src/ground/store/lock.ts";
import { placeOf } from "../../../src/records/backup/place.ts";
import { restoreBackup } from "../../../src/records/backup/restore.ts";
import { takeBackup } from "../../../src/records/backup/take.ts";
import { handClock } from "../../support/clock.ts";
import { servedBefore } from "../../support/data.ts";
import { scratch } from "../../support/scratch.ts";

/** The service's user; the tests of what root leaves behind need to be root. */
const SERVICE = 65_534;
const skip =
  process.geteuid?.() === 0 ? false : "SKIPPED: not root, so nothing is known of what root leaves";

const desk = (data: string) => ({ data, clock: handClock(), random: systemRandom });

/** A data directory of the service's user with a store and its keys, as a served box has it. */
async function servedBy(t: TestContext): Promise<{ outside: string; data: string }> {
  const outside = scratch(t);
  const data = join(outside, "data");
  servedBefore(data, "box");
  await atDesk(desk(data), "pair-code", { email: "ann@example.org" });
  openKeyRing({ dir: data, name: "box.key", inUse: [] });
  for (const name of [".", ...readdirSync(data)]) chownSync(join(data, name), SERVICE, SERVICE);
  return { outside, data };
}

/** What in `data` belongs to anybody else than the service. */
function strange(data: string): string[] {
  return readdirSync(data, { recursive: true, encoding: "utf8" }).filter(
    (name) => lstatSync(join(data, name)).uid !== SERVICE,
  );
}

test("what root makes in a data directory belongs to the directory's owner", {
  skip,
}, async (t) => {
  const { outside, data } = await servedBy(t);
  const backup = join(outside, "backup.db");
  takeBackup({ place: placeOf(data), file: backup, withKey: true, clock: handClock() });
  assert.deepEqual(strange(data), []);
  await atDesk(desk(data), "key-file rotate");
  assert.deepEqual(strange(data), []);
  const other = join(outside, "other.key");
  writeFileSync(other, systemRandom.bytes(64), { mode: 0o600 });
  addKeyFile(desk(data), other);
  assert.deepEqual(strange(data), []);
  await atDesk(desk(data), "pair-code", {});
  assert.deepEqual(strange(data), []);
  const keys = loadKeyRing(data, "box.key").ring?.keys.size;
  assert.equal(keys, 4);
  const restore = { file: backup, replace: true, pending: "auto" as const, clock: handClock() };
  restoreBackup({ ...restore, place: placeOf(data) });
  assert.deepEqual(strange(data), []);
  const fresh = join(outside, "fresh");
  mkdirSync(fresh, { mode: 0o700 });
  chownSync(fresh, SERVICE, SERVICE);
  restoreBackup({ ...restore, place: placeOf(fresh) });
  assert.deepEqual(strange(fresh), []);
  assert.ok(existsSync(join(fresh, "box.key")));
});

test("the hosted role's too", { skip }, async (t) => {
  const data = join(scratch(t), "data");
  mkdirSync(data, { mode: 0o700 });
  chownSync(data, SERVICE, SERVICE);
  servedBefore(data, "hosted");
  await withHosted(desk(data), async (operator) => {
    const { tenant_id } = await operator.addTenant({ kind: "hosted" });
    await operator.addKey({ tenant: tenant_id, email: "ann@example.org" });
  });
  lockDirectory(data)();
  assert.deepEqual(strange(data), []);
});

/** A file of root's that a planted link leads to, and how it was. */
function treasure(outside: string) {
  const file = join(outside, "treasure");
  writeFileSync(file, "root's own\n", { mode: 0o600 });
  return {
    file,
    mustBeUntouched() {
      assert.equal(readFileSync(file, "utf8"), "root's own\n");
      const { uid, mode, nlink } = statSync(file);
      assert.deepEqual([uid, mode & 0o777], [0, 0o600]);
      return nlink;
    },
  };
}

const plant: [string, (target: string, path: string) => void][] = [
  ["a link", (target, path) => symlinkSync(target, path)],
  ["a link to nothing", (target, path) => symlinkSync(`${target}-new`, path)],
  ["a hard link", (target, path) => linkSync(target, path)],
  ["a pipe", (_target, path) => void execFileSync("mkfifo", [path])],
  ["a directory", (_target, path) => mkdirSync(path)],
];

/** Every file that a command of root opens in the directory, and the command. */
const openings: [string, (data: string, outside: string) => unknown][] = [
  ["serve.lock", (data) => lockDirectory(data)()],
  ["serve.lock", (data) => isLocked(data)],
  ["box.db", (data) => atDesk(desk(data), "pair-code", {})],
  [
    "box.db",
    (data, outside) =>
      takeBackup({
        place: placeOf(data),
        file: join(outside, "b"),
        withKey: false,
        clock: handClock(),
      }),
  ],
  ["box.db-wal", (data) => atDesk(desk(data), "pair-code", {})],
];

for (const [what, lay] of plant) {
  test(`root follows nothing that the service laid: ${what}`, { skip }, async (t) => {
    for (const [name, open] of openings) {
      const { outside, data } = await servedBy(t);
      const own = treasure(outside);
      const path = join(data, name);
      rmSync(path, { force: true });
      lay(own.file, path);
      await assert.rejects(async () => open(data, outside), StoreFault, `${name} is ${what}`);
      own.mustBeUntouched();
      assert.ok(!existsSync(`${own.file}-new`), `${name} is ${what}`);
    }
  });

  test(`nor as a key: ${what}`, { skip }, async (t) => {
    const { outside, data } = await servedBy(t);
    const own = treasure(outside);
    writeFileSync(own.file, "root's own\n");
    const path = join(data, "box.key");
    rmSync(path);
    lay(own.file, path);
    await assert.rejects(
      atDesk(desk(data), "key-file rotate"),
      /box\.key (?:holds no usable key|is a link to)/,
    );
    own.mustBeUntouched();
    assert.ok(!existsSync(`${own.file}-new`));
  });
}

test("a link in a directory of root's own is root's own affair", { skip }, async (t) => {
  const outside = scratch(t);
  const data = join(outside, "data");
  servedBefore(data, "box");
  await atDesk(desk(data), "pair-code", { email: "ann@example.org" });
  renameSync(join(data, "box.db"), join(outside, "elsewhere.db"));
  symlinkSync(join(outside, "elsewhere.db"), join(data, "box.db"));
  assert.equal(
    seePeople(desk(data), (people) => people.accounts().length),
    0,
  );
});
