import assert from "node:assert/strict";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import test, { type TestContext } from "node:test";
import Database from "better-sqlite3";
import { systemClock } from "../../../src/ground/kit/clock.ts";
import { systemRandom } from "../../../src/ground/kit/random.ts";
import { StoreFault } from "../../../src/ground/store/faults.ts";
import { setMeta } from "../../../src/ground/store/meta.ts";
import { openStore, type Store } from "../../../src/ground/store/store.ts";
import { run } from "../../support/children.ts";
import { hashes, scratch } from "../../support/scratch.ts";

function open(path: string): Store {
  return openStore({ path, kind: "box", clock: systemClock, random: systemRandom });
}

/** A store with some pages in it, closed. */
function filled(t: TestContext): { directory: string; path: string } {
  const directory = scratch(t);
  const path = join(directory, "box.db");
  const store = open(path);
  store.write((tx) => {
    setMeta(tx, "tenant_id", "0123456789abcdef");
    for (let i = 0; i < 500; i++)
      tx.sql("INSERT INTO projects (name, version, created_at) VALUES (?, 1, 1)").run(
        `project ${i} ${"x".repeat(100)}`,
      );
  });
  store.close();
  return { directory, path };
}

/** Opening is refused in one plain sentence, and every byte is as it was. */
function refused(directory: string, path: string, kind: string, words: RegExp): void {
  const before = hashes(directory);
  assert.throws(
    () => open(path).close(),
    (error) => {
      assert.ok(error instanceof StoreFault, String(error));
      assert.equal(error.kind, kind, error.message);
      assert.match(error.message, words);
      assert.ok(!error.message.includes("\n"));
      return true;
    },
  );
  assert.deepEqual(hashes(directory), before);
}

test("an empty file is refused and stays", (t) => {
  const directory = scratch(t);
  const path = join(directory, "box.db");
  writeFileSync(path, "");
  refused(directory, path, "damaged", /is empty/);
  assert.ok(existsSync(path));
});

test("garbage, a short file and a text are refused as damaged", (t) => {
  for (const content of [systemRandom.bytes(8192), "SQLite format 3\0short", "hello\n"]) {
    const directory = scratch(t);
    const path = join(directory, "box.db");
    writeFileSync(path, content);
    refused(directory, path, "damaged", /no SQLite database/);
  }
});

test("a database of another program, an empty one and one of the other role are foreign", (t) => {
  const directory = scratch(t);
  const path = join(directory, "box.db");
  const other = new Database(path);
  other.exec("CREATE TABLE t (a)");
  other.close();
  refused(directory, path, "foreign", /not a box database/);
  rmSync(path);
  const empty = new Database(path);
  empty.pragma("journal_mode = WAL");
  empty.close();
  refused(directory, path, "foreign", /not a box database/);
  rmSync(path);
  openStore({ path, kind: "hosted", clock: systemClock, random: systemRandom }).close();
  refused(directory, path, "foreign", /not a box database/);
});

test("a directory in the file's place is refused", (t) => {
  const directory = scratch(t);
  mkdirSync(join(directory, "box.db"));
  refused(directory, join(directory, "box.db"), "foreign", /no file/);
});

test("a flipped bit in the inner of a page is found at the start", (t) => {
  const { directory, path } = filled(t);
  const bytes = readFileSync(path);
  const pageSize = bytes.readUInt16BE(16);
  let found = 0;
  for (let page = 1; page * pageSize < bytes.length; page++) {
    // The first bytes of a page say how it is laid out.
    const copy = Buffer.from(bytes);
    copy[page * pageSize] = (copy[page * pageSize] ?? 0) ^ 0x40;
    writeFileSync(path, copy);
    try {
      open(path).close();
    } catch {
      writeFileSync(path, copy);
      refused(directory, path, "damaged", /damaged/);
      found++;
    }
  }
  // Pages that hold no tree (free ones, the map of an incremental vacuum) have no such byte.
  assert.ok(found >= bytes.length / pageSize - 4, `${found}`);
});

test("a truncated file is refused", (t) => {
  const { directory, path } = filled(t);
  truncateSync(path, 3 * 4096);
  refused(directory, path, "damaged", /damaged/);
});

test("a file with commits still in its log is refused without moving them into it", (t) => {
  const { directory, path } = filled(t);
  const killed = join(directory, "killed");
  mkdirSync(killed);
  const db = new Database(path);
  db.exec("UPDATE projects SET version = 2; PRAGMA user_version = 900");
  for (const end of ["", "-wal"]) copyFileSync(path + end, join(killed, `box.db${end}`));
  db.close();
  refused(killed, join(killed, "box.db"), "newer", /schema 900/);
});

test("data of a newer program is refused and not touched", (t) => {
  const { directory, path } = filled(t);
  const db = new Database(path);
  db.pragma("user_version = 4242");
  db.close();
  refused(directory, path, "newer", /schema 4242; this program knows/);
});

test("a log without its file is refused: a new file would be destroyed by it", (t) => {
  const { directory, path } = filled(t);
  const db = new Database(path);
  db.exec("UPDATE projects SET version = 2");
  copyFileSync(`${path}-wal`, join(directory, "kept"));
  db.close();
  rmSync(path);
  renameSync(join(directory, "kept"), `${path}-wal`);
  refused(directory, path, "damaged", /is gone but/);
});

test("a backup put in place by hand over an old log is refused", (t) => {
  const { directory, path } = filled(t);
  const db = new Database(path);
  db.prepare("VACUUM INTO ?").run(join(directory, "backup"));
  db.exec("UPDATE projects SET version = 2");
  copyFileSync(`${path}-wal`, join(directory, "kept"));
  db.close();
  renameSync(join(directory, "backup"), path);
  copyFileSync(join(directory, "kept"), `${path}-wal`);
  refused(directory, path, "damaged", /belongs to another file/);
  rmSync(`${path}-wal`);
  open(path).close();
});

test("a first start that is killed at any moment leaves a directory that starts", async (t) => {
  const child = join(import.meta.dirname, "first-start.ts");
  const into = scratch(t);
  const whole = await run(child, [join(scratch(t), "box.db"), into]);
  const steps = Number(whole.out);
  assert.ok(steps > 40, whole.err);
  let made = 0;
  for (let i = 1; i <= 12; i++) {
    const directory = join(into, String(Math.ceil((i * steps) / 12)));
    const path = join(directory, "box.db");
    if (existsSync(path)) made++;
    const store = open(path);
    assert.equal(store.sql("SELECT count(*) FROM projects").pluck().get(), 0);
    store.close();
    const left = Object.keys(hashes(directory)).filter((name) => name !== "box.db");
    assert.ok(
      left.every((name) => name.includes("aside")),
      String(left),
    );
  }
  assert.ok(made > 0 && made < 12, `${made}`);
});
