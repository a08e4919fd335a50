import { existsSync, renameSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import type { Clock } from "../../../ground/kit/clock.ts";
import type { Random } from "../../../ground/kit/random.ts";
import { StoreFault } from "../../../ground/store/faults.ts";
import { syncDirectory } from "../../../ground/store/files.ts";
import { openStore, type Store } from "../../../ground/store/store.ts";
import { newMoveMark } from "../moves.ts";
import type { Database, DatabaseTx } from "../postgres/connect.ts";
import { postgresMoveMark, setPostgresMoveMark } from "../postgres/move-marks.ts";
import { namesAlive } from "../postgres/nodes.ts";
import { setSqliteMoveMark, sqliteMoveMark } from "../sqlite/move-marks.ts";
import { writeHere } from "./here.ts";
import { type Moved, moveLimits, sumHere } from "./move-there.ts";
import { differenceOf, RowSum, type TableSum } from "./sum.ts";
import { movedTables } from "./tables.ts";
import { rowsThere } from "./there.ts";

interface Files {
  /** Path of the new file, which doesn't exist yet. */
  path: string;
  clock: Clock;
  random: Random;
  /** What is done before the file gets its name, while no node serves. */
  before?(): Promise<void>;
}

/**
 * Moves the registry from a database that no node serves into a new file. The file gets its name when its checksums
 * equal the database's. If it is killed, run it again. Throws StoreFault `misconfigured`, and DatabaseAway.
 */
export async function moveBack(database: Database, files: Files): Promise<Moved> {
  const earlier = await postgresMoveMark(database, "moved");
  const arrived = arrivedAs(files);
  if (earlier !== null && earlier !== arrived?.mark)
    throw new StoreFault("misconfigured", "The database was moved already, to another file.");
  const mark = earlier ?? (await postgresMoveMark(database, "moving")) ?? newMoveMark(files.random);
  if (arrived !== null && arrived.mark !== mark)
    throw new StoreFault(
      "misconfigured",
      `${files.path} is another registry: name an empty --data.`,
    );
  const moved = arrived?.moved ?? (await made(database, files, mark));
  await setPostgresMoveMark(database, "moved", mark);
  await setPostgresMoveMark(database, "moving", null);
  return moved;
}

/** The move that made this file, and its contents; null where there is no file. Only a complete file has its name. */
function arrivedAs({ path, clock, random }: Files): { mark: number | null; moved: Moved } | null {
  if (!existsSync(path)) return null;
  const store = openStore({ path, kind: "hosted", clock, random });
  try {
    return { mark: sqliteMoveMark(store, "moved_from"), moved: sumHere(store) };
  } finally {
    store.close();
  }
}

async function made(database: Database, files: Files, mark: number): Promise<Moved> {
  // From now on a node can't start; one that started before is seen next.
  await setPostgresMoveMark(database, "moving", mark);
  try {
    await database.transaction(mustBeStopped, { repeatable: true });
    await files.before?.();
    return await database.transaction((tx) => copyAll(tx, files, mark), {
      ...moveLimits,
      repeatable: true,
    });
  } catch (error) {
    // The file doesn't have its name yet, so the database is still the registry.
    if (!existsSync(files.path))
      await setPostgresMoveMark(database, "moving", null).catch(() => {});
    throw error;
  }
}

/**
 * Throws while a node lives. A node that stood still learns at its renewal that it isn't registered any more, and ends
 * itself. A node that starts right now is waited for, or finds the mark.
 */
async function mustBeStopped(tx: DatabaseTx): Promise<void> {
  await tx.query("LOCK TABLE nodes IN SHARE ROW EXCLUSIVE MODE");
  const alive = await namesAlive(tx);
  if (alive.length === 0) {
    await tx.query("DELETE FROM nodes");
    return;
  }
  throw new StoreFault(
    "locked",
    `Nodes serve the database: stop ${alive.join(", ")}, and wait 10 s.`,
  );
}

async function copyAll(tx: DatabaseTx, files: Files, mark: number): Promise<Moved> {
  const { path } = files;
  await tx.query("SELECT 1 FROM meta WHERE key = 'schema' FOR UPDATE");
  const aside = `${path}.moving`;
  clear(aside);
  const store = openStore({ ...files, path: aside, kind: "hosted" });
  let moved: Moved;
  try {
    const there = await copied(tx, store);
    moved = sumHere(store);
    const difference = differenceOf(moved, there);
    if (difference !== null)
      throw new StoreFault("damaged", `The copy differs from the original. ${difference}.`);
    setSqliteMoveMark(store, "moved_from", mark);
  } finally {
    store.close();
  }
  renameSync(aside, path);
  syncDirectory(dirname(path));
  return moved;
}

/** Deletes what a killed try left behind. */
function clear(aside: string): void {
  for (const end of ["", "-wal", "-shm"]) rmSync(aside + end, { force: true });
}

/** Writes each row into the store, and sums the rows. */
async function copied(tx: DatabaseTx, store: Store): Promise<Moved> {
  const sums = new Map<string, TableSum>();
  for (const table of movedTables) {
    const sum = new RowSum();
    for await (const rows of rowsThere(tx, table)) {
      for (const row of rows) sum.add(row);
      writeHere(store, table, rows);
    }
    sums.set(table.name, sum.end());
  }
  return sums;
}
