import { closeSync, openSync, readSync } from "node:fs";
import type { SqliteDatabase } from "../database.ts";
import { PAGE } from "./sums.ts";
import { followWal } from "./wal.ts";

/** A store that was opened, before anything is written to it. */
export interface OpenedStore {
  path: string;
  db: SqliteDatabase;
  /** Makes a commit that changes nothing. */
  touch(): void;
}

/** What was committed since it was taken the last time. */
export interface Collected {
  /** The number of the latest commit. */
  seq: number;
  pageCount: number;
  pages: Map<number, Buffer>;
}

/** Collects the pages of commits, each directly after its commit. */
export interface Collector {
  collect(seq: number): void;
  /** How many pages wait. */
  readonly waiting: number;
  /** Of the database, after the latest commit. */
  readonly pageCount: number;
  /** Whether pages are missing: everything has to be compared. */
  readonly isGap: boolean;
  missed(): void;
  take(): Collected;
  /** Begins anew: from this moment on each page is in the file, or collected, or both. */
  begin(): void;
  /** A page as it was at the beginning, or as a later commit made it; null where there is none. */
  read(page: number): Buffer | null;
  /** Whether a commit since the beginning wrote it, and it wasn't taken. */
  isCollected(page: number): boolean;
  /** Whether `isIt` says of one of these pages, as they lie on the disk, that it is another one. */
  differs(pages: readonly number[], isIt: (page: number, image: Buffer) => boolean): boolean;
  close(): void;
}

/** Images that may wait. Beyond that they are read from the file, by comparing. */
const MOST_PAGES = (16 * 1024 * 1024) / PAGE;

/** After a look everything is a gap: what was committed before isn't known. */
export function createCollector({ path, db, touch }: OpenedStore): Collector {
  const file = openSync(path, "r");
  const follower = followWal(path);
  let next: Collected = { seq: 0, pageCount: 0, pages: new Map() };
  let log = new Map<number, Buffer>();
  let isGap = true;
  follower.look();

  const missed = () => {
    isGap = true;
    next.pages.clear();
  };
  const inFile = (page: number): Buffer | null => {
    const image = Buffer.alloc(PAGE);
    return readSync(file, image, 0, PAGE, (page - 1) * PAGE) === PAGE ? image : null;
  };

  return {
    collect(seq) {
      const found = follower.look();
      next.seq = seq;
      if (found === "gap") return missed();
      if (found.commits === 0 || isGap) return;
      next.pageCount = found.pageCount;
      for (const [page, image] of found.pages) next.pages.set(page, image);
      if (next.pages.size > MOST_PAGES) missed();
    },
    get waiting() {
      return next.pages.size;
    },
    get pageCount() {
      return next.pageCount;
    },
    get isGap() {
      return isGap;
    },
    missed,
    take() {
      const taken = next;
      next = { ...taken, pages: new Map() };
      return taken;
    },
    begin() {
      follower.look();
      isGap = false;
      next.pages.clear();
      next.pageCount = db.pragma("page_count", { simple: true }) as number;
      const [done] = db.pragma("wal_checkpoint(PASSIVE)") as CheckpointRow[];
      // Somebody who reads an older state keeps the log from being moved into the file.
      log = done && done.checkpointed < done.log ? follower.held() : new Map();
      // So that the record gets a number that no earlier try had.
      touch();
    },
    read: (page) => log.get(page) ?? inFile(page),
    isCollected: (page) => next.pages.has(page),
    differs(pages, isIt) {
      const other = pages.filter((page) => {
        const image = inFile(page);
        return image !== null && !isIt(page, image);
      });
      if (other.length === 0) return false;
      // Not yet moved into the file, or read while it was written.
      const held = follower.held();
      return other.some((page) => {
        const latest = held.get(page) ?? inFile(page);
        return latest !== null && !isIt(page, latest);
      });
    },
    close() {
      follower.close();
      closeSync(file);
    },
  };
}

interface CheckpointRow {
  busy: number;
  log: number;
  checkpointed: number;
}
