import assert from "node:assert/strict";
import { mkdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import Database from "better-sqlite3";
import { upgradeAside } from "../../src/app/box-upgrade.ts";
import { systemClock } from "../../src/ground/kit/clock.ts";
import { silentLog } from "../../src/ground/kit/log.ts";
import { StoreFault } from "../../src/ground/store/faults.ts";
import { checkHeader } from "../../src/ground/store/header.ts";
import { migrations } from "../../src/ground/store/migrations.ts";
import { handClock } from "../support/clock.ts";
import { scratch } from "../support/scratch.ts";

/** A large store of an older program, upgraded in a thread. */

const LARGE = 65 * 1024 * 1024;
const deps = { clock: systemClock, log: silentLog };

function olderStore(t: TestContext): string {
  const path = join(scratch(t), "box.db");
  const db = new Database(path);
  db.pragma("foreign_keys = OFF");
  const text = readFileSync(join(import.meta.dirname, "../fixtures/schema-1.sql"), "utf8");
  db.exec(`BEGIN; ${text} COMMIT`);
  db.close();
  // SQLite doesn't look at what lies behind its pages.
  truncateSync(path, LARGE);
  return path;
}

test("a large store is upgraded in a thread", async (t) => {
  const path = olderStore(t);
  await upgradeAside(path, deps);
  assert.equal(checkHeader(path, "box").userVersion, migrations("box").length);
});

test("an upgrade that a thread can't do isn't tried again by whoever opens the store", async (t) => {
  const path = olderStore(t);
  // The copy can't be laid there.
  mkdirSync(`${path}.schema-1`);
  writeFileSync(join(`${path}.schema-1`, "file"), "");
  await assert.rejects(
    upgradeAside(path, deps),
    (error) => error instanceof StoreFault && error.message.includes(path),
  );
  assert.equal(checkHeader(path, "box").userVersion, 1);
});

test("where others are served, a store whose thread doesn't start stays as it is", async (t) => {
  const path = olderStore(t);
  const clock = handClock();
  const upgraded = upgradeAside(path, { clock, log: silentLog }, { servesOthers: true });
  upgraded.catch(() => {});
  // Long before a thread has started.
  await new Promise((resolve) => setImmediate(resolve));
  await clock.turn(15_000);
  await assert.rejects(
    upgraded,
    (error) => error instanceof StoreFault && error.kind === "unavailable",
  );
  assert.equal(checkHeader(path, "box").userVersion, 1);
});

test("stores are upgraded one after the other", async (t) => {
  const paths = [olderStore(t), olderStore(t), olderStore(t)];
  const schema = () => paths.map((path) => checkHeader(path, "box").userVersion);
  const seen: number[][] = [];
  const log = { ...silentLog, info: () => void seen.push(schema()) } as typeof silentLog;
  await Promise.all(paths.map((path) => upgradeAside(path, { clock: systemClock, log })));
  const now = migrations("box").length;
  assert.deepEqual(seen, [
    [1, 1, 1],
    [now, 1, 1],
    [now, now, 1],
  ]);
});
