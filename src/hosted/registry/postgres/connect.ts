import type { QueryResult } from "pg";
import { type Clock, sleep } from "../../../ground/kit/clock.ts";
import type { Random } from "../../../ground/kit/random.ts";
import type { LaneLoad } from "../load.ts";
import { DatabaseAway, endOf, isSilence, messageOf } from "./database-faults.ts";
import { lineOpener } from "./hosts.ts";
import { type DatabaseLine, type DatabaseValue, type LineOptions, STATEMENT_MS } from "./line.ts";
import { createLines, type Lines } from "./lines.ts";
import { createDatabaseTally, type DatabaseTally, type LaneTally } from "./tally.ts";

interface AskLimits {
  /** Limit for all tries together, with waiting for a connection. Default 5,000. */
  withinMs?: number;
  /**
   * Whether to repeat where the connection was lost before the answer, so that nobody knows whether it was done.
   * Default: true for a statement, which must be written for that; false for a transaction, which is repeated only
   * while its COMMIT wasn't sent.
   */
  repeatable?: boolean;
  /** How long a transaction may pause between two statements. Default 10,000. */
  idleMs?: number;
}

/** Runs statements inside a transaction. */
export interface DatabaseTx {
  query<Row extends object>(sql: string, values?: readonly DatabaseValue[]): Promise<Row[]>;
}

/**
 * Connections for one purpose. Repeats what was rolled back because of another (40001, 40P01), or lost with a
 * connection. Rejects with DatabaseAway when the time is over, and with PostgreSQL's own error for a wrong statement. A
 * bigint becomes a number, or a RangeError.
 */
export interface DatabaseLane {
  /** Runs one statement, which is a transaction by itself. Returns its rows. */
  query<Row extends object>(
    sql: string,
    values?: readonly DatabaseValue[],
    limits?: AskLimits,
  ): Promise<Row[]>;
  /** `work` may run more than once. */
  transaction<T>(work: (tx: DatabaseTx) => Promise<T>, limits?: AskLimits): Promise<T>;
}

export interface Database extends DatabaseLane {
  /** Two separate connections: for what a storm of work mustn't block, or for what takes so long that it would block work. */
  readonly leases: DatabaseLane;
  readonly tally: DatabaseTally;
  /** Ends every connection; running and later statements get DatabaseAway. */
  close(): void;
}

export interface DatabaseOptions extends LineOptions {
  random: Random;
  /** Connections for work. Default 8. */
  pool?: number;
}

const WITHIN_MS = STATEMENT_MS;
const IDLE_MS = 10_000;
const POOL = 8;
const LEASES = 2;
const FIRST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 500;
/**
 * The timeouts: a node that stands still inside a transaction holds locks, and so does a statement whose caller has
 * given up. READ COMMITTED, whatever the server's default: after a lock, the latest commit must be read.
 */
const begin = (ms: number, idleMs: number) =>
  `BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL idle_in_transaction_session_timeout = ${idleMs}; SET LOCAL statement_timeout = ${Math.max(1, Math.ceil(ms))}`;

/** Connects at the first statement. */
export function openDatabase(options: DatabaseOptions): Database {
  const shared = {
    ...options,
    open: lineOpener(options),
    state: { closed: false },
    tally: createDatabaseTally(),
  };
  const work = createLane(shared, "work", options.pool ?? POOL);
  const leases = createLane(shared, "leases", LEASES);
  return {
    ...work.lane,
    leases: leases.lane,
    tally: shared.tally,
    close() {
      shared.state.closed = true;
      work.end();
      leases.end();
    },
  };
}

interface Shared {
  clock: Clock;
  random: Random;
  open(ms: number): Promise<DatabaseLine>;
  state: { closed: boolean };
  tally: DatabaseTally;
}

/** What each try needs. */
interface Way extends Shared {
  lines: Lines;
  counts: LaneTally;
}

type Ask = (sql: string, values?: readonly DatabaseValue[]) => Promise<QueryResult>;

function createLane(shared: Shared, name: LaneLoad["lane"], size: number) {
  const lines = createLines({ ...shared, size });
  const counts = shared.tally.lane(() => ({ lane: name, places: size, ...lines.inUse() }));
  const way: Way = { ...shared, lines, counts };
  const lane: DatabaseLane = {
    query: (sql, values, { withinMs = WITHIN_MS, repeatable = true } = {}) =>
      untilDone(shared, withinMs, (ms, tried) =>
        onLine(way, ms, async (ask) => {
          tried.mayBeDone = !repeatable;
          if (withinMs <= STATEMENT_MS) return (await ask(sql, values)).rows;
          // A longer time limit than that of a single statement can only be set inside a transaction.
          const rows = await begun(ask, { ms }, (tx) => tx.query(sql, values));
          await commit(ask);
          return rows as never;
        }),
      ),
    transaction: (work, { withinMs = WITHIN_MS, repeatable = false, idleMs } = {}) =>
      untilDone(shared, withinMs, (ms, tried) =>
        onLine(way, ms, async (ask) => {
          const result = await begun(ask, { ms, idleMs }, work);
          tried.mayBeDone = !repeatable;
          await commit(ask);
          return result;
        }),
      ),
  };
  return { lane, end: lines.end };
}

async function begun<T>(
  ask: Ask,
  { ms, idleMs = IDLE_MS }: { ms: number; idleMs?: number | undefined },
  work: (tx: DatabaseTx) => Promise<T>,
): Promise<T> {
  await ask(begin(ms, idleMs));
  const tx: DatabaseTx = { query: async (sql, values) => (await ask(sql, values)).rows };
  try {
    return await work(tx);
  } catch (error) {
    if (endOf(error) !== "lost") await ask("ROLLBACK");
    throw error;
  }
}

async function commit(ask: Ask): Promise<void> {
  const { command } = await ask("COMMIT");
  // PostgreSQL's answer to a COMMIT after a failed statement.
  if (command !== "COMMIT") throw new Error("a transaction went on after a failed statement");
}

/** Makes one try on one connection, and returns it or ends it. If a connection is lost, idle ones may be dead, too. */
async function onLine<T>(
  { clock, lines, counts }: Way,
  ms: number,
  use: (ask: Ask) => Promise<T>,
): Promise<T> {
  const until = clock.mono() + ms;
  const line = await lines.take(ms);
  try {
    return await use(async (sql, values = []) => {
      const since = clock.mono();
      try {
        return await line.ask(sql, values, until - since);
      } finally {
        counts.statement(clock.mono() - since);
      }
    });
  } catch (error) {
    if (endOf(error, line.isBroken()) !== "lost") throw error;
    line.drop();
    lines.refresh();
    throw new DatabaseAway(messageOf(error), { cause: error });
  } finally {
    lines.put(line);
  }
}

/** Repeats until it is done, fails by itself, or the time is over. */
async function untilDone<T>(
  { clock, random, state, tally }: Shared,
  withinMs: number,
  attempt: (ms: number, tried: { mayBeDone: boolean }) => Promise<T>,
): Promise<T> {
  const until = clock.mono() + withinMs;
  let reason: unknown;
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
    const tried = { mayBeDone: false };
    try {
      return await attempt(until - clock.mono(), tried);
    } catch (error) {
      const end = endOf(error);
      tally.fault(end);
      if (end === "failed" || end === "refused") throw error;
      if (end === "late") throw new DatabaseAway(messageOf(error), { cause: error });
      if (end === "lost" && tried.mayBeDone) throw error;
      // The last try has little time: that nothing answered it says less than why those before failed.
      if (reason === undefined || !isSilence(error)) reason = error;
      const wait = pause * (0.5 + random.fraction());
      if (state.closed || clock.mono() + wait >= until)
        throw new DatabaseAway(messageOf(reason), { cause: reason });
      await sleep(clock, wait);
    }
  }
}
