import assert from "node:assert/strict";
import { mkdirSync, readFileSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import Database from "better-sqlite3";
import { createUpgrades } from "../../src/app/box-upgrade.ts";
import { systemClock } from "../../src/ground/kit/clock.ts";
import { silentLog } from "../../src/ground/kit/log.ts";
import { StoreFault } from "../../src/ground/store/faults.ts";
import { checkHeader } from "../../src/ground/store/header.ts";
import { migrations } from "../../src/ground/store/migrations.ts";
import { upgradeNeeds } from "../../src/ground/store/upgrade.ts";
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

test("a store whose thread doesn't start stays as it is", async (t) => {
  const path = olderStore(t);
  const clock = handClock();
  const upgraded = upgradesOf(t, {}, { clock })(path);
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

/** Upgrades the first store no sooner than the rest are done, or would be. Says whether they were done before it. */
async function withFirstHeld(
  [one, ...others]: readonly [string, ...string[]],
  upgrade: (path: string) => Promise<void>,
  longest = 1_000,
) {
  const held = new Database(one);
  held.pragma("journal_mode = WAL");
  held.exec("BEGIN IMMEDIATE");
  const over = new AbortController();
  const first = upgrade(one);
  // It has its turn.
  await new Promise((resolve) => setImmediate(resolve));
  const done = Promise.all(others.map(upgrade));
  const wouldBe = pause(longest, false, { signal: over.signal }).catch(() => false);
  const isBeside = await Promise.race([done.then(() => true), wouldBe]);
  over.abort();
  held.close();
  await Promise.all([first, done]);
  return isBeside;
}

/** Whether a store's copy was made only when the other store had its new schema. */
const isAfter = (path: string, other: string) =>
  statSync(`${path}.schema-1`).mtimeMs >= statSync(other).mtimeMs;

test("large stores are upgraded one after the other", async (t) => {
  const paths = [olderStore(t), olderStore(t), olderStore(t)] as const;
  await withFirstHeld(paths, upgradesOf(t));
  const [first, second, third] = paths;
  assert.ok(isAfter(second, first) && isAfter(third, second));
});

for (const isRoom of [true, false])
  test(`a small store ${isRoom ? "doesn't wait" : "waits"} for a large one where there is ${isRoom ? "" : "no "}room beside it`, async (t) => {
    const [large, small] = [olderStore(t), olderStore(t, 0)];
    const both = upgradeNeeds(LARGE) + upgradeNeeds(statSync(small).size);
    const free = () => (isRoom ? both : both - 1);
    const upgrade = upgradesOf(t, { free });
    assert.equal(await withFirstHeld([large, small], upgrade, isRoom ? 4_000 : 1_000), isRoom);
    assert.equal(isAfter(small, large), !isRoom);
  });

test("a large store that waits for another one takes no room from a small one", async (t) => {
  const [first, second, small] = [olderStore(t), olderStore(t), olderStore(t, 0)];
  const two = 2 * upgradeNeeds(LARGE);
  const upgrade = upgradesOf(t, { free: () => two });
  const held = new Database(first);
  held.pragma("journal_mode = WAL");
  held.exec("BEGIN IMMEDIATE");
  const large = Promise.all([upgrade(first), upgrade(second)]);
  const over = new AbortController();
  const late = pause(4_000, "late", { signal: over.signal }).catch(() => "");
  const what = await Promise.race([upgrade(small).then(() => "done"), late]);
  over.abort();
  held.close();
  await large;
  assert.equal(what, "done");
});

test("a store stays as it is where its thread hasn't the memory for its code", async (t) => {
  const path = olderStore(t);
  await assert.rejects(
    upgradesOf(t, { heapMb: 3 })(path),
    (error) => error instanceof StoreFault && error.message.includes("isn't upgraded"),
  );
  assert.equal(checkHeader(path, "box").userVersion, 1);
});
