import { closeSync, openSync, readSync } from "node:fs";

/**
 * SQLite's log (`box.db-wal`) read by its bytes (https://sqlite.org/fileformat2.html#walformat), without SQLite: which
 * pages each commit wrote.
 */

const HEAD = 32;
const FRAME_HEAD = 24;
const LITTLE = 0x377f0682;
/** Of the index's head (`-shm`), of which there are two copies. */
const INDEX_HEAD = 48;

type Sums = readonly [number, number];

interface WalHead {
  pageSize: number;
  salts: bigint;
  sums: Sums;
  /** Whether its sums are of big-endian words. */
  isBig: boolean;
}

/** null for bytes that are no log, or one whose head wasn't written to its end. */
export function readWalHead(bytes: Buffer): WalHead | null {
  if (bytes.length < HEAD) return null;
  const magic = bytes.readUInt32BE(0);
  if (magic !== LITTLE && magic !== LITTLE + 1) return null;
  const isBig = magic === LITTLE + 1;
  const pageSize = bytes.readUInt32BE(8);
  if (pageSize < 512 || pageSize > 65_536 || (pageSize & (pageSize - 1)) !== 0) return null;
  const sums = sumOf(bytes.subarray(0, 24), isBig, [0, 0]);
  if (!isSame(sums, bytes, 24)) return null;
  return { pageSize, salts: bytes.readBigUInt64BE(16), sums, isBig };
}

interface WalFrames {
  /** How many frames are whole, from the first of these bytes on. */
  frames: number;
  /** How many of them end a commit. */
  commits: number;
  /** Pages of the whole commits, the latest image of each, by number. */
  pages: Map<number, Buffer>;
  /** Pages of the database after the last whole commit; 0 where there is none. */
  pageCount: number;
  /** Whether the last whole frame ends a commit. */
  isEnded: boolean;
  sums: Sums;
}

/** Reads frames until one isn't of this log or isn't whole. `sums`: of the frame before. */
export function readWalFrames(bytes: Buffer, head: WalHead, sums: Sums = head.sums): WalFrames {
  const { pageSize, salts, isBig } = head;
  const size = FRAME_HEAD + pageSize;
  const found = { frames: 0, commits: 0, pages: new Map<number, Buffer>(), pageCount: 0 };
  let last = sums;
  let open = new Map<number, Buffer>();
  for (let at = 0; at + size <= bytes.length; at += size) {
    const page = bytes.readUInt32BE(at);
    if (page === 0 || bytes.readBigUInt64BE(at + 8) !== salts) break;
    const image = bytes.subarray(at + FRAME_HEAD, at + size);
    const next = sumOf(image, isBig, sumOf(bytes.subarray(at, at + 8), isBig, last));
    if (!isSame(next, bytes, at + 16)) break;
    last = next;
    open.set(page, image);
    found.frames++;
    const pageCount = bytes.readUInt32BE(at + 4);
    if (pageCount === 0) continue;
    found.commits++;
    found.pageCount = pageCount;
    for (const [number, written] of open) found.pages.set(number, written);
    open = new Map();
  }
  return { ...found, isEnded: open.size === 0, sums: last };
}

function isSame([first, second]: Sums, bytes: Buffer, at: number): boolean {
  return bytes.readUInt32BE(at) === first && bytes.readUInt32BE(at + 4) === second;
}

function sumOf(bytes: Buffer, isBig: boolean, [first, second]: Sums): Sums {
  const words = wordsOf(bytes, isBig);
  let [a, b] = [first, second];
  for (let at = 0; at < words.length; at += 2) {
    a = (a + (words[at] ?? 0) + b) >>> 0;
    b = (b + (words[at + 1] ?? 0) + a) >>> 0;
  }
  return [a, b];
}

/** As the log's sums count them: in the order of bytes of the machine that made the log. */
function wordsOf(bytes: Buffer, isBig: boolean): Uint32Array {
  const isIn = bytes.byteOffset % 4 === 0 && !isBig;
  const own = isIn ? bytes : Buffer.from(new Uint8Array(bytes).buffer);
  if (isBig) own.swap32();
  return new Uint32Array(own.buffer, own.byteOffset, own.length / 4);
}

/** Pages of some commits, the latest image of each. */
type WalPages = Pick<WalFrames, "pages" | "pageCount" | "commits">;

/** Which pages were committed since the last look. Follows the log of an open store. */
export function followWal(path: string) {
  const [log, index] = [openSync(`${path}-wal`, "r"), openSync(`${path}-shm`, "r")];
  const NONE = { pages: new Map<number, Buffer>(), pageCount: 0, commits: 0 };
  let known: IndexHead | null = null;

  const head = (now: IndexHead) => {
    const found = readWalHead(readAt(log, 0, HEAD));
    return found?.salts === now.salts ? found : null;
  };
  const framesFrom = (from: number, { frame }: IndexHead, { pageSize }: WalHead) => {
    const size = FRAME_HEAD + pageSize;
    return readAt(log, HEAD + from * size, Math.max(0, frame - from) * size);
  };

  return {
    /**
     * "gap": commits are missing of which the log no longer has the pages, so everything is to be compared. Always so at
     * the first look. Called while no other connection writes.
     */
    look(): WalPages | "gap" {
      const now = readIndexHead(index);
      const before = known;
      known = now;
      if (before === null) return "gap";
      const missing = (now.change - before.change) >>> 0;
      if (missing === 0) return NONE;
      const log = head(now);
      if (log === null) return "gap";
      const isOn = now.salts === before.salts;
      const from = isOn ? before.frame : 0;
      const bytes = framesFrom(from, now, log);
      const found = readWalFrames(bytes, log, isOn ? before.sums : log.sums);
      const isWhole = found.frames === now.frame - from && found.isEnded;
      // Salts don't tell a gap: another's commit that a checkpoint carried into the file leaves them as any reset does.
      return isWhole && found.commits === missing ? found : "gap";
    },
    /** The pages that the log holds. Every other page is in the file. */
    held(): Map<number, Buffer> {
      const now = readIndexHead(index);
      const log = now.frame === 0 ? null : head(now);
      return log === null ? NONE.pages : readWalFrames(framesFrom(0, now, log), log).pages;
    },
    /** Only after the store was closed: closing any handle of its files ends SQLite's locks on them. */
    close() {
      closeSync(log);
      closeSync(index);
    },
  };
}

/** What the log's index says of it. */
interface IndexHead {
  /** Counts commits. */
  change: number;
  salts: bigint;
  /** How many frames are committed, and the sums of the last one. */
  frame: number;
  sums: Sums;
}

/** The index is in the machine's order of bytes; the salts are as in the log. */
function readIndexHead(index: number): IndexHead {
  const now = readAt(index, 0, INDEX_HEAD);
  return {
    change: now.readUInt32LE(8),
    frame: now.readUInt32LE(16),
    sums: [now.readUInt32LE(24), now.readUInt32LE(28)],
    salts: now.readBigUInt64BE(32),
  };
}

function readAt(fd: number, from: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  return bytes.subarray(0, readSync(fd, bytes, 0, length, from));
}
