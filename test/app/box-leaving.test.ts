import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { untilFollowed } from "../../src/app/box-leaving.ts";
import { silentLog } from "../../src/ground/kit/log.ts";
import { endStandby, standByFor } from "../../src/hosted/record/taking.ts";
import { databaseMigrations, migrateDatabase } from "../../src/hosted/registry/postgres/migrate.ts";
import { handClock } from "../support/clock.ts";
import { postgresTest, testDatabase } from "../support/postgres.ts";
import { until } from "../support/until.ts";

/** For what a machine waits before it leaves its box: on a real PostgreSQL, by a clock that the test turns. */

const machine = (node: string) => ({ node, run: node, version: "1", schema: 9, failed: null });

async function stage(t: TestContext) {
  const database = (await testDatabase(t, { empty: true })).open();
  await migrateDatabase(database, databaseMigrations(), "box");
  const clock = handClock();
  const hurry = new AbortController();
  const state = { isAlone: false, isOver: false };
  const isAlone = () => state.isAlone;
  return {
    database,
    clock,
    hurry,
    state,
    leaves() {
      const deps = { clock, log: silentLog };
      void untilFollowed({ database, isAlone }, deps, hurry.signal).then(() => {
        state.isOver = true;
      });
    },
    /** It has looked, and looks again later. */
    waits: () => until(() => clock.timers() === 1 && !state.isOver, "it waits"),
    over: () => until(() => state.isOver, "it leaves"),
  };
}

postgresTest("it leaves at once where nobody stands by, or somebody is up to date", async (t) => {
  const alone = await stage(t);
  alone.leaves();
  await alone.over();
  assert.equal(alone.clock.timers(), 0);

  const followed = await stage(t);
  await standByFor(followed.database, machine("late"), false);
  await standByFor(followed.database, machine("fresh"), true);
  followed.leaves();
  await followed.over();

  const broken = await stage(t);
  await standByFor(broken.database, machine("unfit"), null);
  broken.leaves();
  await broken.over();
});

postgresTest(
  "it waits for a copy that isn't whole, and not for a machine that has gone",
  async (t) => {
    for (const end of ["fresh", "gone", "dead"]) {
      const { database, clock, leaves, waits, over } = await stage(t);
      await standByFor(database, machine("two"), false);
      leaves();
      await waits();
      await clock.turn(500);
      await waits();
      if (end === "fresh") await standByFor(database, machine("two"), true);
      else if (end === "gone") await endStandby(database, machine("two"));
      else await database.query("UPDATE nodes SET alive_until = clock_timestamp()");
      await clock.turn(500);
      await over();
    }
  },
);

postgresTest(
  "it waits no longer when it is told to hurry, is alone, or after five minutes",
  async (t) => {
    for (const end of ["told", "alone", "late"]) {
      const { database, clock, hurry, state, leaves, waits, over } = await stage(t);
      await standByFor(database, machine("two"), false);
      leaves();
      await waits();
      if (end === "told") hurry.abort();
      if (end === "alone") state.isAlone = true;
      // The database's own clock goes on as ever: the machine still lives there.
      if (end === "late") {
        await clock.turn(299_000);
        await waits();
        await clock.turn(500);
        await waits();
      }
      await clock.turn(500);
      await over();
    }
  },
);

postgresTest(
  "a database that doesn't answer keeps it only where somebody was waited for",
  async (t) => {
    const { database, clock, leaves, waits, state, over } = await stage(t);
    await standByFor(database, machine("two"), false);
    leaves();
    await waits();
    await database.query("ALTER TABLE nodes RENAME TO away");
    await clock.turn(500);
    await waits();
    state.isAlone = true;
    await clock.turn(500);
    await over();
    state.isOver = state.isAlone = false;
    leaves();
    await over();
  },
);
