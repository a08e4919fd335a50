import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import Database from "better-sqlite3";
import { makeSilence } from "../../src/core/alerts/silencing.ts";
import { silenceWrite } from "../../src/core/quiet/silence.ts";
import { silentLog } from "../../src/ground/kit/log.ts";
import { systemRandom } from "../../src/ground/kit/random.ts";
import { migrations } from "../../src/ground/store/migrations.ts";
import { openStore } from "../../src/ground/store/store.ts";
import { startTenant, type Tenant } from "../../src/tenant/tenant.ts";
import { handClock } from "../support/clock.ts";
import { memoryOrTemp } from "../support/memory.ts";

/**
 * A store of version 1 with alerts that stand, opened by this one. The fixture is what that version left: the rows of its
 * store, and what it would have said in the three hours after a start three minutes later. Its alerts: 1 has climbed two
 * steps of three, 2 is acknowledged for an hour, 3 silenced for two, 4 acknowledged for good, 5 has paged its first step,
 * 6 is resolved.
 */
const SCHEMA = 41;
const fixture = (end: string) =>
  readFileSync(join(import.meta.dirname, `../fixtures/open-alerts-${SCHEMA}.${end}`), "utf8");

type Said = [alert: number, event: string, minute: number, level: number, accounts: string];
const left: { stoppedAt: number; events: Said[] } = JSON.parse(fixture("json"));

const MINUTE = 60_000;

async function upgraded(t: TestContext) {
  const directory = mkdtempSync(join(memoryOrTemp(), "box-upgraded-"));
  const path = join(directory, "box.db");
  const clock = handClock(left.stoppedAt);
  const known = migrations("box").slice(0, SCHEMA);
  openStore({ path, kind: "box", clock, random: systemRandom, migrations: known }).close();
  const db = new Database(path);
  db.pragma("foreign_keys = OFF");
  const tables = db
    .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> 'migrations'")
    .pluck()
    .all() as string[];
  for (const table of tables)
    if (fixture("sql").includes(`INTO "${table}"`)) db.exec(`DELETE FROM "${table}"`);
  db.exec(`BEGIN; ${fixture("sql")} COMMIT`);
  db.close();
  await clock.turn(3 * MINUTE);
  const fatal: unknown[] = [];
  const start = () =>
    startTenant({
      path,
      role: "box",
      clock,
      random: systemRandom,
      log: silentLog,
      publicUrl: "",
      onFatal: (error) => void fatal.push(error),
    });
  let tenant: Tenant = start();
  t.after(async () => {
    await tenant.stop();
    rmSync(directory, { recursive: true, force: true });
    assert.deepEqual(fatal, []);
  });
  return {
    clock,
    get tenant() {
      return tenant;
    },
    async again() {
      await tenant.stop();
      tenant = start();
    },
    fire: (n: string, zone: string) =>
      new Promise((done) => {
        const source = tenant.store
          .sql("SELECT id, name, project_id AS projectId FROM sources")
          .get() as Parameters<typeof tenant.ingest.submit>[0];
        const event = { message: "disk is failing", level: 400, keys: { n, zone }, tags: null };
        tenant.ingest.submit({ ...source, retainLogs: false }, [event], done);
      }),
    said: (): Said[] =>
      (tenant.store.sql("SELECT body FROM events ORDER BY id").pluck().all() as string[])
        .map((body) => JSON.parse(body))
        .filter(({ timestamp }) => timestamp * 1000 > left.stoppedAt)
        .map(({ alert_id, event, timestamp, escalation_level, page_accounts }) => [
          Number(alert_id),
          event,
          (timestamp * 1000 - left.stoppedAt) / MINUTE,
          escalation_level,
          page_accounts.join(" "),
        ]),
  };
}

test("alerts of a store from before labels and ladders go on as that version would have, each page once", async (t) => {
  const box = await upgraded(t);
  await box.clock.turn(60 * MINUTE);
  await box.again();
  await box.clock.turn(120 * MINUTE);
  assert.ok(new Set(left.events.map(([alert]) => alert)).size > 3, "there is something to go on");
  assert.deepEqual(box.said(), left.events);
});

test("no silence takes an alert from before by a label that nobody kept, until an event says it", async (t) => {
  const box = await upgraded(t);
  const { store } = box.tenant;
  store.write((tx) =>
    makeSilence(tx, {
      write: silenceWrite.parse({
        match: {},
        labels: [{ key: "zone", op: "neq", value: "y" }],
        reason: "not y",
        starts_at: tx.at,
        ends_at: tx.at + 10_800,
      }),
      createdBy: "ann",
    }),
  );
  await box.clock.turn(10 * MINUTE);
  const paged = () => box.said().filter(([alert]) => alert === 5).length;
  assert.equal(paged(), 1, "its zone isn't known: it rings");
  const held = store.sql("SELECT silenced_by IS NOT NULL FROM alerts WHERE id = 5").pluck();
  assert.equal(held.get(), 0);
  await box.fire("6", "x");
  await box.clock.turn(40 * MINUTE);
  assert.equal(held.get(), 1, "an event says that it is x");
  assert.equal(paged(), 1);
});
