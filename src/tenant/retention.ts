import { statSync } from "node:fs";
import { sweepHits } from "../alerts/hits.ts";
import { sweepAlerts } from "../alerts/old-alerts.ts";
import { sweepBlocks, sweepLines, sweepOrphanLines } from "../ingest/old-lines.ts";
import { sweepDeliveries, sweepEvents, sweepExecutions } from "../outbox/old-rows.ts";
import { sweepCodes } from "../people/codes.ts";
import { sweepReceipts } from "../people/receipts.ts";
import type { Store, Tx } from "../store/store.ts";

/** How long things are kept (contract §4). */
export interface RetentionLimits {
  logDays: number;
  /** Bytes of the store from which on the oldest log lines go. */
  logBytes: number;
  /** Days of resolved alerts, deliveries and executions. */
  historyDays: number;
}

export const defaultRetention: RetentionLimits = {
  logDays: 7,
  logBytes: 2 * 1024 ** 3,
  historyDays: 90,
};

/** One kind of old rows: deletes at most about `most` of them, and says whether there may be more. */
interface Broom {
  name: string;
  sweep(tx: Tx, most: number): boolean;
}

const DAY = 86_400;
/** Aim for one slice, so that ingest is never kept waiting long. */
const SLICE_MS = 10;
const CODES_KEPT = 7 * DAY;
/** Deliveries of a deleted project may still be on their way for a day. */
const EVENTS_KEPT = 2 * DAY;

export interface Retention {
  /** Deletes one slice of one kind; whether there is more to do. */
  slice(): boolean;
}

/**
 * Deletes what is old in small slices, each its own transaction, sized by how long the last one took.
 * Never what an unresolved alert needs.
 */
export function createRetention(store: Store, limits: RetentionLimits): Retention {
  const brooms = broomsFor(limits);
  let most = 200;
  let at = 0;

  return {
    slice() {
      const broom = brooms[at] as Broom;
      const before = store.clock.mono();
      const more = store.write((tx) => broom.sweep(tx, most), { expendable: true });
      const took = store.clock.mono() - before;
      most = Math.round(Math.min(5000, Math.max(50, took > SLICE_MS ? most / 2 : most * 1.5)));
      if (more) return true;
      at = (at + 1) % brooms.length;
      if (at !== 0) return true;
      cutLog(store);
      return false;
    },
  };
}

/** Each table's own room deletes from it: what is old is said here. */
function broomsFor({ logDays, logBytes, historyDays }: RetentionLimits): Broom[] {
  const history = (tx: Tx) => tx.at - historyDays * DAY;
  let from = 0;
  return [
    {
      // Ids rise with time.
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
    {
      name: "deliveries",
      sweep: (tx, most) => sweepDeliveries(tx, { before: history(tx), most }),
    },
    {
      name: "executions",
      sweep: (tx, most) => sweepExecutions(tx, { before: history(tx), most }),
    },
    {
      // Those of standing alerts order what comes next.
      name: "events",
      sweep(tx, most) {
        const span = { before: history(tx), loose: tx.at - EVENTS_KEPT };
        const last = sweepEvents(tx, from, { most, ...span });
        from = last ?? 0;
        return last !== null;
      },
    },
    { name: "window hits", sweep: sweepHits },
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

function usedBytes(tx: Tx): number {
  const pages = tx.db.pragma("page_count", { simple: true }) as number;
  const free = tx.db.pragma("freelist_count", { simple: true }) as number;
  return (pages - free) * (tx.db.pragma("page_size", { simple: true }) as number);
}

const LARGE_WAL = 32 * 1024 * 1024;

/**
 * Cuts a log that has grown. Pages that were freed are used again and not given back to the disk: that would
 * need a map page to be written with every page that is added.
 */
function cutLog(store: Store): void {
  const wal = statSync(`${store.path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
  if (wal > LARGE_WAL) store.db.pragma("wal_checkpoint(TRUNCATE)");
}
