import { closeSync, openSync, readFileSync, readSync } from "node:fs";

/**
 * SQLite's log (`box.db-wal`) read by its bytes (https://sqlite.org/fileformat2.html#walformat), without SQLite: a second
 * judge of what a store holds after a kill, and which pages a commit wrote.
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
  const read = isBig ? bytes.readUInt32BE.bind(bytes) : bytes.readUInt32LE.bind(bytes);
  let [a, b] = [first, second];
  for (let at = 0; at < bytes.length; at += 8) {
    a = (a + read(at) + b) >>> 0;
    b = (b + read(at + 4) + a) >>> 0;
  }
  return [a, b];
}

/** The database that a store's files make, as SQLite finds it at the next start. */
export function databaseOf(path: string): Buffer {
  return withLog(readFileSync(path), readFileSync(`${path}-wal`));
}

function withLog(file: Buffer, log: Buffer): Buffer {
  const head = readWalHead(log);
  const found = head && readWalFrames(log.subarray(HEAD), head);
  if (!found || found.commits === 0) return file;
  const { pageSize } = head;
  const whole = Buffer.alloc(found.pageCount * pageSize);
  file.copy(whole, 0, 0, Math.min(file.length, whole.length));
  for (const [page, image] of found.pages)
    if (page <= found.pageCount) image.copy(whole, (page - 1) * pageSize);
  return whole;
}

/** Which pages were committed since the last look. */
export interface WalFollower {
  /**
   * "gap": commits are missing of which the log no longer has the pages, so everything is to be compared. Always so at
   * the first look. Called while no other connection writes.
   */
  look(): Pick<WalFrames, "pages" | "pageCount" | "commits"> | "gap";
  close(): void;
}

/** Follows the log of an open store. */
export function followWal(path: string): WalFollower {
  const [log, index] = [openSync(`${path}-wal`, "r"), openSync(`${path}-shm`, "r")];
  const NONE = { pages: new Map<number, Buffer>(), pageCount: 0, commits: 0 };
  let known: { change: number; salts: bigint; frame: number; sums: Sums } | null = null;

  const read = (fd: number, from: number, length: number) => {
    const bytes = Buffer.alloc(length);
    return bytes.subarray(0, readSync(fd, bytes, 0, length, from));
  };

  return {
    look() {
      const now = read(index, 0, INDEX_HEAD);
      // The index is in the machine's order of bytes; the salts are as in the log.
      const [change, frame] = [now.readUInt32LE(8), now.readUInt32LE(16)];
      const salts = now.readBigUInt64BE(32);
      const before = known;
      const sums: Sums = [now.readUInt32LE(24), now.readUInt32LE(28)];
      known = { change, salts, frame, sums };
      if (before === null) return "gap";
      const missing = (change - before.change) >>> 0;
      if (missing === 0) return NONE;
      const head = readWalHead(read(log, 0, HEAD));
      if (head === null || head.salts !== salts) return "gap";
      const isOn = salts === before.salts;
      const from = isOn ? before.frame : 0;
      const size = FRAME_HEAD + head.pageSize;
      const bytes = read(log, HEAD + from * size, Math.max(0, frame - from) * size);
      const found = readWalFrames(bytes, head, isOn ? before.sums : head.sums);
      const isWhole = found.frames === frame - from && found.isEnded;
      // Salts don't tell a gap: another's commit that a checkpoint carried into the file leaves them as any reset does.
      return isWhole && found.commits === missing ? found : "gap";
    },
    close() {
      closeSync(log);
      closeSync(index);
    },
  };
}
