import { existsSync } from "node:fs";
import type { Clock } from "../kit/clock.ts";
import { unixSeconds } from "../kit/clock.ts";
import type { Random } from "../kit/random.ts";
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
import { isFatal, isFull, lacksRoom, StoreFault, storageFull } from "./faults.ts";
import { inspect } from "./inspect.ts";
import type { Migration } from "./migrations.ts";
import { type Orm, ormOf, preparer } from "./statements.ts";
import { upgrade } from "./upgrade.ts";

/** What a commit changed, told to listeners after it is on disk and never before. */
export type Note =
  | { topic: "config"; projectId: number }
  | { topic: "project-deleted"; projectId: number }
  | { topic: "sources" }
  /** Events of a source were taken; told only while somebody looks at such. */
  | { topic: "heard"; projectId: number; source: string }
  | { topic: "people" }
  /** Who is on call when, or whether they are reached. */
  | { topic: "oncall" }
  /** `unresolved`: what it adds to the unresolved alerts of its rule. */
  | {
      topic: "alert";
      alertId: number;
      alertKey: string;
      ruleId: number;
      opened: boolean;
      unresolved: -1 | 0 | 1;
    }
  | { topic: "due"; at: number }
  /** The clock jumped by so many seconds, and everything timed moved with it. */
  | { topic: "clock"; by: number }
  /** Every due time of the outbox moved. */
  | { topic: "outbox" }
  /** An integration has something to send, or was changed, or is known to be well; likewise an action. */
  | { topic: "endpoint"; id: string; well?: true }
  /** Attempts at what goes to this integration have ended. */
  | { topic: "attempted"; id: string }
  | { topic: "action"; id: string }
  /** Pages are on their way to this contact, or it is well again. */
  | { topic: "contact"; id: string }
  /** A room is told together, or was. */
  | { topic: "storms" }
  /** A person made, changed or deleted this, as the audit calls it. */
  | { topic: "written"; kind: string; id: string; name: string; project: string | null }
  | { topic: "reports" }
  /** A heartbeat is due at another time, or at once. */
  | { topic: "heartbeats" }
  /** A silence was made, changed or ended. */
  | { topic: "silences" }
  /** Heartbeats have other addresses than before. */
  | { topic: "ping-addresses" }
  /** Calendars have other addresses than before. */
  | { topic: "calendars" }
  | { topic: "relay" }
  /** What the doctor found, or that a backup was made. */
  | { topic: "house" };

/** What reads may use: a store, or the transaction a caller is in. */
export interface Reader {
  readonly db: SqliteDatabase;
  readonly orm: Orm;
  readonly clock: Clock;
  readonly random: Random;
  /** A prepared statement, made once for each text: `sql<[id: number], Row>("… WHERE id = ?")`. */
  sql<P extends Params = unknown[], Row = unknown>(text: string): Statement<P, Row>;
}

/** One write transaction. Synchronous: a transaction never waits. */
export interface Tx extends Reader {
  /** The transaction's time in Unix seconds: the same for all it writes. */
  readonly at: number;
  /** Tells listeners of this after the commit; forgotten on rollback. */
  note(note: Note): void;
}

export interface WriteOptions {
  /** May be refused while the disk is full: what is kept free for acks and pages isn't spent on it. */
  expendable?: boolean;
}

export interface Store extends Reader {
  readonly path: string;
  /**
   * Runs `change` in one IMMEDIATE transaction, committed with full sync before this returns.
   * Throws what `change` throws (all undone); ServiceError storage_full where the disk is full. A write or
   * sync that fails goes to `onFatal`, since the process can't vouch for its files any more.
   */
  write<T>(change: (tx: Tx) => T, how?: WriteOptions): T;
  /**
   * Calls `listener` after every commit that left notes, and after none that didn't. What it throws goes to
   * `onFatal`: memory may no longer be as the file has it. The other listeners are told all the same.
   */
  onCommit(listener: (notes: readonly Note[]) => void): () => void;
  /** Milliseconds that the latest commit took, its sync included. */
  readonly commitMs: number;
  /** The same of the latest few hundred, in no order. */
  commitTimes(): Float64Array;
  close(): void;
}

export interface StoreOptions {
  path: string;
  kind: StoreKind;
  clock: Clock;
  random: Random;
  /**
   * Called for an error after which nothing may be written. Default: a failed write only throws; what a listener
   * threw ends the process as an uncaught error.
   */
  onFatal?: (error: unknown) => void;
  /** Frees room on a full disk (a ballast file); whether it did, so that a write is worth another try. */
  makeRoom?: () => boolean;
  /**
   * What to do with data of an older program. "copy" (default): a proved copy first, then the migrations;
   * "refuse": only the process that serves the data may change its schema.
   */
  older?: "copy" | "refuse";
  /** For tests; default: the program's own. */
  migrations?: readonly Migration[];
}

/**
 * Opens one SQLite file; makes it where there is none, and brings older data up to this program's schema.
 * What it refuses (StoreFault) it has not changed.
 */
export function openStore(options: StoreOptions): Store {
  try {
    return open(options);
  } catch (error) {
    // Opening makes files beside the store: a restart on a full disk must not keep the box down.
    if (!lacksRoom(error) || options.makeRoom?.() !== true) throw error;
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
 * Opens a store to read only: a command's look at data that another process may be serving. It makes nothing but what
 * SQLite needs beside a file to read it. Throws StoreFault, also where there is no store.
 */
export function openReader(options: StoreOptions): Reader & { close(): void } {
  mustExist(options.path);
  inspect(options);
  const db = openReadOnly(options.path);
  const sql = ((text: string) => db.prepare(text)) as Reader["sql"];
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
  // Nobody but the text's author knows what it takes and gives.
  const sql = preparer(db, new Map<string, Statement>()) as Reader["sql"];
  const reader = { db, orm: ormOf(db), clock, random, sql };
  const begin = db.prepare("BEGIN IMMEDIATE");
  const commit = db.prepare("COMMIT");
  const commits = createCommitTimes();

  const rollback = () => {
    if (db.inTransaction) db.exec("ROLLBACK");
  };

  /** One try; null when the disk was full and everything is undone. */
  const attempt = <T>(change: (tx: Tx) => T): { result: T; notes: Note[] } | null => {
    const notes: Note[] = [];
    try {
      begin.run();
      const result = change({
        ...reader,
        at: unixSeconds(clock),
        note: (note) => notes.push(note),
      });
      const before = clock.mono();
      commit.run();
      commits.add(clock.mono() - before);
      return { result, notes };
    } catch (error) {
      if (isFatal(error)) options.onFatal?.(error);
      rollback();
      if (isFull(error)) return null;
      throw error;
    }
  };

  /** The commit stands, so a listener's fault is never the writer's: it would write the same again. */
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

  return {
    ...reader,
    path,
    write,
    onCommit: (listener) => subscribe(commitListeners, listener),
    get commitMs() {
      return commits.latest;
    },
    commitTimes: commits.all,
    close: () => db.close(),
  };
}

function throwLater(error: unknown): void {
  setImmediate(() => {
    throw error;
  });
}

function subscribe<T>(listeners: Set<T>, listener: T): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
