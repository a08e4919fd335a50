import { closeSync, existsSync, fsyncSync, openSync, rmSync, statfsSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Log } from "../ground/kit/log.ts";

/** Free space on the disk, and the spare file that is kept for acknowledgements and pages (contract §10). */
export type Disk = ReturnType<typeof watchDisk>;

const MiB = 1024 * 1024;
const BALLAST = "ballast";

/** Sizes for a disk of `total` bytes. On a small disk they are smaller. */
export function diskSizes(total: number): { low: number; enough: number; ballast: number } {
  const low = Math.min(32 * MiB, Math.floor(total / 10));
  return {
    low,
    enough: Math.floor(low * 1.5),
    ballast: Math.min(16 * MiB, Math.floor(total / 20)),
  };
}

/**
 * Watches the disk that holds `storePath`. On a full disk SQLite can't even delete rows, so a spare file ("ballast")
 * lies beside the store and is deleted first.
 */
export function watchDisk(storePath: string, log: Log) {
  const directory = dirname(storePath);
  const ballast = join(directory, BALLAST);
  let nearlyFull = false;
  let free: number | null = null;

  /** Measures the free space again, and writes the spare file where there is enough space. */
  const look = () => {
    const space = spaceOf(directory);
    if (space === null) return;
    free = space.free;
    const sizes = diskSizes(space.total);
    const before = nearlyFull;
    nearlyFull = free < (nearlyFull ? sizes.enough : sizes.low);
    if (nearlyFull !== before)
      log[nearlyFull ? "error" : "info"](
        { free },
        nearlyFull ? "the disk is nearly full: events are refused" : "the disk has space again",
      );
    if (free > sizes.enough + sizes.ballast && !existsSync(ballast))
      layBallast(ballast, sizes.ballast, log);
  };

  return {
    /** Whether too little is free to accept new events. */
    get nearlyFull() {
      return nearlyFull;
    },
    /** Free bytes at the last look; null where the system doesn't say. */
    get free(): number | null {
      return free;
    },
    look,
    /** Deletes the spare file so that an important write has space. Returns whether there was one. */
    makeRoom(): boolean {
      if (!existsSync(ballast)) return false;
      rmSync(ballast, { force: true });
      nearlyFull = true;
      log.error(
        { ballast },
        "the disk is full: the spare file was deleted so that acknowledgements and pages go on",
      );
      return true;
    },
  };
}

function spaceOf(directory: string): { free: number; total: number } | null {
  try {
    const { bavail, blocks, bsize } = statfsSync(directory);
    return { free: bavail * bsize, total: blocks * bsize };
  } catch {
    return null;
  }
}

/** Writes every byte: a sparse file would reserve nothing. */
function layBallast(path: string, bytes: number, log: Log): void {
  try {
    const fd = openSync(path, "wx", 0o600);
    const block = Buffer.alloc(Math.min(bytes, MiB), 0x5a);
    for (let written = 0; written < bytes; )
      written += writeSync(fd, block, 0, Math.min(block.length, bytes - written));
    fsyncSync(fd);
    closeSync(fd);
  } catch (error) {
    rmSync(path, { force: true });
    log.warn({ err: error }, "the spare file could not be written");
  }
}
