import { closeSync, constants, existsSync, lstatSync, openSync } from "node:fs";
import { dirname, join } from "node:path";
import { giveOpenFile } from "../kit/owner.ts";
import { openForLock } from "./database.ts";
import { StoreFault, sqliteCode } from "./faults.ts";

const LOCK = "serve.lock";
/** `isLocked` in another process holds the lock for a moment, which is no reason not to serve. */
const PASSING_LOOK_MS = 500;

/**
 * Locks a data directory for one process that serves or replaces it, by an exclusive lock on a small SQLite file. The
 * system releases the lock when the process ends, however it ends. Returns the function that releases it. Throws
 * StoreFault "locked".
 */
export function lockDirectory(directory: string): () => void {
  const path = join(directory, LOCK);
  makeLockFile(path);
  const db = openOrFail(path, PASSING_LOOK_MS);
  try {
    db.pragma("locking_mode = EXCLUSIVE");
    db.exec(
      "BEGIN EXCLUSIVE; CREATE TABLE IF NOT EXISTS held (id INTEGER); COMMIT; BEGIN EXCLUSIVE",
    );
    return () => db.close();
  } catch (error) {
    db.close();
    if (isBusy(error)) {
      throw new StoreFault(
        "locked",
        `Another process already serves ${directory}: one process a data directory.`,
        error,
      );
    }
    throw StoreFault.from(error, path);
  }
}

/** Whether a process serves the directory now. Throws StoreFault. */
export function isLocked(directory: string): boolean {
  const path = join(directory, LOCK);
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return false;
  const db = openOrFail(path, 0);
  try {
    db.prepare("SELECT count(*) FROM sqlite_schema").get();
    return false;
  } catch (error) {
    if (isBusy(error)) return true;
    throw StoreFault.from(error, path);
  } finally {
    db.close();
  }
}

/** We make the file because SQLite would follow a link. It belongs to the directory's owner. */
function makeLockFile(path: string): void {
  const { O_CREAT, O_NOFOLLOW, O_NONBLOCK, O_RDWR } = constants;
  if (existsSync(path)) return;
  try {
    const fd = openSync(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o600);
    try {
      giveOpenFile(fd, dirname(path));
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    throw StoreFault.from(error, path);
  }
}

function openOrFail(path: string, waitMs: number) {
  try {
    return openForLock(path, waitMs);
  } catch (error) {
    throw StoreFault.from(error, path);
  }
}

function isBusy(error: unknown): boolean {
  return sqliteCode(error).startsWith("SQLITE_BUSY");
}
