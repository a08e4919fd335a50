import { chmodSync, mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { loadAddon } from "../kit/assets.ts";
import { StoreFault, sqliteCode } from "../store/faults.ts";

/** Makes the directory (0700) if need be. Throws StoreFault where that can't be. */
export function prepareDirectory(directory: string): void {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    if ((statSync(directory).mode & 0o077) !== 0) chmodSync(directory, 0o700);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new StoreFault(
      "unavailable",
      `The data directory ${directory} can't be used: ${why}`,
      error,
    );
  }
}

/**
 * Holds the directory for one serving process, by an exclusive lock on a small SQLite file: the system
 * drops it with the process, so that a kill leaves nothing stale. Throws StoreFault "locked".
 */
export function lockDirectory(directory: string): () => void {
  const path = join(directory, "serve.lock");
  const nativeBinding = loadAddon(directory);
  const db = new Database(path, {
    timeout: 0,
    ...(nativeBinding === undefined ? {} : { nativeBinding: nativeBinding as never }),
  });
  try {
    db.pragma("locking_mode = EXCLUSIVE");
    db.exec(
      "BEGIN EXCLUSIVE; CREATE TABLE IF NOT EXISTS held (id INTEGER); COMMIT; BEGIN EXCLUSIVE",
    );
    return () => db.close();
  } catch (error) {
    db.close();
    if (sqliteCode(error).startsWith("SQLITE_BUSY")) {
      throw new StoreFault(
        "locked",
        `Another process already serves ${directory}: one process a data directory.`,
        error,
      );
    }
    throw StoreFault.from(error, path);
  }
}
