import assert from "node:assert/strict";
import { mkdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import Database from "better-sqlite3";
import { createUpgrades } from "../../src/app/box-upgrade.ts";
import { systemClock } from "../../src/ground/kit/clock.ts";
import { silentLog } from "../../src/ground/kit/log.ts";
import { StoreFault } from "../../src/ground/store/faults.ts";
import { checkHeader } from "../../src/ground/store/header.ts";
import { migrations } from "../../src/ground/store/migrations.ts";
import { handClock } from "../support/clock.ts";
import { scratch } from "../support/scratch.ts";

/** Stores of an older program, upgraded in a thread. */

const LARGE = 65 * 1024 * 1024;
const deps = { clock: systemClock, log: silentLog };

function upgradesOf(t: TestContext, how = {}, { clock }: Pick<typeof deps, "clock"> = deps) {
  const { upgrade, close } = createUpgrades({ clock, log: silentLog }, how);
  t.after(close);
  return upgrade;
}

function olderStore(t: TestContext, bytes = LARGE): string {
  const path = join(scratch(t), "box.db");
  const db = new Database(path);
  db.pragma("foreign_keys = OFF");
  const text = readFileSync(join(import.meta.dirname, "../fixtures/schema-1.sql"), "utf8");
  db.exec(`BEGIN; ${text} COMMIT`);
  db.close();
  // SQLite doesn't look at what lies behind its pages.
  if (bytes > 0) truncateSync(path, bytes);
  return path;
}

for (const [name, bytes] of Object.entries({ small: 0, large: LARGE }))
  test(`a ${name} store is upgraded in a thread`, async (t) => {
    const path = olderStore(t, bytes);
    await upgradesOf(t)(path);
    assert.equal(checkHeader(path, "box").userVersion, migrations("box").length);
  });

test("an upgrade that a thread can't do isn't tried again by whoever opens the store", async (t) => {
  const path = olderStore(t);
  // The copy can't be laid there.
  mkdirSync(`${path}.schema-1`);
  writeFileSync(join(`${path}.schema-1`, "file"), "");
  await assert.rejects(
    upgradesOf(t)(path),
    (error) => error instanceof StoreFault && error.message.includes(path),
  );
  assert.equal(checkHeader(path, "box").userVersion, 1);
});

test("where others are served, a store whose thread doesn't start stays as it is", async (t) => {
  const path = olderStore(t);
  const clock = handClock();
  const upgraded = upgradesOf(t, { servesOthers: true }, { clock })(path);
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

test("large stores are upgraded one after the other", async (t) => {
  const paths = [olderStore(t), olderStore(t), olderStore(t)];
  const upgrade = upgradesOf(t, { servesOthers: true });
  const ended: number[] = [];
  await Promise.all(paths.map((path, n) => upgrade(path).then(() => ended.push(n))));
  assert.deepEqual(ended, [0, 1, 2]);
});

test("a store stays as it is where its thread hasn't the memory for its code", async (t) => {
  const path = olderStore(t);
  await assert.rejects(
    upgradesOf(t, { heapMb: 3 })(path),
    (error) => error instanceof StoreFault && error.message.includes("isn't upgraded"),
  );
  assert.equal(checkHeader(path, "box").userVersion, 1);
});
