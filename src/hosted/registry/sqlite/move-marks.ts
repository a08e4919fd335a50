import { StoreFault } from "../../../ground/store/faults.ts";
import type { Reader, Store } from "../../../ground/store/store.ts";
import type { MoveMark } from "../moves.ts";

export function sqliteMoveMark(reader: Reader, key: MoveMark): number | null {
  const value = reader
    .sql<[key: string], number>("SELECT value FROM meta WHERE key = ?")
    .pluck()
    .get(key);
  return value ?? null;
}

/** null removes the mark. */
export function setSqliteMoveMark(store: Store, key: MoveMark, mark: number | null): void {
  store.write((tx) => {
    tx.sql<[key: string]>("DELETE FROM meta WHERE key = ?").run(key);
    if (mark !== null)
      tx.sql<[key: string, mark: number]>("INSERT INTO meta (key, value) VALUES (?, ?)").run(
        key,
        mark,
      );
  });
}

/** Throws StoreFault where the registry was moved to a database, or may have been. */
export function sqliteMustNotHaveMoved(reader: Reader, path: string): void {
  if (sqliteMoveMark(reader, "moved") !== null)
    throw new StoreFault(
      "misconfigured",
      `${path} was moved to a database: serve it with --database. The way back is box hosted move --database URL --data EMPTY.`,
    );
  if (sqliteMoveMark(reader, "moving") !== null)
    throw new StoreFault(
      "misconfigured",
      `A move of ${path} to a database was begun, and how it ended isn't known: run the same box hosted move again.`,
    );
}
