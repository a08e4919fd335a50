import { type Clock, unixSeconds } from "../kit/clock.ts";
import { applicationIds, type SqliteDatabase, type StoreKind } from "./database.ts";
import { StoreFault } from "./faults.ts";
import type { Migration } from "./migrations.ts";

interface MigrateOptions {
  kind: StoreKind;
  clock: Clock;
  /** Every migration that the program has. */
  known: readonly Migration[];
}

/**
 * Runs the migrations that the file hasn't had. One transaction runs and records them (`user_version`, and a row each),
 * so a process that is killed, or a migration that fails, leaves the old schema, which the older program still opens.
 */
export function migrate(db: SqliteDatabase, options: MigrateOptions): void {
  // Rebuilding a table would delete its children's rows. Inside a transaction the pragma has no effect.
  db.pragma("foreign_keys = OFF");
  try {
    db.exec("BEGIN IMMEDIATE");
    // Read under the lock: another process may have migrated meanwhile.
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
