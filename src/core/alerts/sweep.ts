import { unixSeconds } from "../../ground/kit/clock.ts";
import { ServiceError } from "../../ground/kit/errors.ts";
import type { Log } from "../../ground/kit/log.ts";
import { isFatal, sqliteCode } from "../../ground/store/faults.ts";
import { takeSequence } from "../../ground/store/meta.ts";
import type { Store, Tx } from "../../ground/store/store.ts";
import type { StoredRule } from "../projects/rule.ts";
import { type AlertRow, findAlertRow, getAlertRow } from "./alert.ts";
import { change } from "./apply.ts";
import type { LaterReport } from "./fold.ts";
import { happen } from "./life/happen.ts";
import type { AlertMoment } from "./life/turn.ts";
import { createReach, storedSeats } from "./reach.ts";
import { findRule } from "./rule-of.ts";

interface SweepLimits {
  /** Most alerts of one transaction. */
  slice: number;
  /** No alert is begun after this many milliseconds of one transaction. */
  budgetMs: number;
}

export const defaultSweepLimits: SweepLimits = { slice: 400, budgetMs: 10 };

export type Sweep = ReturnType<typeof createSweep>;

interface SweepStats {
  settled: number;
  /** Alerts that threw and were pushed into the future. */
  postponed: number;
}

/** How far an alert that throws is pushed. */
const POSTPONE_SECONDS = 60;

const DUE = "SELECT id FROM alerts WHERE due_at <= ? ORDER BY due_at, id LIMIT ?";
const NEXT = "SELECT min(due_at) FROM alerts WHERE due_at IS NOT NULL";

/**
 * The due work of alerts, by the indexed column: small slices, so that nothing else waits
 * long, and each alert for itself, so that one that throws can't block the rest. `later`: what senders
 * said of alerts and isn't written yet.
 */
export function createSweep(
  store: Store,
  log: Log,
  limits = defaultSweepLimits,
  later: (row: AlertRow) => LaterReport | null = () => null,
) {
  const counted: SweepStats = { settled: 0, postponed: 0 };

  // As many as fitted into the time before, so that few are looked up in vain.
  let pace = limits.slice;

  /** How many of them, from the first, were settled in one transaction. */
  const settleAll = (ids: readonly number[], upSince: number): number => {
    const until = store.clock.mono() + limits.budgetMs;
    return store.write((tx) => {
      const known = { ...knownIn(tx), upSince };
      const ruleOf = rulesIn(tx);
      let done = 0;
      for (const id of ids) {
        if (done > 0 && store.clock.mono() >= until) break;
        // One that was settled before it may have changed it.
        const row = findAlertRow(tx, id);
        if (row?.due_at != null && row.due_at <= tx.at)
          happen(tx, row, { what: "looked" }, { ...known, rule: ruleOf(row), later: later(row) });
        done += 1;
      }
      return done;
    });
  };

  const postpone = (id: number, error: unknown) => {
    store.write((tx) => change(tx, getAlertRow(tx, id), { due_at: tx.at + POSTPONE_SECONDS }));
    counted.postponed += 1;
    log.error({ alert: id, err: error }, "an alert's step could not be taken; it is tried again");
  };

  /** After a rollback the slice is halved until the one that throws stands alone. */
  const settle = (ids: readonly number[], upSince: number): void => {
    try {
      const done = settleAll(ids, upSince);
      counted.settled += done;
      pace = done === ids.length ? Math.min(pace + 32, limits.slice) : done;
    } catch (error) {
      if (meetsAll(error)) throw error;
      const [only] = ids;
      if (ids.length === 1 && only !== undefined) {
        postpone(only, error);
      } else {
        const half = Math.ceil(ids.length / 2);
        settle(ids.slice(0, half), upSince);
        settle(ids.slice(half), upSince);
      }
    }
  };

  return {
    /**
     * Settles one slice of what is due, in one transaction, and says when the next one is due (Unix seconds; now
     * or earlier: there is more; null: nothing is timed). Throws only what would meet every alert alike.
     */
    run(upSince: number): number | null {
      const now = unixSeconds(store.clock);
      const ids = store.sql<[now: number, pace: number], number>(DUE).pluck().all(now, pace);
      if (ids.length > 0) settle(ids, upSince);
      return store.sql<[], number | null>(NEXT).pluck().get() ?? null;
    },
    stats: () => ({ ...counted }),
  };
}

/** Sequence numbers are taken so many at a time; those left over are never used. */
const SEQUENCE_BLOCK = 32;

/** People are looked up once for each transaction. */
function knownIn(tx: Tx): Pick<AlertMoment, "nextSeq" | "reach"> {
  let seq = 0;
  let left = 0;
  return {
    nextSeq() {
      if (left === 0) {
        seq = takeSequence(tx, SEQUENCE_BLOCK);
        left = SEQUENCE_BLOCK;
      }
      left -= 1;
      return seq++;
    },
    reach: createReach(tx.at, storedSeats(tx)),
  };
}

/** So are rules. */
function rulesIn(tx: Tx): (row: AlertRow) => StoredRule | null {
  const rules = new Map<number, StoredRule | null>();
  return ({ rule_id: id }) => {
    return rules.getOrInsertComputed(id, () => findRule(tx, id));
  };
}

/** A disk that is full or broken, or a store that is locked: no alert's own fault. */
export function meetsAll(error: unknown): boolean {
  if (error instanceof ServiceError) return error.status === 429;
  return isFatal(error) || sqliteCode(error).startsWith("SQLITE_BUSY");
}
