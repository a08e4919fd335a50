import assert from "node:assert/strict";
import { cpSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import Database from "better-sqlite3";
import { placeOf } from "../../src/backup/place.ts";
import { takeBackup } from "../../src/backup/take.ts";
import { systemClock } from "../../src/kit/clock.ts";
import { systemRandom } from "../../src/kit/random.ts";
import { openStore } from "../../src/store/store.ts";
import { run } from "../support/children.ts";
import { scratch } from "../support/scratch.ts";

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
  takeBackup({ place: placeOf(data), file, withKey: false, clock: systemClock });
  // The old store, as a kill left it: what it committed last stands in its log alone.
  const old = add(path, "old");
  const killed = join(directory, "killed");
  cpSync(data, killed, { recursive: true });
  old.close();

  const child = join(import.meta.dirname, "kill-restore.ts");
  const restored = (n: number) => {
    const to = join(directory, `run-${n}`);
    cpSync(killed, to, { recursive: true });
    return { to, end: run(child, [to, file, n]) };
  };
  const steps = Number((await restored(0).end).out);
  assert.ok(steps > 30, `${steps}`);
  const seen = { old: 0, new: 0 };
  for (let i = 1; i <= 15; i++) {
    const { to, end } = restored(Math.ceil((i * steps) / 15));
    const { signal, err } = await end;
    assert.equal(signal, "SIGKILL", err);
    const db = new Database(join(to, "box.db"));
    const names = db.prepare("SELECT name FROM projects ORDER BY id").pluck().all();
    assert.equal(db.pragma("integrity_check", { simple: true }), "ok");
    db.close();
    assert.ok(["new", "new,old"].includes(String(names)), String(names));
    seen[names.length === 1 ? "new" : "old"] += 1;
    open(join(to, "box.db")).close();
  }
  assert.ok(seen.old > 5 && seen.new > 0, JSON.stringify(seen));
});
