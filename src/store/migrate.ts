import type { Clock } from "../kit/clock.ts";
import { unixSeconds } from "../kit/clock.ts";
import { applicationIds, type SqliteDatabase, type StoreKind } from "./database.ts";
import { StoreFault } from "./faults.ts";
import { migrations } from "./migrations.ts";

/**
 * Brings the file up to this program's schema: each numbered migration in a transaction that also
 * records it (`user_version` and a row), so that a kill at any line leaves the old schema or the new.
 * Throws StoreFault "newer" for data of a newer program, which is left untouched.
 */
export function migrate(
  db: SqliteDatabase,
  options: { kind: StoreKind; path: string; clock: Clock },
): void {
  const known = migrations(options.kind);
  const at = userVersion(db);
  if (at > known.length) {
    throw new StoreFault(
      "newer",
      `${options.path} has schema ${at}; this program knows ${known.length}. Use the newer program: nothing was changed.`,
    );
  }
  for (const migration of known.slice(at)) apply(db, migration, options);
}

export function userVersion(db: SqliteDatabase): number {
  return db.pragma("user_version", { simple: true }) as number;
}

function apply(
  db: SqliteDatabase,
  migration: { number: number; name: string; sql: string },
  options: { kind: StoreKind; clock: Clock },
): void {
  // A rebuilt table would cascade into its children; the pragma is void inside a transaction.
  db.pragma("foreign_keys = OFF");
  try {
    db.exec("BEGIN IMMEDIATE");
    // Another process may have done it between our look and our lock.
    if (userVersion(db) >= migration.number) {
      db.exec("ROLLBACK");
      return;
    }
    db.exec(migration.sql);
    db.exec(
      "CREATE TABLE IF NOT EXISTS migrations (number INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at INTEGER NOT NULL) STRICT",
    );
    db.prepare("INSERT INTO migrations (number, name, applied_at) VALUES (?, ?, ?)").run(
      migration.number,
      migration.name,
      unixSeconds(options.clock),
    );
    const broken = db.pragma("foreign_key_check") as unknown[];
    if (broken.length > 0)
      throw new StoreFault(
        "damaged",
        `migration ${migration.name} would break ${broken.length} references`,
      );
    db.pragma(`application_id = ${applicationIds[options.kind]}`);
    db.pragma(`user_version = ${migration.number}`);
    db.exec("COMMIT");
  } catch (error) {
    if (db.inTransaction) db.exec("ROLLBACK");
    throw error;
  } finally {
    db.pragma("foreign_keys = ON");
  }
}
