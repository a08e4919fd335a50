import type { Random } from "../../../ground/kit/random.ts";
import { StoreFault } from "../../../ground/store/faults.ts";
import type { Store } from "../../../ground/store/store.ts";
import { newMoveMark } from "../moves.ts";
import type { Database, DatabaseTx } from "../postgres/connect.ts";
import { DatabaseAway } from "../postgres/database-faults.ts";
import { postgresMoveMark, setPostgresMoveMark } from "../postgres/move-marks.ts";
import { setSqliteMoveMark, sqliteMoveMark } from "../sqlite/move-marks.ts";
import { rowsHere } from "./here.ts";
import { differenceOf, RowSum, type TableSum } from "./sum.ts";
import { type MovedTable, movedTables } from "./tables.ts";
import { countRows, rowsThere, writeThere } from "./there.ts";

/** Moving a large registry takes minutes, and so does summing it while the database waits. */
export const moveLimits = { withinMs: 6 * 3_600_000, idleMs: 600_000 } as const;

/** What moved, by table. */
export type Moved = ReadonlyMap<string, TableSum>;

/** Whether the database holds a registry: this one, or another. */
export async function isArrived({
  store,
  database,
}: {
  store: Store;
  database: Database;
}): Promise<boolean> {
  if (sqliteMoveMark(store, "moved") !== null) return true;
  if ((await postgresMoveMark(database, "moved_from")) !== null) return true;
  return (await database.query("SELECT 1 FROM tenants LIMIT 1")).length > 0;
}

/**
 * Moves the registry of a stopped service into a migrated database without rows, in one transaction. Before the commit
 * its checksums must equal those of the file. If it is killed, run it again: it finds out how the last try ended.
 * Throws StoreFault `misconfigured`, and DatabaseAway.
 */
export async function moveThere(
  { store, database }: { store: Store; database: Database },
  random: Random,
): Promise<Moved> {
  const path = store.path;
  const earlier = sqliteMoveMark(store, "moved");
  if (earlier !== null && earlier !== (await postgresMoveMark(database, "moved_from")))
    throw new StoreFault("misconfigured", `${path} was moved already, to another database.`);
  if (earlier !== null) return ended(store, earlier);
  const mark = sqliteMoveMark(store, "moving") ?? newMoveMark(random);
  setSqliteMoveMark(store, "moving", mark);
  await committed({ store, database }, mark);
  return ended(store, mark);
}

function ended(store: Store, mark: number): Moved {
  setSqliteMoveMark(store, "moved", mark);
  setSqliteMoveMark(store, "moving", null);
  return sumHere(store);
}

async function committed(
  { store, database }: { store: Store; database: Database },
  mark: number,
): Promise<Moved> {
  try {
    return await database.transaction((tx) => moveAll(tx, store, mark), moveLimits);
  } catch (error) {
    // No answer: the commit may have happened. The mark stays, and the next run finds out.
    const arrived = await postgresMoveMark(database, "moved_from").catch(() => undefined);
    if (arrived === undefined) throw unknown(error);
    if (arrived === mark) return database.transaction((tx) => moveAll(tx, store, mark), moveLimits);
    setSqliteMoveMark(store, "moving", null);
    throw error;
  }
}

function unknown(error: unknown): DatabaseAway {
  const why = error instanceof Error ? error.message : String(error);
  return new DatabaseAway(
    `${why}. Whether the move was done isn't known: run the same command again`,
    { cause: error },
  );
}

async function moveAll(tx: DatabaseTx, store: Store, mark: number): Promise<Moved> {
  await tx.query("SELECT 1 FROM meta WHERE key = 'schema' FOR UPDATE");
  const arrived = await postgresMoveMark(tx, "moved_from");
  if (arrived !== mark) {
    for (const table of movedTables) await mustBeEmpty(tx, table);
    for (const table of movedTables) {
      await writeThere(tx, table, rowsHere(store, table));
      await countRows(tx, table);
    }
    await beginAfresh(tx, store);
  }
  const [here, there] = [sumHere(store), await sumThere(tx)];
  const difference = differenceOf(here, there);
  if (difference !== null)
    throw new StoreFault("damaged", `The copy differs from the original. ${difference}.`);
  await setPostgresMoveMark(tx, "moved_from", mark);
  return here;
}

async function mustBeEmpty(tx: DatabaseTx, { name }: MovedTable): Promise<void> {
  const rows = await tx.query(`SELECT 1 FROM ${name} LIMIT 1`);
  if (rows.length > 0)
    throw new StoreFault(
      "misconfigured",
      `The database isn't empty: its table ${name} has rows. Move into an empty one; nothing was changed.`,
    );
}

/** The time since the service was stopped counts as an outage, so no box is called silent for it. */
async function beginAfresh(tx: DatabaseTx, store: Store): Promise<void> {
  await tx.query("UPDATE jobs SET node = NULL, until = NULL, ran_at = NULL");
  // The sealing key comes with the moved data, whichever node started here before.
  await tx.query("DELETE FROM meta WHERE key = 'sealing_key'");
  const alive = store
    .sql<[], number>("SELECT value FROM meta WHERE key = 'alive_at'")
    .pluck()
    .get();
  if (typeof alive === "number")
    await tx.query(
      "INSERT INTO service (id, alive_at) VALUES (1, to_timestamp($1::bigint)) ON CONFLICT (id) DO UPDATE SET alive_at = excluded.alive_at",
      [alive],
    );
}

export function sumHere(store: Store): Moved {
  return new Map(
    movedTables.map((table) => {
      const sum = new RowSum();
      for (const row of rowsHere(store, table)) sum.add(row);
      return [table.name, sum.end()];
    }),
  );
}

async function sumThere(tx: DatabaseTx): Promise<Moved> {
  const sums = new Map<string, TableSum>();
  for (const table of movedTables) {
    const sum = new RowSum();
    for await (const rows of rowsThere(tx, table)) for (const row of rows) sum.add(row);
    sums.set(table.name, sum.end());
  }
  return sums;
}
