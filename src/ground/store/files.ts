import { createHash } from "node:crypto";
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";

/** Syncs a file to the disk. */
export function syncFile(path: string): void {
  const fd = openSync(path, "r+");
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** Syncs a directory, so that new, moved and removed names survive a power cut. */
export function syncDirectory(path: string): void {
  const fd = openSync(path, "r");
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** Writes and syncs a new file (0600). Throws where the name exists. */
export function writeSynced(path: string, content: string | Uint8Array): void {
  writeFileSync(path, content, { mode: 0o600, flag: "wx" });
  syncFile(path);
}

/** Free bytes for this process in a directory; null where the system doesn't say. */
export function freeBytes(directory: string): number | null {
  try {
    const { bavail, bsize } = statfsSync(directory);
    return bavail * bsize;
  } catch {
    return null;
  }
}

const CHUNK = 1024 * 1024;

export function digestFile(path: string): { sha256: string; size: number } {
  const digest = createHash("sha256");
  const chunk = Buffer.allocUnsafe(CHUNK);
  const fd = openSync(path, "r");
  let size = 0;
  try {
    for (let read = -1; read !== 0; ) {
      read = readSync(fd, chunk, 0, CHUNK, null);
      digest.update(chunk.subarray(0, read));
      size += read;
    }
  } finally {
    closeSync(fd);
  }
  return { sha256: digest.digest("hex"), size };
}

/**
 * Calls `use` with an empty directory beside `path`. What `use` makes there is then moved to its name. The directory is
 * removed afterwards, and so are those that killed processes left.
 */
export function withAside<T>(path: string, use: (directory: string) => T): T {
  const [parent, made] = [dirname(path), basename(path)];
  dropLeftovers(parent, (name) => name === made);
  const aside = join(parent, `.${made}.aside-${process.pid}`);
  mkdirSync(aside, { mode: 0o700 });
  try {
    return use(aside);
  } finally {
    rmSync(aside, { recursive: true, force: true });
  }
}

/**
 * Removes the directories of `withAside` that killed processes left, for files whose names are `wanted`. Call it before
 * free space is measured: they may be large.
 */
export function dropLeftovers(directory: string, wanted: (name: string) => boolean): void {
  for (const entry of readdirSync(directory))
    if (isLeftover(entry, wanted)) rmSync(join(directory, entry), { recursive: true, force: true });
}

/** Whether a directory entry is such a leftover. */
export function isLeftover(entry: string, wanted: (name: string) => boolean): boolean {
  const [, name, pid] = /^\.(.+)\.aside-(\d+)$/s.exec(entry) ?? [];
  if (name === undefined || !wanted(name)) return false;
  return Number(pid) === process.pid || !isAlive(Number(pid));
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

/**
 * Files that may lie in a directory without a store: those of a refused or killed restore, a lock, a disk; and key
 * files, which nothing overwrites.
 */
const MAY_LIE_THERE =
  /^(serve\.lock.*|\.cache|lost\+found|\..*\.aside-\d+|(box|hosted)\.key(\.[0-9a-f]{16})?)$/;

/** The names of all that isn't for a box to begin beside. */
export const othersIn = (directory: string): string[] =>
  readdirSync(directory).filter((name) => !MAY_LIE_THERE.test(name));
