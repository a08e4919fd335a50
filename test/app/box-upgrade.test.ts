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
