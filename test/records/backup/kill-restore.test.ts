import assert from "node:assert/strict";
import { cpSync, existsSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import Database from "better-sqlite3";
import { systemClock } from "../../../src/ground/kit/clock.ts";
import { loadKeyRing, openKeyRing } from "../../../src/ground/kit/key-ring.ts";
import { systemRandom } from "../../../src/ground/kit/random.ts";
import { openStore } from "../../../src/ground/store/store.ts";
import { placeOf } from "../../../src/records/backup/place.ts";
import { restoreBackup } from "../../../src/records/backup/restore.ts";
import { takeBackup } from "../../../src/records/backup/take.ts";
import { run } from "../../support/children.ts";
import { scratch } from "../../support/scratch.ts";

test("a restore that is killed at any of its steps leaves the old store or the new", async (t) => {
  const directory = scratch(t);
  const data = join(directory, "data");
  const file = join(directory, "copy.db");
  mkdirSync(data);
  const path = join(data, "box.db");
  const open = (of: string) =>
    openStore({ path: of, kind: "box", clock: systemClock, random: systemRandom });
  const add = (of: string, name: string) => {
    const store = open(of);
    store.write((tx) =>
      tx.sql("INSERT INTO projects (name, version, created_at) VALUES (?, 1, 1)").run(name),
    );
    return store;
  };
  add(path, "new").close();
  openKeyRing({ dir: data, name: "box.key", inUse: [] });
  takeBackup({ place: placeOf(data), file, withKey: true, clock: systemClock });
  // The old store, as a kill left it: what it committed last stands in its log alone.
  const old = add(path, "old");
  const killed = join(directory, "killed");
  cpSync(data, killed, { recursive: true });
  rmSync(join(killed, "box.key"));
  old.close();

  const child = join(import.meta.dirname, "kill-restore.ts");
  const { out, err } = await run(child, [killed, file, directory]);
  const steps = Number(out);
  assert.ok(steps > 30, err);
  const seen = { old: 0, new: 0 };
  // Its last steps one by one: the names change there.
  for (let n = 1; n <= steps; n += n < steps - 12 ? 5 : 1) {
    const to = join(directory, String(n));
    const db = new Database(join(to, "box.db"));
    const names = db.prepare("SELECT name FROM projects ORDER BY id").pluck().all();
    assert.equal(db.pragma("integrity_check", { simple: true }), "ok");
    db.close();
    assert.ok(["new", "new,old"].includes(String(names)), String(names));
    const { ring } = loadKeyRing(to, "box.key");
    assert.ok(
      names.length > 1 || ring !== null,
      "the store that was restored came without its keys",
    );
    seen[names.length === 1 ? "new" : "old"] += 1;
    open(join(to, "box.db")).close();
  }
  assert.ok(seen.old > 5 && seen.new > 0, JSON.stringify(seen));
});

test("a restore into a directory with nothing but a key file, or what a killed one left, needs no word more", (t) => {
  const directory = scratch(t);
  const data = join(directory, "data");
  mkdirSync(data);
  openStore({
    path: join(data, "box.db"),
    kind: "box",
    clock: systemClock,
    random: systemRandom,
  }).close();
  openKeyRing({ dir: data, name: "box.key", inUse: [] });
  const file = join(directory, "copy.db");
  takeBackup({ place: placeOf(data), file, withKey: true, clock: systemClock });
  const to = join(directory, "to");
  mkdirSync(to);
  cpSync(`${file}.key`, join(to, "box.key"));
  const restore = () =>
    restoreBackup({
      place: placeOf(to),
      file,
      replace: false,
      pending: "auto",
      clock: systemClock,
    });
  assert.equal(restore().keys, true);
  assert.equal(loadKeyRing(to, "box.key").ring?.keys.size, 1);
  assert.throws(restore, /isn't empty/);
  assert.ok(existsSync(join(to, "box.db")));
});
