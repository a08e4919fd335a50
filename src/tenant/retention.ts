import { statSync } from "node:fs";
import { sweepBuckets } from "../core/alerts/buckets.ts";
import { sweepHits } from "../core/alerts/hits.ts";
import { sweepAlerts } from "../core/alerts/old-alerts.ts";
import { sweepSilences } from "../core/quiet/rows.ts";
import { oldestEntry, sweepAudit } from "../ground/audit/list.ts";
import type { Clock } from "../ground/kit/clock.ts";
import type { Reader, Store, Tx } from "../ground/store/store.ts";
import { sweepReturns } from "../in/ingest/first-seen.ts";
import { sweepHours } from "../in/ingest/hour-rows.ts";
import { oldestLine, sweepBlocks, sweepLines, sweepOrphanLines } from "../in/ingest/old-lines.ts";
import { sweepDeliveries, sweepEvents, sweepExecutions } from "../out/outbox/old-rows.ts";
import { sweepPages } from "../out/paging/pages.ts";
import { sweepCodes } from "../people/codes.ts";
import { sweepReceipts } from "../people/receipts.ts";
import { sweepSessions } from "../people/sessions.ts";
import { sweepTries } from "../people/tries.ts";
import { readUntil, reckonSome } from "../records/numbers/reckon.ts";
import { sweepDays } from "../records/numbers/rows.ts";

/** How much is kept, and for how long (contract §4). */
export interface RetentionLimits {
  logDays: number;
  /** When the database holds more bytes than this, the oldest log lines are deleted. */
  logBytes: number;
  /** Days that resolved alerts, deliveries and executions are kept. */
  historyDays: number;
  /** Days that the sums of numbers are kept, in whole months. */
  numbersDays: number;
}

export const defaultRetention: RetentionLimits = {
  logDays: 7,
  logBytes: 2 * 1024 ** 3,
  historyDays: 90,
  numbersDays: 800,
};

interface Cleanup {
  name: string;
  /** Deletes about `most` old rows. Returns whether there may be more of them. */
  sweep(tx: Tx, most: number): boolean;
}

const DAY = 86_400;
/** How long one transaction should take, because new events wait meanwhile. */
const SLICE_MS = 10;
/** Seconds that used and expired pairing codes and receipts are kept. */
const CODES_KEPT = 7 * DAY;
/** Seconds that an event without an alert (its project was deleted) is kept: it may still be sent for a day. */
const EVENTS_KEPT = 2 * DAY;
/** Between two looks at all events: every one is read. */
const EVENTS_MS = 6 * 3_600_000;

/** Seconds that audit entries are kept. */
const AUDIT_KEPT = 400 * DAY;

/** Between two looks at what is kept for days. Log lines, which have a bound in bytes, are looked at each time. */
const HISTORY_MS = 300_000;

export type Retention = ReturnType<typeof createRetention>;

/**
 * Deletes old rows, a few at a time, so that events and pages never wait long. The number in one transaction depends on
 * how long the last one took. It keeps everything that an unresolved alert needs.
 */
export function createRetention(store: Store, limits: RetentionLimits) {
  const lines = linesFor(limits);
  const all = [...lines, ...historyFor(limits, store.clock)];
  let cleanups = all;
  let most = 200;
  let at = 0;
  let historyAt = Number.NEGATIVE_INFINITY;

  return {
    /** Deletes some old rows in one transaction. Returns false once every kind that is due is done. */
    slice(): boolean {
      const before = store.clock.mono();
      if (at === 0) cleanups = before >= historyAt ? all : lines;
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
      if (cleanups === all) historyAt = before + HISTORY_MS;
      return false;
    },
  };
}

/** What counts as old, for each kind. The folder that writes a table also deletes its rows. */
function linesFor({ logDays, logBytes }: RetentionLimits): Cleanup[] {
  return [
    {
      name: "log lines",
      sweep: (tx, most) =>
        sweepLines(tx, most, { before: tx.at - logDays * DAY, over: usedBytes(tx) > logBytes }),
    },
    { name: "lines of deleted projects", sweep: sweepOrphanLines },
    { name: "log blocks", sweep: sweepBlocks },
  ];
}

function historyFor({ historyDays, numbersDays }: RetentionLimits, clock: Clock): Cleanup[] {
  const history = (tx: Tx) => tx.at - historyDays * DAY;
  let from = 0;
  let eventsAt = Number.NEGATIVE_INFINITY;
  return [
    { name: "numbers of what is deleted next", sweep: reckonSome },
    {
      name: "resolved alerts",
      sweep: (tx, most) =>
        sweepAlerts(tx, {
          before: history(tx),
          counted: readUntil(tx),
          most: Math.max(10, Math.floor(most / 20)),
        }),
    },
    {
      name: "numbers",
      sweep: (tx, most) => sweepDays(tx, { day: Math.floor(tx.at / DAY) - numbersDays, most }),
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
      // An alert's events stay as long as the alert, because they decide the order of later ones.
      name: "events",
      sweep(tx, most) {
        if (from === 0 && clock.mono() < eventsAt) return false;
        const span = { before: history(tx), loose: tx.at - EVENTS_KEPT };
        const last = sweepEvents(tx, from, { most, ...span });
        if (last === null) eventsAt = clock.mono() + EVENTS_MS;
        from = last ?? 0;
        return last !== null;
      },
    },
    { name: "window hits", sweep: sweepHits },
    { name: "first sights of templates", sweep: sweepReturns },
    { name: "counts by the hour", sweep: sweepHours },
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

/** Times of the oldest rows, in Unix seconds (null: there are none), and the bytes of all data. */
export function heldNow(reader: Reader) {
  return {
    oldestLine: oldestLine(reader),
    oldestEntry: oldestEntry(reader),
    bytes: usedBytes(reader),
  };
}

const USED_BYTES = `SELECT (page_count - freelist_count) * page_size
  FROM pragma_page_count, pragma_freelist_count, pragma_page_size`;

/** Bytes of the database file that hold data. */
function usedBytes(reader: Reader): number {
  return reader.sql<[], number>(USED_BYTES).pluck().get() ?? 0;
}

/** A write-ahead log of this many bytes is emptied. */
const LARGE_WAL = 32 * 1024 * 1024;

/**
 * Empties SQLite's write-ahead log after a large clean-up. The database file doesn't shrink: SQLite uses its free pages
 * again. To shrink it (`auto_vacuum`), SQLite would have to write another page for each new one.
 */
function emptyWriteAheadLog(store: Store): void {
  const wal = statSync(`${store.path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
  if (wal > LARGE_WAL) store.db.pragma("wal_checkpoint(TRUNCATE)");
}
