import { existsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import Database from "better-sqlite3";
import { loadAddon } from "../kit/assets.ts";
import { StoreFault } from "./faults.ts";

export type SqliteDatabase = Database.Database;
export type Statement = Database.Statement;

/** "BOX1" and "BOXH": marks a file as one of ours, so that a foreign database is never migrated. */
export const applicationIds = { box: 0x424f5831, hosted: 0x424f5848 } as const;
export type StoreKind = keyof typeof applicationIds;

/**
 * Opens one SQLite file with the pragmas every promise rests on, and reads them back.
 * A WAL file that is reopened defaults to synchronous=NORMAL, which loses acknowledged commits on a
 * power cut, so FULL is set on every open and checked.
 * Throws StoreFault ("foreign", "damaged", "unavailable") with one plain sentence.
 */
export function openSqlite(
  path: string,
  kind: StoreKind,
  how: { readonly?: boolean } = {},
): SqliteDatabase {
  const fresh = !existsSync(path);
  if (!fresh && statSync(path).size === 0) {
    throw new StoreFault(
      "damaged",
      `${path} is empty (0 bytes): it is no database of box. Restore a backup or move it away.`,
    );
  }
  const db = construct(path, how.readonly ?? false);
  try {
    checkOwner(db, { path, kind, fresh });
    if (!how.readonly) setPragmas(db, fresh);
    return db;
  } catch (error) {
    db.close();
    throw StoreFault.from(error, path);
  }
}

function construct(path: string, readonly: boolean): SqliteDatabase {
  try {
    const nativeBinding = loadAddon(dirname(path));
    const options: Database.Options = { readonly, timeout: 5000 };
    if (nativeBinding !== undefined) Object.assign(options, { nativeBinding });
    return new Database(path, options);
  } catch (error) {
    throw StoreFault.from(error, path);
  }
}

function checkOwner(
  db: SqliteDatabase,
  file: { path: string; kind: StoreKind; fresh: boolean },
): void {
  const id = db.pragma("application_id", { simple: true }) as number;
  const tables = db.prepare("SELECT count(*) FROM sqlite_schema").pluck().get() as number;
  // A first start that was killed leaves a file without tables: it starts again as a fresh one.
  if (id === applicationIds[file.kind] || (id === 0 && tables === 0)) return;
  throw new StoreFault(
    "foreign",
    `${file.path} is not a ${file.kind} database of box; it was left untouched.`,
  );
}

function setPragmas(db: SqliteDatabase, fresh: boolean): void {
  if (fresh) db.pragma("auto_vacuum = INCREMENTAL");
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
