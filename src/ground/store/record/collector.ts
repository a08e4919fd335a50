import { closeSync, fsyncSync, openSync, readSync, writeSync } from "node:fs";
import type { SqliteDatabase } from "../database.ts";
import { PAGE, type PageSums, pageHash } from "./sums.ts";
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

type IsPage = (page: number, image: Uint8Array) => boolean;

/** Collects the pages of commits, each directly after its commit. */
export type Collector = ReturnType<typeof createCollector>;

/** Images that may wait. Beyond that they are read from the file, by comparing. */
const MOST_PAGES = (16 * 1024 * 1024) / PAGE;

/** After a look everything is a gap: what was committed before isn't known. */
export function createCollector({ path, db, touch }: OpenedStore) {
  const file = openSync(path, "r+");
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

  /**
   * Those of these pages that lie in the file, written by no commit since they were taken, of which `isIt` says that they
   * are other ones: the disk changed them. Where another program has committed, that is a gap.
   */
  const rotten = (pages: readonly number[], isIt: IsPage): number[] => {
    const isRotten = (page: number) => {
      const image = next.pages.has(page) ? null : inFile(page);
      return image !== null && !isIt(page, image);
    };
    if (!pages.some(isRotten)) return [];
    const found = follower.look();
    if (found === "gap" || found.commits > 0) missed();
    // Not yet moved into the file, or read while it was written.
    const held = follower.held();
    return isGap ? [] : pages.filter((page) => !held.has(page) && isRotten(page));
  };

  return {
    rotten,
    /** Writes a page into the file where it is still rotten by that. */
    putBack(page: number, image: Uint8Array, isIt: IsPage): boolean {
      if (!isIt(page, image) || rotten([page], isIt).length === 0) return false;
      writeSync(file, image, 0, PAGE, (page - 1) * PAGE);
      fsyncSync(file);
      // What the connection has read of it.
      db.pragma("shrink_memory");
      return true;
    },
    collect(seq: number) {
      const found = follower.look();
      next.seq = seq;
      if (found === "gap") return missed();
      if (found.commits === 0 || isGap) return;
      next.pageCount = found.pageCount;
      for (const [page, image] of found.pages) next.pages.set(page, image);
      if (next.pages.size > MOST_PAGES) missed();
    },
    /** How many pages wait. */
    get waiting() {
      return next.pages.size;
    },
    /** Of the database, after the latest commit. */
    get pageCount() {
      return next.pageCount;
    },
    /** Whether pages are missing: everything has to be compared. */
    get isGap() {
      return isGap;
    },
    missed,
    take(): Collected {
      const taken = next;
      next = { ...taken, pages: new Map() };
      return taken;
    },
    /**
     * After the store was opened: nothing is missing where it is still the file whose sums these are, as far as its size,
     * its log and its first page tell. They don't tell of a commit of another program that was moved into the file and left
     * its size alone: in WAL mode that doesn't touch the first page. Another page that differs is taken for the disk's doing.
     */
    goesOn(sums: PageSums): boolean {
      const count = db.pragma("page_count", { simple: true });
      const first = inFile(1);
      const isSame = first !== null && pageHash(1, first) === sums.of(1);
      if (!isSame || count !== sums.count || follower.held().size > 0) return false;
      next.pageCount = sums.count;
      isGap = false;
      return true;
    },
    /** Begins anew: from this moment on each page is in the file, or collected, or both. */
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
    /** A page as it was at the beginning, or as a later commit made it; null where there is none. */
    read: (page: number) => log.get(page) ?? inFile(page),
    /** Whether a commit since the beginning wrote it, and it wasn't taken. */
    isCollected: (page: number) => next.pages.has(page),
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
