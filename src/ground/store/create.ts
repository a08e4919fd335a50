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
 * Makes the file where there is none, with its schema, before it gets its name. A process that is killed meanwhile
 * leaves no file or a complete one, so an empty file is never ours. Throws StoreFault.
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
      // We make it first, because other users could read SQLite's own.
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

/** Throws where a write-ahead log of a deleted file lies here: its commits would destroy a new file. */
function mustHaveNoLog(path: string): void {
  const log = statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
  if (log === 0) return;
  throw new StoreFault(
    "damaged",
    `${path} is gone but ${path}-wal, which belongs to it, is there. Put ${path} back, or move the log away to start with an empty store; nothing was changed.`,
  );
}

/** Of two processes at their first start, one makes the file and both use it. */
function giveName(made: string, path: string): void {
  try {
    giveToOwner(made, dirname(path));
    linkSync(made, path);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
  }
  syncDirectory(dirname(path));
}
