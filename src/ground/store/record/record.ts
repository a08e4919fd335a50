/** A page as it is kept. */
export interface KeptPage {
  page: number;
  hash: bigint;
  image: Uint8Array;
}

/** What a record is after some commits. */
export interface RecordEnd {
  /** The number of the latest commit. */
  seq: number;
  pageCount: number;
  /** Of the hashes of all pages. */
  sum: bigint;
  /** Pages that these commits wrote. */
  pages: readonly KeptPage[];
}

/**
 * A store's pages in a second place. Each change is made only while the store is still ours there: a process that was
 * replaced while it stood still changes nothing. Every call may reject because the place doesn't answer, and is then
 * made again; rejects with RecordFault where that doesn't help.
 */
export interface PageRecord {
  /** Makes the store ours. May be made again. */
  take(): Promise<unknown>;
  /** Says that we are still there. Whether it is what was kept last; else it has to be compared. */
  renew(): Promise<boolean>;
  /** The hash of each page there. */
  hashes(): Promise<{ page: number; hash: bigint }[]>;
  /** false: it wasn't what was kept last, and nothing was written. */
  keep(end: RecordEnd): Promise<boolean>;
  /** A page as it is kept; null where there is none. */
  read(page: number): Promise<Uint8Array | null>;
  /** Writes many pages and the end, all or nothing. */
  mend(mending: Mending): Promise<void>;
  /** Leaves the store to whoever takes it next. `wasOpen`: it was opened, and the place has everything. */
  leave(wasOpen: boolean): Promise<void>;
}

interface Mending {
  /** About how many pages. */
  count: number;
  /** Asked when they are needed, and again where the place has to be asked again. So is the end. */
  pages(): Iterable<readonly KeptPage[]>;
  end(): RecordEnd;
  /** Called for each answer. */
  heard(): void;
}

export class RecordFault extends Error {
  /** "taken": another process has the store now. "set back": the place has forgotten what it had. */
  readonly kind: "taken" | "set back";

  constructor(kind: RecordFault["kind"], message: string) {
    super(message);
    this.name = "RecordFault";
    this.kind = kind;
  }
}
