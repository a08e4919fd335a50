import assert from "node:assert/strict";
import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import test, { type TestContext } from "node:test";
import { systemRandom } from "../../../src/ground/kit/random.ts";
import { openSqlite } from "../../../src/ground/store/database.ts";
import { lockDirectory } from "../../../src/ground/store/lock.ts";
import { getMeta, setMeta } from "../../../src/ground/store/meta.ts";
import { openStore, type Store } from "../../../src/ground/store/store.ts";
import { placeOf } from "../../../src/records/backup/place.ts";
import { restoreBackup } from "../../../src/records/backup/restore.ts";
import { settle } from "../../../src/records/backup/restored.ts";
import { rememberBackup, takeBackup } from "../../../src/records/backup/take.ts";
import { type HandClock, handClock } from "../../support/clock.ts";
import { emptyStoreAt } from "../../support/data.ts";
import { hashes, scratch } from "../../support/scratch.ts";

interface Made {
  data: string;
  file: string;
  clock: HandClock;
  open(directory?: string): Store;
  take(): void;
  restore(options?: {
    to?: string;
    pending?: "keep" | "drop" | "auto";
  }): ReturnType<typeof restoreBackup>;
}

/** A store with a webhook that is well (`well`) and one that fails (`sick`), a delivery waiting for each and an execution. */
function made(t: TestContext, isServing: boolean): Made {
  const directory = scratch(t);
  const data = join(directory, "data");
  const file = join(directory, "copy.db");
  const clock = handClock();
  const place = placeOf(data);
  const open = (to = data) =>
    openStore({ path: join(to, "box.db"), kind: "box", clock, random: systemRandom });
  process.getBuiltinModule("node:fs").mkdirSync(data);
  emptyStoreAt(join(data, "box.db"));
  const store = open();
  store.write((tx) => {
    setMeta(tx, "tenant_id", "0123456789abcdef");
    setMeta(tx, "updated_seq", 70);
    tx.sql("INSERT INTO projects (id, name, version, created_at) VALUES (1, 'shop', 1, 1)").run();
    for (const [id, failures] of [
      ["well", 0],
      ["sick", 3],
    ])
      tx.sql(
        `INSERT INTO integrations (id, project_id, name, type, url, enabled, event_filter, consecutive_failures, created_at)
         VALUES (?, 1, ?, 'webhook', '', 1, '', ?, 1)`,
      ).run(id, id, failures);
    const event = tx.sql(
      "INSERT INTO events (event_id, project_id, event, timestamp, body) VALUES (?, 1, 'alert.opened', ?, '{}')",
    );
    const delivery = tx.sql(
      "INSERT INTO deliveries (integration_id, event_row, event, status, next_attempt_ms, created_at) VALUES (?, ?, 'alert.opened', ?, 1, ?)",
    );
    for (const [i, [owner, status]] of [
      ["well", "delivered"],
      ["well", "pending"],
      ["sick", "pending"],
    ].entries())
      delivery.run(owner, event.run(`evt_${i}`, i).lastInsertRowid, status, tx.at);
    tx.sql(
      "INSERT INTO executions (action_id, project_id, event, status, next_attempt_ms, created_at) VALUES ('act', 1, 'alert.opened', 'pending', 1, ?)",
    ).run(tx.at);
    tx.sql("INSERT INTO sqlite_sequence (name, seq) VALUES ('alerts', 40)").run();
  });
  store.close();
  return {
    data,
    file,
    clock,
    open,
    take() {
      const unlock = isServing ? lockDirectory(data) : () => {};
      takeBackup({ place, file, withKey: false, clock });
      rememberBackup(place, clock.now() / 1000);
      unlock();
    },
    restore: ({ to = data, pending = "auto" } = {}) =>
      restoreBackup({ place: placeOf(to), file, replace: to === data, pending, clock }),
  };
}

function states(store: Store): string[] {
  const rows = store.db
    .prepare(
      `SELECT integration_id || ' ' || status AS it FROM deliveries
       UNION ALL SELECT action_id || ' ' || status FROM executions`,
    )
    .pluck()
    .all() as string[];
  store.close();
  return rows;
}

test("from a box that was sending: only what its endpoint had refused waits on", (t) => {
  const it = made(t, true);
  it.take();
  const to = join(it.data, "../elsewhere");
  assert.deepEqual(it.restore({ to }).pending, { kept: 1, dropped: 2 });
  const store = it.open(to);
  const why = store.sql("SELECT last_error FROM deliveries WHERE id = 2").pluck().get();
  assert.match(String(why), /Restored from a backup/);
  assert.deepEqual(states(store), ["well delivered", "well dropped", "sick pending", "act failed"]);
});

test("from a box that was not sending: everything waits on", (t) => {
  const it = made(t, false);
  it.take();
  const to = join(it.data, "../elsewhere");
  assert.deepEqual(it.restore({ to }).pending, { kept: 3, dropped: 0 });
  assert.deepEqual(states(it.open(to)), [
    "well delivered",
    "well pending",
    "sick pending",
    "act pending",
  ]);
});

test("the operator may know better", (t) => {
  const it = made(t, true);
  it.take();
  const keep = join(it.data, "../keep");
  const drop = join(it.data, "../drop");
  assert.deepEqual(it.restore({ to: keep, pending: "keep" }).pending, { kept: 3, dropped: 0 });
  assert.deepEqual(it.restore({ to: drop, pending: "drop" }).pending, { kept: 0, dropped: 3 });
  assert.deepEqual(states(it.open(drop)), [
    "well delivered",
    "well dropped",
    "sick dropped",
    "act failed",
  ]);
});

test("the store that is replaced knows what went out since, and what did not", (t) => {
  const it = made(t, false);
  it.take();
  const store = it.open();
  store.write((tx) => {
    tx.sql(
      "UPDATE deliveries SET status = 'delivered', next_attempt_ms = NULL, finished_at = 9 WHERE id = 2",
    ).run();
    tx.sql("DELETE FROM executions").run();
    tx.sql("UPDATE sqlite_sequence SET seq = 55 WHERE name = 'alerts'").run();
    setMeta(tx, "updated_seq", 93);
  });
  store.close();
  assert.deepEqual(it.restore().pending, { kept: 1, dropped: 2 });
  const restored = it.open();
  assert.equal(
    restored.sql("SELECT seq FROM sqlite_sequence WHERE name = 'alerts'").pluck().get(),
    55,
  );
  assert.equal(getMeta(restored, "updated_seq"), 93);
  assert.deepEqual(states(restored), [
    "well delivered",
    "well delivered",
    "sick pending",
    "act failed",
  ]);
});

/** Of one person: a contact that is well and one that fails, a page waiting for each, and one due in half an hour. */
function withPages(it: Made): Made {
  const store = it.open();
  store.write((tx) => {
    tx.sql(
      "INSERT INTO accounts (id, email, email_folded, display_name, password_hash, role, created_at) VALUES ('ann', 'a', 'a', 'a', '', 'member', 1)",
    ).run();
    for (const [id, failures] of [
      ["phone", 0],
      ["mail", 2],
    ])
      tx.sql(
        `INSERT INTO contacts (id, account_id, kind, label, shown, sealed, state, failures, created_at)
         VALUES (?, 'ann', 'webhook', '', '', '', 'verified', ?, 1)`,
      ).run(id, failures);
    const page = tx.sql(
      `INSERT INTO pages (contact_id, account_id, alert_id, event_row, event, handle, status, due_ms, next_attempt_ms, created_at)
       VALUES (?, 'ann', 7, 1, 'alert.escalated', ?, 'pending', ?, ?, ?)`,
    );
    const now = tx.clock.now();
    for (const [i, [contact, due]] of [
      ["phone", now],
      ["mail", now],
      ["phone", now + 1_800_000],
    ].entries())
      page.run(contact, `h${i}`, due, due, tx.at);
  });
  store.close();
  return it;
}

test("people are not paged again for what a copy has waiting: only by a way that failed then, or later than now", (t) => {
  const it = withPages(made(t, true));
  it.take();
  const to = join(it.data, "../elsewhere");
  assert.deepEqual(it.restore({ to }).pending, { kept: 3, dropped: 3 });
  const store = it.open(to);
  const why = store.sql("SELECT last_error FROM pages WHERE id = 1").pluck().get();
  assert.match(String(why), /Restored from a backup/);
  const rows = store.sql("SELECT contact_id || ' ' || status FROM pages").pluck().all();
  assert.deepEqual(rows, ["phone withdrawn", "mail pending", "phone pending"]);
  store.close();
});

test("of pages, too, the store that is replaced knows what became of them", (t) => {
  const it = withPages(made(t, false));
  it.take();
  const store = it.open();
  store.write((tx) => {
    const over = tx.sql(
      "UPDATE pages SET status = ?, next_attempt_ms = NULL, finished_at = 9 WHERE id = ?",
    );
    over.run("delivered", 1);
    over.run("withdrawn", 3);
  });
  store.close();
  assert.deepEqual(it.restore().pending, { kept: 4, dropped: 2 });
  const restored = it.open();
  const rows = restored.sql("SELECT contact_id || ' ' || status FROM pages").pluck().all();
  assert.deepEqual(rows, ["phone delivered", "mail pending", "phone withdrawn"]);
  restored.close();
});

test("a copy of a program that knew no pages is restored", (t) => {
  const it = made(t, true);
  it.take();
  const db = openSqlite(it.file);
  db.exec("DROP TABLE pages");
  const counted = settle(db, {
    pending: "auto",
    wasServing: true,
    takenAt: 1,
    now: 2,
    replaced: null,
  });
  db.close();
  assert.deepEqual(counted, { kept: 1, dropped: 2 });
});

test("alert ids that may have been given out since are never given out again", async (t) => {
  const it = made(t, true);
  it.take();
  await it.clock.turn(7200_000);
  const to = join(it.data, "../elsewhere");
  it.restore({ to });
  const store = it.open(to);
  const seq = store.sql("SELECT seq FROM sqlite_sequence WHERE name = 'alerts'").pluck().get();
  assert.equal(seq, 40 + 1000 + 7200);
  assert.equal(getMeta(store, "updated_seq"), 70 + 8200 * 1000);
  store.close();
});

test("a move within the hour keeps counting where it was", (t) => {
  const it = made(t, false);
  it.take();
  const to = join(it.data, "../elsewhere");
  it.restore({ to });
  const store = it.open(to);
  const seq = store.sql("SELECT seq FROM sqlite_sequence WHERE name = 'alerts'").pluck().get();
  assert.deepEqual([seq, getMeta(store, "updated_seq")], [40, 70]);
  store.close();
});

test("what was there is kept aside with its log, also when it is damaged", (t) => {
  const it = made(t, false);
  it.take();
  const { writeFileSync } = process.getBuiltinModule("node:fs");
  writeFileSync(join(it.data, "box.db"), "damaged");
  writeFileSync(join(it.data, "box.db-wal"), "its log");
  const before = hashes(it.data);
  const { kept_aside } = it.restore();
  assert.ok(kept_aside);
  const kept = hashes(kept_aside);
  assert.deepEqual(kept, { "box.db": before["box.db"], "box.db-wal": before["box.db-wal"] });
  assert.ok(!existsSync(join(it.data, "box.db-wal")));
  it.open().close();
});

test("a directory that isn't empty is left alone without --replace, and one that is served always", (t) => {
  const it = made(t, false);
  it.take();
  const before = hashes(it.data);
  const restore = (replace: boolean) =>
    restoreBackup({ place: placeOf(it.data), file: it.file, replace, ...rest });
  const rest = { pending: "auto" as const, clock: it.clock };
  assert.throws(() => restore(false), { name: "StoreFault", message: /isn't empty \(box.db\)/ });
  assert.deepEqual(hashes(it.data), before);
  const unlock = lockDirectory(it.data);
  assert.throws(() => restore(true), { kind: "locked" });
  unlock();
  rmSync(join(it.data, "serve.lock"));
  assert.deepEqual(hashes(it.data), before);
});

test("keys go with a backup only when asked, and never take another's place", (t) => {
  const it = made(t, false);
  const { writeFileSync, readFileSync, statSync } = process.getBuiltinModule("node:fs");
  const key = systemRandom.bytes(32);
  writeFileSync(join(it.data, "box.key"), key, { mode: 0o600 });
  const place = placeOf(it.data);
  takeBackup({ place, file: it.file, withKey: true, clock: it.clock });
  assert.deepEqual(readFileSync(`${it.file}.key`), key);
  assert.equal(statSync(`${it.file}.key`).mode & 0o777, 0o600);
  const to = join(it.data, "../elsewhere");
  assert.equal(it.restore({ to }).keys, true);
  assert.deepEqual(readFileSync(join(to, "box.key")), key);
  const other = systemRandom.bytes(32);
  writeFileSync(join(it.data, "box.key"), other);
  it.restore();
  assert.deepEqual(readFileSync(join(it.data, "box.key")), other);
  const beside = readdirSync(it.data).find((name) => /^box\.key\.[0-9a-f]{16}$/.test(name));
  assert.deepEqual(readFileSync(join(it.data, beside ?? "")), key);
  writeFileSync(`${it.file}.key`, "short");
  const before = hashes(it.data);
  assert.throws(() => it.restore(), { kind: "damaged", message: /holds no keys/ });
  assert.deepEqual(hashes(it.data), before);
});

test("a session or a link to the wall that was open when the copy was made is not open in what is restored", (t) => {
  const it = made(t, false);
  const store = it.open();
  store.write((tx) => {
    tx.sql(
      "INSERT INTO accounts (id, email, email_folded, display_name, password_hash, role, created_at) VALUES ('a', 'a@b.c', 'a@b.c', '', '', 'owner', 1)",
    ).run();
    tx.sql(
      "INSERT INTO sessions (id, account_id, hash, method, created_at, last_seen_at, expires_at, address, agent) VALUES ('s', 'a', 'h', 'password', 1, 1, 9999999999, '', '')",
    ).run();
    tx.sql("INSERT INTO walls VALUES ('w', 'corridor', 1, 'h', 'a', 1, NULL)").run();
  });
  store.close();
  it.take();
  const to = join(it.data, "../elsewhere");
  it.restore({ to });
  const restored = it.open(to);
  const count = (table: string) => restored.sql(`SELECT count(*) FROM ${table}`).pluck().get();
  assert.deepEqual([count("accounts"), count("sessions"), count("walls")], [1, 0, 0]);
  restored.close();
});
