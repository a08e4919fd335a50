import {
  closeSync,
  constants,
  fchownSync,
  fstatSync,
  lstatSync,
  openSync,
  type Stats,
  statSync,
} from "node:fs";
import { dirname } from "node:path";

/**
 * A data directory belongs to the service's user, and root often runs commands on it. Files that root makes there must
 * get that user as owner, or the service can't open them. And root must not follow links that the service put there,
 * because a link could lead to any file of the system.
 */

const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;

/** Opens a file to read it, without following links. A pipe doesn't block it. */
export const READ_PLAIN = O_RDONLY | O_NOFOLLOW | O_NONBLOCK;

/** Whether this process is root, in a directory of another user. */
export function isRootAbroad(directory: string): boolean {
  return process.geteuid?.() === 0 && statSync(directory).uid !== 0;
}

/** Whether root may use the file at `path` in another user's directory: it is theirs, or it has only this name. */
export function isPlain(found: Stats, owner: number): boolean {
  return found.isFile() && (found.nlink === 1 || found.uid === owner);
}

/** Why root may not open `path`; null where it may. Opens nothing. */
export function plantedAt(path: string): string | null {
  const directory = dirname(path);
  if (!isRootAbroad(directory)) return null;
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined || isPlain(found, statSync(directory).uid)) return null;
  const what = found.isFile() ? "another name of some file" : "a link or no regular file";
  return `${path} is ${what}, in a directory of another user: root doesn't follow it. Look at it, move it away, or run this as that user. Nothing was changed.`;
}

/** Gives an open file to the owner of `directory` where this process is root. */
export function giveOpenFile(fd: number, directory: string): void {
  if (!isRootAbroad(directory)) return;
  const { uid, gid } = statSync(directory);
  fchownSync(fd, uid, gid);
}

/**
 * Gives a file or directory that root made to the owner of `directory`, by default its parent. Throws for a link, and
 * for a file that another user may have put there.
 */
export function giveToOwner(path: string, directory: string = dirname(path)): void {
  if (!isRootAbroad(directory)) return;
  const fd = openSync(path, READ_PLAIN);
  try {
    const found = fstatSync(fd);
    if (!found.isDirectory() && !isPlain(found, statSync(directory).uid))
      throw new Error(`${path} is not the file that was made there`);
    giveOpenFile(fd, directory);
  } finally {
    closeSync(fd);
  }
}
