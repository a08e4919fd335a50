import assert from "node:assert/strict";
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { TestContext } from "node:test";
import { openSqlite, type SqliteDatabase } from "../../../../src/ground/store/database.ts";
import { followWal, readWalHead } from "../../../../src/ground/store/record/wal.ts";
import { inBoth, test } from "../../../support/long.ts";
import { scratch } from "../../../support/scratch.ts";
import { seed } from "../../../support/seed.ts";
import { seeded } from "../../../support/seeded.ts";
import { databaseOf } from "../../../support/wal-reader.ts";

/** SQLite's log, read by its bytes: what it says is what SQLite makes of it. */

type Draw = <T>(...of: readonly T[]) => T;

const drawn = (from: number): [draw: Draw, upTo: (most: number) => number] => {
  const random = seeded(from);
  const upTo = (most: number) => Math.floor(random() * most);
  return [(...of) => of[upTo(of.length)] as (typeof of)[number], upTo];
};

function opened(path: string, isNew = false): SqliteDatabase {
  const db = openSqlite(path, { fresh: isNew });
  // So small that a transaction writes to the log before its end.
  db.pragma("cache_size = 10");
  return db;
}

/** One change of some rows. */
function change(db: SqliteDatabase, upTo: (most: number) => number): void {
  const bytes = () => Buffer.alloc(upTo(9_000), upTo(256));
  for (let i = upTo(12); i >= 0; i--)
    db.prepare("INSERT OR REPLACE INTO things VALUES (?, ?)").run(upTo(400), bytes());
  if (upTo(4) === 0) db.prepare("DELETE FROM things WHERE id % 7 = ?").run(upTo(7));
}

const commit = (db: SqliteDatabase, upTo: (most: number) => number) =>
  db.transaction(() => change(db, upTo)).immediate();

/** Steps of the process that serves, and of others beside it. */
const steps = {
  commit: (own: SqliteDatabase, _other: SqliteDatabase, upTo: (most: number) => number) =>
    commit(own, upTo),
  rollback(own: SqliteDatabase, _other: SqliteDatabase, upTo: (most: number) => number) {
    own.exec("BEGIN IMMEDIATE");
    for (let i = 0; i < 8; i++) change(own, upTo);
    own.exec("ROLLBACK");
  },
  checkpoint: (own: SqliteDatabase, _other: SqliteDatabase, upTo: (most: number) => number) =>
    own.pragma(`wal_checkpoint(${["PASSIVE", "FULL", "RESTART", "TRUNCATE"][upTo(4)]})`),
  vacuum: (own: SqliteDatabase) => own.exec("VACUUM"),
  others: (_own: SqliteDatabase, other: SqliteDatabase, upTo: (most: number) => number) =>
    commit(other, upTo),
  othersCheckpoint: (_own: SqliteDatabase, other: SqliteDatabase, upTo: (most: number) => number) =>
    other.pragma(`wal_checkpoint(${["PASSIVE", "RESTART", "TRUNCATE"][upTo(3)]})`),
};

function story(t: TestContext, from: number) {
  const path = join(scratch(t), "box.db");
  const own = opened(path, true);
  own.exec("CREATE TABLE things (id INTEGER PRIMARY KEY, bytes BLOB)");
  const other = opened(path);
  const [draw, upTo] = drawn(from);
  own.pragma(`wal_autocheckpoint = ${draw(0, 20, 1_000)}`);
  const follower = followWal(path);
  const seen = { gaps: 0, commits: 0 };
  let copy: Buffer = Buffer.alloc(0);
  const look = () => {
    const found = follower.look();
    if (found === "gap") {
      seen.gaps++;
      copy = databaseOf(path);
    } else if (found.commits > 0) {
      seen.commits += found.commits;
      const next = Buffer.alloc(found.pageCount * 4096);
      copy.copy(next);
      for (const [page, image] of found.pages)
        if (page <= found.pageCount) image.copy(next, (page - 1) * 4096);
      copy = next;
    }
  };
  look();
  const kinds = Object.keys(steps) as (keyof typeof steps)[];
  for (let i = 0; i < 150; i++) {
    // It looks after each commit of its own; checkpoints and others come between.
    const kind = upTo(3) > 0 ? "commit" : draw(...kinds);
    steps[kind](own, other, upTo);
    if (kind === "commit" || kind === "vacuum") look();
  }
  look();
  own.pragma("wal_checkpoint(TRUNCATE)");
  assert.ok(copy.equals(readFileSync(path)), `seed ${from}: the copy has other pages`);
  follower.close();
  for (const db of [own, other]) db.close();
  return seen;
}

for (const [as, stories] of inBoth(2, 8))
  as(
    `pages read after each commit make the same database, byte for byte, and each gap is told: ${stories} stories`,
    (t) => {
      const all = Array.from({ length: stories }, (_, i) => story(t, seed + i));
      const sum = (of: "gaps" | "commits") => all.reduce((n, seen) => n + seen[of], 0);
      assert.ok(sum("commits") > 60 * stories, `${sum("commits")} commits`);
      // The first look of each is one.
      assert.ok(sum("gaps") > all.length, `${sum("gaps")} gaps`);
    },
  );

test("of a damaged or cut log it reads what SQLite reads", (t) => {
  const path = join(scratch(t), "box.db");
  const db = opened(path, true);
  db.pragma("wal_autocheckpoint = 0");
  db.exec("CREATE TABLE things (id INTEGER PRIMARY KEY, bytes BLOB)");
  db.pragma("wal_checkpoint(TRUNCATE)");
  const [draw, upTo] = drawn(seed);
  for (let i = 0; i < 12; i++) commit(db, upTo);
  const log = readFileSync(`${path}-wal`);
  const whole = databaseOf(path);
  let shorter = 0;
  for (let i = 0; i < 100; i++) {
    const copy = join(dirname(path), String(i), "box.db");
    mkdirSync(dirname(copy));
    copyFileSync(path, copy);
    const bytes = Buffer.from(log.subarray(0, upTo(3) === 0 ? upTo(log.length) : log.length));
    const flips = bytes.length === log.length ? 1 + upTo(3) : 0;
    for (let n = 0; n < flips; n++) {
      const frame = 32 + upTo(Math.floor((bytes.length - 32) / 4120)) * 4120;
      const at = draw(upTo(32), frame + upTo(24), upTo(bytes.length));
      bytes[at] = (bytes[at] ?? 0) ^ (1 << upTo(8));
    }
    writeFileSync(`${copy}-wal`, bytes);
    const read = databaseOf(copy);
    if (!read.equals(whole)) shorter++;
    const again = openSqlite(copy);
    again.pragma("wal_checkpoint(TRUNCATE)");
    again.close();
    assert.ok(read.equals(readFileSync(copy)), `seed ${seed}, case ${i}`);
  }
  assert.ok(shorter > 30, `${shorter} lost something`);
  db.close();
});

test("bytes that are no log are none", () => {
  const [, upTo] = drawn(seed);
  for (let i = 0; i < 2_000; i++) {
    const bytes = Buffer.from(Array.from({ length: upTo(80) }, () => upTo(256)));
    if (i % 2 === 0 && bytes.length > 4) bytes.writeUInt32BE(0x377f0682 + (i % 4 === 0 ? 0 : 1), 0);
    assert.equal(readWalHead(bytes), null);
  }
});
