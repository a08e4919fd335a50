import { closeSync, openSync, readSync, statSync } from "node:fs";
import { applicationIds, type StoreKind } from "./database.ts";
import { StoreFault } from "./faults.ts";

/** The first 100 bytes of a database file (SQLite file format, section 1.3). */
export interface Header {
  applicationId: number;
  /** The schema's number. A write-ahead log beside the file may hold a newer one. */
  userVersion: number;
  /** Whether the file uses a write-ahead log. */
  isWal: boolean;
  /** Bytes of the write-ahead log beside it. */
  walBytes: number;
}

const HEADER_BYTES = 100;
const MAGIC = "SQLite format 3\0";

/**
 * Reads the header without opening the file as a database, so nothing is made, recovered or changed. Throws StoreFault
 * "damaged" where it is no SQLite database.
 */
function readHeader(path: string): Header {
  const found = statSync(path);
  if (!found.isFile())
    throw new StoreFault("foreign", `${path} is no file: it was left untouched.`);
  if (found.size === 0)
    throw new StoreFault(
      "damaged",
      `${path} is empty (0 bytes): it is no database of box. Restore a backup with box restore, or move it away.`,
    );
  const bytes = firstBytes(path);
  if (bytes.length < HEADER_BYTES || bytes.toString("latin1", 0, MAGIC.length) !== MAGIC)
    throw new StoreFault(
      "damaged",
      `${path} is no SQLite database, or its beginning is damaged. It was left untouched: restore a backup with box restore.`,
    );
  return {
    isWal: bytes[18] === 2,
    userVersion: bytes.readUInt32BE(60),
    applicationId: bytes.readUInt32BE(68),
    walBytes: statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0,
  };
}

function firstBytes(path: string): Buffer {
  const bytes = Buffer.alloc(HEADER_BYTES);
  const fd = openSync(path, "r");
  try {
    return bytes.subarray(0, readSync(fd, bytes, 0, HEADER_BYTES, 0));
  } finally {
    closeSync(fd);
  }
}

/** Throws StoreFault where the file isn't ours, or where a foreign log lies beside it. */
export function checkHeader(path: string, kind: StoreKind): Header {
  const header = readHeader(path);
  if (header.applicationId !== applicationIds[kind])
    throw new StoreFault(
      "foreign",
      `${path} is not a ${kind} database of box; it was left untouched.`,
    );
  if (!header.isWal && header.walBytes > 0)
    throw new StoreFault(
      "damaged",
      `${path}-wal belongs to another file than ${path}, and would destroy it. Move it away (or use box restore, which does); nothing was changed.`,
    );
  return header;
}
