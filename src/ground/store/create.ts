import { closeSync, existsSync, linkSync, openSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Clock } from "../kit/clock.ts";
import { giveToOwner } from "../kit/owner.ts";
import { openSqlite, type StoreKind } from "./database.ts";
import { StoreFault } from "./faults.ts";
import { syncDirectory, withAside } from "./files.ts";
import { migrate } from "./migrate.ts";
import { type Migration, migrations } from "./migrations.ts";

/**
 * Makes the file where there is none: whole, with its schema, before it gets its name. So a start that is
 * killed at any moment leaves no file or a good one, and an empty file is always somebody's accident.
 * Throws StoreFault.
 */
export function createFile(options: {
  path: string;
  kind: StoreKind;
  clock: Clock;
  migrations?: readonly Migration[];
}): void {
  const { path, kind, clock } = options;
  if (existsSync(path)) return;
  mustHaveNoLog(path);
  try {
    withAside(path, (aside) => {
      const made = join(aside, "new.db");
      // Made by us first: SQLite's own would be readable by others.
      closeSync(openSync(made, "wx", 0o600));
      const db = openSqlite(made, { fresh: true });
      try {
        migrate(db, { kind, clock, known: options.migrations ?? migrations(kind) });
      } finally {
        db.close();
      }
      giveName(made, path);
    });
  } catch (error) {
    throw StoreFault.from(error, path);
  }
}

/** Commits that were never moved into the file that is gone: a new file would be destroyed by them. */
function mustHaveNoLog(path: string): void {
  const log = statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
  if (log === 0) return;
  throw new StoreFault(
    "damaged",
    `${path} is gone but ${path}-wal, which belongs to it, is there. Put ${path} back, or move the log away to begin anew; nothing was changed.`,
  );
}

/** Of two processes at their first start one makes the file; the other goes on with that one. */
function giveName(made: string, path: string): void {
  try {
    giveToOwner(made, dirname(path));
    linkSync(made, path);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
  }
  syncDirectory(dirname(path));
}
