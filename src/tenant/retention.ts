import { statSync } from "node:fs";
import { sweepBuckets } from "../core/alerts/buckets.ts";
import { sweepHits } from "../core/alerts/hits.ts";
import { sweepAlerts } from "../core/alerts/old-alerts.ts";
import { sweepSilences } from "../core/quiet/rows.ts";
import { oldestEntry, sweepAudit } from "../ground/audit/list.ts";
import type { Reader, Store, Tx } from "../ground/store/store.ts";
import { oldestLine, sweepBlocks, sweepLines, sweepOrphanLines } from "../in/ingest/old-lines.ts";
import { sweepDeliveries, sweepEvents, sweepExecutions } from "../out/outbox/old-rows.ts";
import { sweepPages } from "../out/paging/pages.ts";
import { sweepCodes } from "../people/codes.ts";
import { sweepReceipts } from "../people/receipts.ts";
import { sweepSessions } from "../people/sessions.ts";
import { sweepTries } from "../people/tries.ts";

/** How much is kept, and for how long (contract §4). */
export interface RetentionLimits {
  /** Days that log lines are kept. */
  logDays: number;
  /** When the database holds more bytes than this, the oldest log lines are deleted. */
  logBytes: number;
  /** Days that resolved alerts, deliveries and executions are kept. */
  historyDays: number;
}

export const defaultRetention: RetentionLimits = {
  logDays: 7,
  logBytes: 2 * 1024 ** 3,
  historyDays: 90,
};

/** The clean-up of one kind of rows. */
interface Cleanup {
  name: string;
  /** Deletes about `most` old rows, not many more. Returns whether there may be more of them. */
  sweep(tx: Tx, most: number): boolean;
}

const DAY = 86_400;
/** How long one transaction should take: new events wait meanwhile. */
const SLICE_MS = 10;
/** Used and expired pairing codes and receipts are kept this long, in seconds. */
const CODES_KEPT = 7 * DAY;
/**
 * An event that belongs to no alert any more (its project was deleted) is kept this long, in seconds: it may still be
 * sent for a day.
 */
const EVENTS_KEPT = 2 * DAY;

/** Who changed what is kept this long, in seconds. */
const AUDIT_KEPT = 400 * DAY;

export interface Retention {
  /**
   * Deletes some old rows, in one transaction: of one kind, and of those after it where nothing is left of it and there is time.
   * Returns false once every kind has been looked at.
   */
  slice(): boolean;
}

/**
 * Deletes old rows, a few at a time, so that events and pages never wait long for it. How many it deletes in one
 * transaction depends on how long the last one took. It keeps whatever an unresolved alert still needs.
 */
export function createRetention(store: Store, limits: RetentionLimits): Retention {
  const cleanups = cleanupsFor(limits);
  let most = 200;
  let at = 0;

  return {
    slice() {
      const before = store.clock.mono();
      const took = () => store.clock.mono() - before;
      const sweep = (tx: Tx) => {
        let [kind, more] = [at, false];
        do {
          more = (cleanups[kind] as Cleanup).sweep(tx, most);
          if (!more) kind++;
        } while (!more && kind < cleanups.length && took() < SLICE_MS);
        return kind;
      };
      const next = store.write(sweep, { expendable: true });
      most = Math.round(Math.min(5000, Math.max(50, took() > SLICE_MS ? most / 2 : most * 1.5)));
      at = next % cleanups.length;
      if (next < cleanups.length) return true;
      emptyWriteAheadLog(store);
      return false;
    },
  };
}

/** What counts as old, for each kind. The rows are deleted by the code that owns their table. */
function cleanupsFor({ logDays, logBytes, historyDays }: RetentionLimits): Cleanup[] {
  const history = (tx: Tx) => tx.at - historyDays * DAY;
  let from = 0;
  return [
    {
      name: "log lines",
      sweep: (tx, most) =>
        sweepLines(tx, most, { before: tx.at - logDays * DAY, over: usedBytes(tx) > logBytes }),
    },
    { name: "lines of deleted projects", sweep: sweepOrphanLines },
    { name: "log blocks", sweep: sweepBlocks },
    {
      name: "resolved alerts",
      sweep: (tx, most) =>
        sweepAlerts(tx, { before: history(tx), most: Math.max(10, Math.floor(most / 20)) }),
    },
    { name: "minutes of alerts", sweep: sweepBuckets },
    {
      name: "deliveries",
      sweep: (tx, most) => sweepDeliveries(tx, { before: history(tx), most }),
    },
    {
      name: "pages",
      sweep: (tx, most) => sweepPages(tx, { before: history(tx), most }),
    },
    {
      name: "silences",
      sweep: (tx, most) => sweepSilences(tx, { before: history(tx), most }),
    },
    {
      name: "executions",
      sweep: (tx, most) => sweepExecutions(tx, { before: history(tx), most }),
    },
    {
      // An alert's events stay as long as the alert: they decide the order of those to come.
      name: "events",
      sweep(tx, most) {
        const span = { before: history(tx), loose: tx.at - EVENTS_KEPT };
        const last = sweepEvents(tx, from, { most, ...span });
        from = last ?? 0;
        return last !== null;
      },
    },
    { name: "window hits", sweep: sweepHits },
    { name: "sessions", sweep: (tx, most) => sweepSessions(tx, { before: tx.at, most }) },
    { name: "wrong passwords", sweep: sweepTries },
    { name: "audit", sweep: (tx, most) => sweepAudit(tx, { before: tx.at - AUDIT_KEPT, most }) },
    {
      name: "pairing codes",
      sweep(tx) {
        sweepCodes(tx, tx.at - CODES_KEPT);
        sweepReceipts(tx, tx.at - CODES_KEPT);
        return false;
      },
    },
  ];
}

/** How far back what is kept reaches, in Unix seconds (null: nothing is there), and the bytes that all of it has. */
export function heldNow(reader: Reader): {
  oldestLine: number | null;
  oldestEntry: number | null;
  bytes: number;
} {
  return {
    oldestLine: oldestLine(reader),
    oldestEntry: oldestEntry(reader),
    bytes: usedBytes(reader),
  };
}

/** Bytes of the database file that hold data. */
function usedBytes({ db }: Reader): number {
  const pages = db.pragma("page_count", { simple: true }) as number;
  const free = db.pragma("freelist_count", { simple: true }) as number;
  return (pages - free) * (db.pragma("page_size", { simple: true }) as number);
}

/** Size of the write-ahead log, in bytes, from which on it is emptied. */
const LARGE_WAL = 32 * 1024 * 1024;

/**
 * Empties SQLite's write-ahead log after a large clean-up. The database file itself doesn't shrink: SQLite uses the freed
 * pages again. To give them back (`auto_vacuum`) it would have to write one more page for each that is added.
 */
function emptyWriteAheadLog(store: Store): void {
  const wal = statSync(`${store.path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
  if (wal > LARGE_WAL) store.db.pragma("wal_checkpoint(TRUNCATE)");
}
