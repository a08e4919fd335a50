import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "../../ground/kit/clock.ts";
import { createEgress } from "../../ground/kit/egress.ts";
import { UsageError } from "../../ground/kit/flags.ts";
import type { Random } from "../../ground/kit/random.ts";
import { prepareDirectory } from "../../ground/store/directory.ts";
import { StoreFault } from "../../ground/store/faults.ts";
import { lockDirectory } from "../../ground/store/lock.ts";
import { openStore } from "../../ground/store/store.ts";
import { hostedFiles } from "../../hosted/files.ts";
import { seenByCommand } from "../../hosted/nodes/seen.ts";
import type { Moved } from "../../hosted/registry/move/move-there.ts";
import type { Database } from "../../hosted/registry/postgres/connect.ts";
import {
  type DatabaseFlags,
  type DatabaseSettings,
  databaseSettings,
} from "../../hosted/registry/postgres/settings.ts";
import { idsWithoutBox } from "../../hosted/registry/sqlite/tenants.ts";

interface MoveOptions extends DatabaseFlags {
  data: string;
  clock: Clock;
  random: Random;
}

interface MoveReport {
  moved: "to the database" | "to the data directory";
  /** Rows of each table, equal on both sides. Their SHA-256 was compared too. */
  rows: Record<string, number>;
  /** Stores of tenants without a box. Each is equal on both sides. */
  stores: number;
}

/**
 * Moves the registry of a stopped hosted service from its data directory to an empty database, or from a database that
 * no node serves to a data directory without a registry. Run again after a crash, it continues. Throws StoreFault and
 * UsageError.
 */
export async function moveHosted(options: MoveOptions): Promise<MoveReport> {
  const { data } = options;
  const faults: string[] = [];
  const settings = databaseSettings(options, faults);
  if (settings === null && faults.length === 0) faults.push("Name the database: --database URL.");
  if (settings === null || faults.length > 0) throw new UsageError(faults.join("\n"));
  prepareDirectory(data);
  const unlock = lockDirectory(data);
  const { database, close } = await openCommandDatabase(settings, options);
  try {
    const path = join(data, hostedFiles.registry);
    return existsSync(path) && !(await isReturned(database))
      ? await there(database, { ...options, path })
      : await back(database, { ...options, path });
  } catch (error) {
    const { inWords } = await import("../../hosted/registry/postgres/open.ts");
    throw inWords(error, settings);
  } finally {
    close();
    unlock();
  }
}

/** Connections of a command. */
export async function openCommandDatabase(
  settings: DatabaseSettings,
  { data, clock, random }: Pick<MoveOptions, "data" | "clock" | "random">,
): Promise<{ database: Database; close(): void }> {
  const { openDatabase } = await import("../../hosted/registry/postgres/connect.ts");
  const egress = createEgress({ clock, rules: { role: "box" } });
  const database = openDatabase({
    ...settings,
    clock,
    random,
    pool: 1,
    onPlain() {},
    seen: seenByCommand(data),
    dial: (request) => egress.dial(request),
  });
  const close = () => {
    database.close();
    void egress.close();
  };
  return { database, close };
}

/** Whether the database's registry has begun its way back: then the file in the directory is the result. */
async function isReturned(database: Database): Promise<boolean> {
  const [meta] = await database.query<{ known: boolean }>(
    "SELECT to_regclass('meta') IS NOT NULL AS known",
  );
  if (meta?.known !== true) return false;
  const { postgresMoveMark } = await import("../../hosted/registry/postgres/move-marks.ts");
  return (
    (await postgresMoveMark(database, "moving")) !== null ||
    (await postgresMoveMark(database, "moved")) !== null
  );
}

type Place = MoveOptions & { path: string };

async function there(
  database: Database,
  { path, data, clock, random }: Place,
): Promise<MoveReport> {
  const [{ migrateDatabase }, { isArrived, moveThere }, { storesThere }] = await Promise.all([
    import("../../hosted/registry/postgres/migrate.ts"),
    import("../../hosted/registry/move/move-there.ts"),
    import("./hosted-move-stores.ts"),
  ]);
  const store = openStore({ path, kind: "hosted", clock, random });
  try {
    await migrateDatabase(database);
    const ids = idsWithoutBox(store);
    // Once the registry is there, nodes may have served them.
    const isBefore = !(await isArrived({ store, database }));
    const stores = isBefore ? await storesThere(database, ids, { data, clock, random }) : 0;
    return reportOf("to the database", await moveThere({ store, database }, random), stores);
  } finally {
    store.close();
  }
}

async function back(database: Database, { path, data, clock, random }: Place): Promise<MoveReport> {
  const key = join(data, hostedFiles.key);
  if (!existsSync(key))
    throw new StoreFault(
      "misconfigured",
      `The move needs the nodes' sealing key: copy their hosted.key to ${key} first (mode 600).`,
    );
  const [{ moveBack }, { storesBack }] = await Promise.all([
    import("../../hosted/registry/move/move-back.ts"),
    import("./hosted-move-stores.ts"),
  ]);
  let stores = 0;
  const before = async () => {
    stores = await storesBack(database, { data });
  };
  const moved = await moveBack(database, { path, clock, random, before });
  return reportOf("to the data directory", moved, stores);
}

function reportOf(moved: MoveReport["moved"], sums: Moved, stores: number): MoveReport {
  const rows = Object.fromEntries([...sums].map(([name, { rows: n }]) => [name, n]));
  return { moved, rows, stores };
}
