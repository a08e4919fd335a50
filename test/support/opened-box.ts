import { join } from "node:path";
import { openBoxRecord } from "../../src/app/box-record.ts";
import { boxConfig } from "../../src/app/config.ts";
import { createLifecycle } from "../../src/app/lifecycle.ts";
import { systemClock } from "../../src/ground/kit/clock.ts";
import { silentLog } from "../../src/ground/kit/log.ts";
import { systemRandom } from "../../src/ground/kit/random.ts";
import { openSqlite } from "../../src/ground/store/database.ts";
import { openStore } from "../../src/ground/store/store.ts";
import { createIngest } from "../../src/in/ingest/handle.ts";

export const TENANT = "t_0123456789abcdef";
const about = { clock: systemClock, random: systemRandom };

/** The store of a box that was alone until now. */
export function makeBox(data: string): void {
  const store = openStore({ path: join(data, "box.db"), kind: "box", ...about });
  store.write((tx) => tx.sql("INSERT INTO meta (key, value) VALUES ('tenant_id', ?)").run(TENANT));
  store.close();
}

/** The store of a box, in a database as well, as `box serve` opens it; without what a box does beside. */
export async function openedBox(data: string, url: string) {
  const config = boxConfig({
    data,
    listen: "127.0.0.1:0",
    database: url,
    publicUrl: "http://a.test",
  });
  const settings = config.database;
  if (settings === null) throw new Error(`no database: ${url}`);
  const fatal = (error: unknown) => {
    throw error;
  };
  const record = await openBoxRecord(
    { config, settings },
    { ...about, log: silentLog, onFatal: fatal },
    createLifecycle(about.clock, silentLog),
  );
  // It stood by for a moment, where the box was another's.
  record.freePort("http");
  const path = join(data, "box.db");
  const { keeper } = record;
  const store = openStore({ ...about, path, kind: "box", keeper, durable: keeper.durable });
  const add = (name: string, of: Pick<typeof store, "sql"> = store) =>
    of.sql("INSERT INTO projects (name, version, created_at) VALUES (?, 1, 1)").run(name);
  await record.begin({ id: TENANT, store, ingest: createIngest(store) });
  return {
    keeper,
    durable: store.durable,
    names: () => store.sql<[], string>("SELECT name FROM projects").pluck().all(),
    add: (name: string) => void store.write((tx) => add(name, tx)),
    /** By a connection of its own. */
    addBeside(name: string) {
      const db = openSqlite(path);
      add(name, { sql: (text) => db.prepare(text) as never });
      db.close();
    },
    isWhole: () => store.db.pragma("integrity_check", { simple: true }) === "ok",
    async stop() {
      store.close();
      await record.stop();
    },
  };
}
