import { existsSync } from "node:fs";
import { type Clock, unixSeconds } from "../kit/clock.ts";
import type { DurableGate } from "../kit/gate.ts";
import type { Random } from "../kit/random.ts";
import { turns } from "../kit/turns.ts";
import { createCommitTimes } from "./commit-times.ts";
import { createFile } from "./create.ts";
import {
  openReadOnly,
  openSqlite,
  type Params,
  type SqliteDatabase,
  type Statement,
  type StoreKind,
} from "./database.ts";
import { isFatal, isFull, isOutOfSpace, StoreFault, storageFull } from "./faults.ts";
import { inspect } from "./inspect.ts";
import type { Migration } from "./migrations.ts";
import type { Keeper } from "./record/keeper.ts";
import { type Orm, ormOf, preparer, steady } from "./statements.ts";
import { upgrade } from "./upgrade.ts";

/** What a commit changed. Listeners get it after the commit is on the disk. */
export type Note =
  | { topic: "config"; projectId: number }
  | { topic: "project-deleted"; projectId: number }
  | { topic: "sources" }
  /** A source's events were accepted. Noted only while somebody watches that. */
  | { topic: "heard"; projectId: number; source: string }
  | { topic: "people" }
  /** Who is on call when, or whether they can be reached. */
  | { topic: "oncall" }
  /** `unresolved`: the change in the number of unresolved alerts of its rule. */
  | {
      topic: "alert";
      alertId: number;
      alertKey: string;
      ruleId: number;
      opened: boolean;
      unresolved: -1 | 0 | 1;
    }
  | { topic: "due"; at: number }
  /** The clock jumped by so many seconds, and all due times moved with it. */
  | { topic: "clock"; by: number }
  /** The box took nothing for a while, or its clock was set. */
  | { topic: "downtime" }
  /** What waits before it opens an alert is due at another time. */
  | { topic: "waiting" }
  /** All due times of the outbox moved. */
  | { topic: "outbox" }
  /** An integration or action has something to send, was changed, or works again. */
  | { topic: "endpoint"; id: string; well?: true }
  /** Attempts for this integration ended. */
  | { topic: "attempted"; id: string }
  | { topic: "action"; id: string }
  /** Pages are under way to this contact, or it works again. */
  | { topic: "contact"; id: string }
  /** A channel began or ended grouping its events. */
  | { topic: "storms" }
  /** A person made, changed or deleted this thing. Its kind and name are those of the audit. */
  | { topic: "written"; kind: string; id: string; name: string; project: string | null }
  | { topic: "reports" }
  /** A heartbeat is due at another time, or now. */
  | { topic: "heartbeats" }
  | { topic: "silences" }
  /** The addresses of heartbeats changed. */
  | { topic: "ping-addresses" }
  /** The addresses of calendars changed. */
  | { topic: "calendars" }
  /** When the weekly digest goes, or to whom, was changed. */
  | { topic: "digest" }
  | { topic: "relay" }
  /** The doctor's findings changed, or a backup was made. */
  | { topic: "host" };

/** Read access: a store, or the caller's transaction. */
export interface Reader {
  readonly db: SqliteDatabase;
  readonly orm: Orm;
  readonly clock: Clock;
  readonly random: Random;
  /** A prepared statement, made once for each text: `sql<[id: number], Row>("… WHERE id = ?")`. */
  sql<P extends Params = unknown[], Row = unknown>(text: string): Statement<P, Row>;
}

/** One write transaction. It is synchronous and never waits. */
export interface Tx extends Reader {
  /** The transaction's time in Unix seconds, the same for all rows. */
  readonly at: number;
  /** Passes the note to listeners after the commit; a rollback drops it. */
  note(note: Note): void;
}

export interface WriteOptions {
  /** May be refused when the disk is full: the space kept for acknowledgements and pages isn't used for it. */
  expendable?: boolean;
}

export interface Store extends Reader {
  readonly path: string;
  /**
   * Runs `change` in one IMMEDIATE transaction, committed with full sync before this returns. Throws what `change`
   * throws (everything is undone), and ServiceError storage_full when the disk is full. A write or sync that fails also
   * goes to `onFatal`, because the files may no longer be right.
   */
  write<T>(change: (tx: Tx) => T, how?: WriteOptions): T;
  /**
   * Calls `listener` after every commit that left notes. Its errors go to `onFatal`, because memory may then differ
   * from the file. The other listeners are called all the same.
   */
  onCommit(listener: (notes: readonly Note[]) => void): () => void;
  /**
   * null: the commits up to now are in every place where they have to be. Else it resolves when they are, and rejects
   * where they never will be. Before that nobody may hear of them (`mayTell`).
   */
  durable(): Promise<void> | null;
  /** What keeps its commits in a second place; null: nothing does. */
  readonly keeper: Pick<Keeper, "latest" | "note" | "isInDoubt"> | null;
  /** Milliseconds that the latest commit took, with its sync. */
  readonly commitMs: number;
  /** The same for the latest few hundred, in no order. */
  commitTimes(): Float64Array;
  close(): void;
}

export interface StoreOptions {
  path: string;
  kind: StoreKind;
  clock: Clock;
  random: Random;
  /**
   * Called with an error after which nothing may be written. Default: a failed write only throws, and a listener's
   * error ends the process as an uncaught error.
   */
  onFatal?: (error: unknown) => void;
  /** Frees space on a full disk by deleting the spare file. Returns whether it did; the write is then tried again. */
  makeRoom?: () => boolean;
  /** A second place where commits have to be. Default: this file is enough. */
  durable?: DurableGate | undefined;
  /** What brings them there. */
  keeper?: Omit<Keeper, "durable" | "ready" | "state" | "stop"> | undefined;
  /**
   * What to do with data of an older program. "copy" (default): make a proved copy, then migrate. "refuse": only the
   * process that serves the data may change its schema.
   */
  older?: "copy" | "refuse";
  /** For tests. Default: the program's own. */
  migrations?: readonly Migration[];
}

/**
 * Opens one SQLite file. Makes it where there is none, and migrates older data to this program's schema. A file that it
 * refuses (StoreFault) is unchanged.
 */
export function openStore(options: StoreOptions): Store {
  try {
    return open(options);
  } catch (error) {
    // Opening makes files beside the store, and a restart on a full disk must succeed.
    if (!isOutOfSpace(error) || options.makeRoom?.() !== true) throw error;
    return open(options);
  }
}

function open(options: StoreOptions): Store {
  createFile(options);
  inspect(options);
  const db = openSqlite(options.path);
  try {
    upgrade(db, options);
  } catch (error) {
    db.close();
    throw StoreFault.from(error, options.path);
  }
  return makeStore(db, options);
}

/**
 * Opens a store for reading, while another process may serve it. It makes only the files that SQLite needs to read.
 * Throws StoreFault, also where there is no store.
 */
export function openReader(options: StoreOptions): Reader & { close(): void } {
  mustExist(options.path);
  inspect(options);
  const db = openReadOnly(options.path);
  const sql = ((text: string) => db.prepare(steady(text))) as Reader["sql"];
  const { clock, random } = options;
  return { db, orm: ormOf(db), clock, random, sql, close: () => db.close() };
}

/** Throws StoreFault where there is no store. */
export function mustExist(path: string): void {
  if (existsSync(path)) return;
  throw new StoreFault("unavailable", `There is no ${path}: is --data the box's data directory?`);
}

function makeStore(db: SqliteDatabase, options: StoreOptions): Store {
  const { clock, random, path } = options;
  const commitListeners = new Set<(notes: readonly Note[]) => void>();
  // The types of a statement are its caller's: they can't be read from the text.
  const sql = preparer(db, new Map<string, Statement>()) as Reader["sql"];
  const reader = { db, orm: ormOf(db), clock, random, sql };
  const begin = db.prepare("BEGIN IMMEDIATE");
  const commit = db.prepare("COMMIT");
  const commits = createCommitTimes();
  const numbered = options.keeper && numbering(db);

  const rollback = () => {
    if (db.inTransaction) db.exec("ROLLBACK");
  };

  /** One attempt; null when the disk was full and everything is undone. */
  const attempt = <T>(change: (tx: Tx) => T): { result: T; notes: Note[] } | null => {
    const notes: Note[] = [];
    try {
      begin.run();
      const known = numbered?.changes();
      const result = change({
        ...reader,
        at: unixSeconds(clock),
        note: (note) => notes.push(note),
      });
      const number = numbered && numbered.changes() !== known ? numbered.next() : null;
      const before = clock.mono();
      commit.run();
      commits.add(clock.mono() - before);
      if (number !== null) options.keeper?.committed(number);
      return { result, notes };
    } catch (error) {
      if (isFatal(error)) options.onFatal?.(error);
      rollback();
      if (isFull(error)) return null;
      throw error;
    }
  };

  /** A listener's error must not reach the writer: the commit stands, and the writer would write the same again. */
  const tell = (listener: (notes: readonly Note[]) => void, notes: readonly Note[]) => {
    try {
      listener(notes);
    } catch (error) {
      (options.onFatal ?? throwLater)(error);
    }
  };

  const write = <T>(change: (tx: Tx) => T, how: WriteOptions = {}): T => {
    if (db.inTransaction) throw new Error("a transaction inside a transaction");
    let done = attempt(change);
    if (done === null && !how.expendable && options.makeRoom?.()) done = attempt(change);
    if (done === null) throw storageFull();
    if (done.notes.length > 0) for (const listener of commitListeners) tell(listener, done.notes);
    return done.result;
  };

  options.keeper?.opened({ path, db, touch: () => write(() => numbered?.next()) });
  return {
    ...reader,
    path,
    write: (change, how) => turns.during("write", () => write(change, how)),
    onCommit: (listener) => subscribe(commitListeners, listener),
    durable: options.durable ?? alreadyDurable,
    keeper: options.keeper ?? null,
    get commitMs() {
      return commits.latest;
    },
    commitTimes: commits.all,
    close: () => db.close(),
  };
}

/** Numbers the commits that change something, in the store itself, so that each copy of it says how new it is. */
function numbering(db: SqliteDatabase) {
  const changes = db.prepare("SELECT total_changes()").pluck();
  const next = db
    .prepare(
      "INSERT INTO meta (key, value) VALUES ('commits', 1) ON CONFLICT (key) DO UPDATE SET value = value + 1 RETURNING value",
    )
    .pluck();
  return { changes: () => changes.get() as number, next: () => Number(next.get()) };
}

const alreadyDurable: DurableGate = () => null;

function throwLater(error: unknown): void {
  setImmediate(() => {
    throw error;
  });
}

function subscribe<T>(listeners: Set<T>, listener: T): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
