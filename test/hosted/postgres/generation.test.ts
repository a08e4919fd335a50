import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { seenByCommand, seenIn } from "../../../src/hosted/nodes/seen.ts";
import { seenInMemory } from "../../../src/hosted/registry/generation.ts";
import { DatabaseAway } from "../../../src/hosted/registry/postgres/database-faults.ts";
import { migrateDatabase } from "../../../src/hosted/registry/postgres/migrate.ts";
import { mustTakeWrites } from "../../../src/hosted/registry/postgres/takes-writes.ts";
import { postgresTest, testDatabase } from "../../support/postgres.ts";
import { scratch } from "../../support/scratch.ts";
import { forwarded, openTo } from "./wire.ts";

test("a node remembers its database's generation over restarts, and a command doesn't change it", (t) => {
  const data = scratch(t);
  const faults: unknown[] = [];
  const seen = () => seenIn(data, (error: unknown) => void faults.push(error));
  const file = join(data, "node.database");
  assert.equal(seen().latest(), null);
  const found = { system: "7301234567890123456", timeline: 3 };
  seenByCommand(data).saw(found);
  assert.equal(existsSync(file), false);
  seen().saw(found);
  assert.deepEqual(seen().latest(), found);
  seen().saw({ ...found, timeline: 4 });
  assert.equal(seenByCommand(data).latest()?.timeline, 4);
  assert.equal(readFileSync(file, "utf8"), "7301234567890123456 4\n");
  writeFileSync(file, "rubbish");
  assert.equal(seen().latest(), null);
  assert.equal(faults.length, 0);
  const nowhere = seenIn(join(data, "nowhere"), (error) => void faults.push(error));
  nowhere.saw(found);
  assert.deepEqual(nowhere.latest(), found);
  assert.equal(faults.length, 1);
});

const TIMELINE = `CREATE FUNCTION clock.pg_walfile_name(pg_lsn) RETURNS text LANGUAGE sql
  AS 'SELECT value FROM clock.timeline'`;

/** A database with a timeline that the test sets. */
async function withTimeline(t: Parameters<typeof testDatabase>[0]) {
  const made = await testDatabase(t);
  const root = made.open();
  await root.query("CREATE TABLE clock.timeline (value text)");
  await root.query("INSERT INTO clock.timeline VALUES ('000000010000000000000001')");
  await root.query(TIMELINE);
  const set = (timeline: number) =>
    root.query("UPDATE clock.timeline SET value = $1", [
      `${timeline.toString(16).padStart(8, "0")}0000000000000001`,
    ]);
  return { made, set };
}

postgresTest(
  "a primary that comes back after its standby was promoted is refused, with the reason",
  async (t) => {
    const { made, set } = await withTimeline(t);
    const seen = seenInMemory();
    // The first try after the switch is answered, the others aren't: a busy host's aren't in the time that is left.
    let tries = Number.NEGATIVE_INFINITY;
    const { port, cut } = await forwarded(t, made, { silent: () => ++tries > 1 });
    const { database } = openTo(t, made, `127.0.0.1:${port}`, { seen });
    await set(1);
    await database.query("SELECT 1");
    assert.equal(seen.latest()?.timeline, 1);
    await set(17);
    cut();
    await database.query("SELECT 1");
    assert.equal(seen.latest()?.timeline, 17);
    await set(16);
    tries = 0;
    cut();
    await assert.rejects(
      database.query("SELECT 1", [], { withinMs: 3_000 }),
      (error) =>
        error instanceof DatabaseAway &&
        !error.isRefusal &&
        /on timeline 16, and 17 was promoted since/.test(error.why),
    );
    tries = Number.NEGATIVE_INFINITY;
    await set(18);
    await database.query("SELECT 1");
  },
);

postgresTest("a database without timelines is used without them", async (t) => {
  const { made } = await withTimeline(t);
  const root = made.open();
  await root.query("DROP FUNCTION clock.pg_walfile_name");
  await root.query(
    `CREATE FUNCTION clock.pg_walfile_name(pg_lsn) RETURNS text LANGUAGE plpgsql
     AS $$ BEGIN RAISE EXCEPTION 'not supported' USING ERRCODE = 'feature_not_supported'; END $$`,
  );
  const seen = seenInMemory({ system: "1", timeline: 9 });
  const { database } = openTo(t, made, `127.0.0.1:${(await forwarded(t, made)).port}`, { seen });
  await database.query("SELECT 1");
  assert.equal(seen.latest()?.timeline, 9);
});

postgresTest("a database role without other rights can read the timeline", async (t) => {
  const made = await testDatabase(t, { empty: true });
  const root = made.open();
  const role = `plain_${made.name}`;
  await root.query(`CREATE ROLE ${role} LOGIN`);
  t.after(() =>
    made
      .open()
      .query(`DROP ROLE IF EXISTS ${role}`)
      .catch(() => {}),
  );
  const database = made.open({ by: made.url.replace("//box@", `//${role}@`) });
  const told = { ageless: false };
  const line = {
    ask: async (sql: string) => ({ rows: await database.query(sql) }) as never,
  };
  const found = await mustTakeWrites(line, { ms: 1_000, seen: seenInMemory(), told });
  assert.ok(found !== null && found.timeline >= 1, JSON.stringify(found));
});

/** A commit that never ends, as when its standby is lost. */
const HANGS = `CREATE FUNCTION hang() RETURNS trigger LANGUAGE plpgsql AS
  $$ BEGIN PERFORM pg_sleep(600); RETURN NULL; END $$;
  CREATE CONSTRAINT TRIGGER hang AFTER INSERT OR UPDATE ON meta
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION hang()`;

postgresTest(
  "a node learns within seconds that its database commits nothing, before it would change the schema",
  async (t) => {
    const made = await testDatabase(t);
    const root = made.open();
    for (const statement of HANGS.split(";\n")) await root.query(statement);
    const began = performance.now();
    await assert.rejects(
      migrateDatabase(made.open()),
      (error) =>
        error instanceof DatabaseAway &&
        !error.isRefusal &&
        /commits nothing: is its standby lost\?/.test(error.why),
    );
    assert.ok(performance.now() - began < 6_000);
  },
);
