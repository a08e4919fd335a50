import type { Clock } from "../kit/clock.ts";
import { unixSeconds } from "../kit/clock.ts";
import { applicationIds, type SqliteDatabase, type StoreKind } from "./database.ts";
import { StoreFault } from "./faults.ts";
import type { Migration } from "./migrations.ts";

export interface MigrateOptions {
  kind: StoreKind;
  clock: Clock;
  /** Every migration the program knows. */
  known: readonly Migration[];
}

/**
 * Runs the migrations that the file hasn't seen, all in one transaction that also records them
 * (`user_version` and a row each): a kill at any line, or one that fails, leaves the old schema, which
 * the older program still opens.
 */
export function migrate(db: SqliteDatabase, options: MigrateOptions): void {
  // A rebuilt table would cascade into its children; the pragma is void inside a transaction.
  db.pragma("foreign_keys = OFF");
  try {
    db.exec("BEGIN IMMEDIATE");
    // Looked up under the lock: another process may have done it.
    const pending = options.known.slice(userVersion(db));
    for (const migration of pending) apply(db, migration, options.clock);
    if (pending.length > 0) {
      mustKeepReferences(db);
      db.pragma(`application_id = ${applicationIds[options.kind]}`);
      db.pragma(`user_version = ${options.known.length}`);
    }
    db.exec("COMMIT");
  } catch (error) {
    if (db.inTransaction) db.exec("ROLLBACK");
    throw error;
  } finally {
    db.pragma("foreign_keys = ON");
  }
}

export function userVersion(db: SqliteDatabase): number {
  return db.pragma("user_version", { simple: true }) as number;
}

function apply(db: SqliteDatabase, { number, name, sql }: Migration, clock: Clock): void {
  db.exec(sql);
  db.exec(
    "CREATE TABLE IF NOT EXISTS migrations (number INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at INTEGER NOT NULL) STRICT",
  );
  db.prepare("INSERT INTO migrations (number, name, applied_at) VALUES (?, ?, ?)").run(
    number,
    name,
    unixSeconds(clock),
  );
}

function mustKeepReferences(db: SqliteDatabase): void {
  const broken = db.pragma("foreign_key_check") as unknown[];
  if (broken.length === 0) return;
  throw new StoreFault(
    "damaged",
    `The upgrade would break ${broken.length} references; the data was left as it was.`,
  );
}
