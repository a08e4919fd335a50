import { ServiceError } from "../kit/errors.ts";
import { fileFault } from "../kit/file-fault.ts";

/**
 * The kinds of faults of a store. "damaged" and "foreign" end the process with 65, "io" with 74, "newer" and
 * "misconfigured" with 78, "locked" with 1 (contract §11). "unavailable": any other error at opening.
 */
export type FaultKind =
  | "damaged"
  | "foreign"
  | "newer"
  | "misconfigured"
  | "locked"
  | "io"
  | "unavailable";

export class StoreFault extends Error {
  readonly kind: FaultKind;

  constructor(kind: FaultKind, message: string, cause?: unknown) {
    super(message, cause === undefined ? {} : { cause });
    this.name = "StoreFault";
    this.kind = kind;
  }

  /** Turns an error of opening `path` into a fault with one sentence. */
  static from(error: unknown, path: string): StoreFault {
    if (error instanceof StoreFault) return error;
    const code = sqliteCode(error);
    const text = error instanceof Error ? error.message : String(error);
    if (code.startsWith("SQLITE_NOTADB") || code.startsWith("SQLITE_CORRUPT")) {
      return new StoreFault(
        "damaged",
        `${path} is damaged or no SQLite database (${text}). It was left untouched: restore a backup with box restore.`,
        error,
      );
    }
    if (OUT_OF_ROOM.includes(code))
      return new StoreFault("io", `${path}: the disk is full (${code}).`, error);
    if (code.startsWith("SQLITE_IOERR"))
      return new StoreFault("io", `${path}: storage fault (${code}).`, error);
    if (
      code === "SQLITE_READONLY" ||
      code.startsWith("SQLITE_CANTOPEN") ||
      code.startsWith("SQLITE_READONLY")
    ) {
      return new StoreFault(
        "io",
        `${path} can't be opened for writing (${code}): is its directory there, writable, and not mounted read-only?`,
        error,
      );
    }
    if (isDenied(error)) {
      return new StoreFault(
        "io",
        `${path} can't be used (${text}): is its directory writable, with free space, and not mounted read-only?`,
        error,
      );
    }
    return new StoreFault("unavailable", `${path}: ${fileFault(error)}`, error);
  }
}

/** The file system refused it, or is full. */
function isDenied(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return ["EACCES", "EPERM", "EROFS", "ENOSPC", "EDQUOT", "EIO"].includes(code);
}

/** SHMSIZE: the shared memory beside a store is a file too. */
const OUT_OF_ROOM = ["SQLITE_FULL", "SQLITE_IOERR_SHMSIZE"];

/** Whether a store couldn't be opened because the disk is full. */
export function isOutOfSpace(error: unknown): boolean {
  const cause = error instanceof StoreFault ? error.cause : error;
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
  return [...OUT_OF_ROOM, "ENOSPC", "EDQUOT"].includes(code);
}

/** SQLite's extended result code of an error, or "". */
export function sqliteCode(error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : "";
  return typeof code === "string" && code.startsWith("SQLITE_") ? code : "";
}

/** Whether the disk was full. The transaction is undone completely. */
export function isFull(error: unknown): boolean {
  return sqliteCode(error) === "SQLITE_FULL";
}

/**
 * After a failed write or sync the kernel may have dropped pages, and the next commit would succeed although they are
 * missing. The process must end and read the log again (exit 74; damage: 65).
 */
export function isFatal(error: unknown): boolean {
  const code = sqliteCode(error);
  return (
    code.startsWith("SQLITE_IOERR") || code.startsWith("SQLITE_CORRUPT") || code === "SQLITE_NOTADB"
  );
}

export function storageFull(): ServiceError {
  return new ServiceError(
    "storage_full",
    "The disk is full: nothing was written. Try again once there is space.",
    {
      retryAfter: 5,
    },
  );
}
