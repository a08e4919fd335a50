import { realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import Database from "better-sqlite3";
import { loadAddon } from "../kit/assets.ts";
import { isRootAbroad, plantedAt } from "../kit/owner.ts";
import { StoreFault } from "./faults.ts";

export type SqliteDatabase = Database.Database;

/** A value for a `?`, for statements with many columns or with a varying number. */
export type SqlValue = string | number | bigint | null;
/** A statement's parameters: a list for `?`, or an object for `@name`. */
export type Params = unknown[] | object;
/** A prepared statement: its parameters and its row (with `pluck()`, its one value). */
export type Statement<P extends Params = unknown[], Row = unknown> = P extends unknown[]
  ? Database.Statement<P, Row>
  : Database.Statement<[P], Row>;

/** "BOX1" and "BOXH" mark our files, so a foreign database is never migrated. */
export const applicationIds = { box: 0x424f5831, hosted: 0x424f5848 } as const;
export type StoreKind = keyof typeof applicationIds;

/**
 * Opens one SQLite file with the pragmas that every promise depends on, and checks them. Reopening a WAL file sets
 * synchronous=NORMAL, which loses acknowledged commits in a power cut, so FULL is set each time. `fresh`: the file is
 * about to be made. Throws StoreFault with one sentence.
 */
export function openSqlite(path: string, how: { fresh?: boolean } = {}): SqliteDatabase {
  const db = construct(path, { fileMustExist: !how.fresh, timeout: 5000 });
  try {
    setPragmas(db);
    return db;
  } catch (error) {
    db.close();
    throw StoreFault.from(error, path);
  }
}

/** Opens a file without changing anything in it, even where it is damaged. Throws StoreFault. */
export function openReadOnly(path: string): SqliteDatabase {
  const db = construct(path, { readonly: true, fileMustExist: true, timeout: 5000 });
  try {
    db.pragma("trusted_schema = OFF");
    db.pragma("cell_size_check = ON");
    db.pragma("temp_store = MEMORY");
    return db;
  } catch (error) {
    db.close();
    throw StoreFault.from(error, path);
  }
}

/** Opens a small file that is only locked. `waitMs`: for another's lock. Throws StoreFault, SQLite's errors. */
export function openForLock(path: string, waitMs: number): SqliteDatabase {
  return openPlain(path, { fileMustExist: true, timeout: waitMs });
}

function construct(path: string, options: Database.Options): SqliteDatabase {
  try {
    return openPlain(path, options);
  } catch (error) {
    throw StoreFault.from(error, path);
  }
}

/**
 * SQLite follows a link at `path`, and writes to a hard link beside it. Root must not do that in another user's
 * directory. So the path is checked before opening, and again against the file that was opened, since a link may have
 * appeared in between.
 */
function openPlain(path: string, options: Database.Options): SqliteDatabase {
  mustBePlain(path);
  const db = new Database(path, { ...options, ...addonOptions(path) });
  if (!isRootAbroad(dirname(path)) || isOpened(db, path)) return db;
  db.close();
  throw new StoreFault("foreign", `${path} was replaced by a link while it was opened.`);
}

function mustBePlain(path: string): void {
  for (const end of ["", "-wal", "-shm", "-journal"]) {
    const why = plantedAt(path + end);
    if (why !== null) throw new StoreFault("foreign", why);
  }
}

/** Whether the open file is the one at `path`. */
function isOpened(db: SqliteDatabase, path: string): boolean {
  const [main] = db.pragma("database_list") as { file: string }[];
  return main?.file === join(realpathSync(dirname(path)), basename(path));
}

function addonOptions(path: string): object {
  const nativeBinding = loadAddon(dirname(path));
  return nativeBinding === undefined ? {} : { nativeBinding };
}

function setPragmas(db: SqliteDatabase): void {
  db.pragma("journal_mode = WAL");
  db.pragma("synchronous = FULL");
  db.pragma("foreign_keys = ON");
  db.pragma("wal_autocheckpoint = 1000");
  db.pragma("trusted_schema = OFF");
  db.pragma("cell_size_check = ON");
  db.pragma("temp_store = MEMORY");
  db.pragma("cache_size = -16000");
  const readBack = ["journal_mode", "synchronous", "foreign_keys"].map((name) =>
    db.pragma(name, { simple: true }),
  );
  if (String(readBack) !== "wal,2,1") {
    throw new StoreFault(
      "unavailable",
      `SQLite did not take its durability settings (${readBack}).`,
    );
  }
}
