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
 * A data directory belongs to the service's user, and commands on it are often run by root. What root makes there
 * must be the service's, or the service can't open it; and what the service put there is never followed, or it
 * could lead root to any file of the system.
 */

const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;

/** Opens to read what is there, links not followed; a pipe doesn't hold it up. */
export const READ_PLAIN = O_RDONLY | O_NOFOLLOW | O_NONBLOCK;

/** Whether this process is root, in a directory of another user. */
export function isRootAbroad(directory: string): boolean {
  return process.geteuid?.() === 0 && statSync(directory).uid !== 0;
}

/** Whether root may use what lies at `path` in another user's directory: a file that is theirs, or its only name. */
export function isPlain(found: Stats, owner: number): boolean {
  return found.isFile() && (found.nlink === 1 || found.uid === owner);
}

/** null, or why root doesn't open `path`; nothing is opened for it. */
export function plantedAt(path: string): string | null {
  const directory = dirname(path);
  if (!isRootAbroad(directory)) return null;
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined || isPlain(found, statSync(directory).uid)) return null;
  const what = found.isFile() ? "another name of some file" : "a link or no regular file";
  return `${path} is ${what}, in a directory of another user: root doesn't follow it. Look at it, move it away, or run this as that user. Nothing was changed.`;
}

/** Gives an open file to the owner of `directory`, where root has it. */
export function giveOpenFile(fd: number, directory: string): void {
  if (!isRootAbroad(directory)) return;
  const { uid, gid } = statSync(directory);
  fchownSync(fd, uid, gid);
}

/**
 * Gives a file or directory that root made to the owner of `directory`, by default the one it is in. Throws for a
 * link and for a file that somebody else may have laid there.
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
