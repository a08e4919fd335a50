import { statSync } from "node:fs";
import { BLOCK_LINES } from "../ingest/lines.ts";
import { listAllRules } from "../projects/rules.ts";
import { setMeta } from "../store/meta.ts";
import type { Store, Tx } from "../store/store.ts";

/** How long things are kept (decisions §4). */
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

export interface Retention {
  /** Deletes one slice of one kind; whether there is more to do. */
  slice(): boolean;
}

/**
 * Deletes what is old in small slices, each its own transaction, sized by how long the last one took.
 * Never what an unresolved alert needs.
 */
export function createRetention(store: Store, limits: RetentionLimits): Retention {
  const brooms = [
    oldLines(limits),
    orphanLines(),
    oldBlocks(),
    oldAlerts(limits),
    oldDeliveries(limits),
    oldExecutions(limits),
    looseEvents(limits),
    oldHits(),
    oldCodes(),
  ];
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

/** Lines past their days, or the oldest while the store is over its bytes. Ids rise with time. */
function oldLines(limits: RetentionLimits): Broom {
  return {
    name: "log lines",
    sweep(tx, most) {
      const rows = tx
        .sql("SELECT id, received_at FROM log_lines ORDER BY id LIMIT ?")
        .all(most) as { id: number; received_at: number }[];
      const cutoff = tx.at - limits.logDays * DAY;
      const over = usedBytes(tx) > limits.logBytes;
      const old = over ? rows : rows.filter((row) => row.received_at < cutoff);
      const last = old.at(-1);
      if (last === undefined) return false;
      // The newest id must outlive its line, because ids are handed out after it.
      if (rows.length < most) setMeta(tx, "log_line_id", Math.max(last.id, newestLine(tx)));
      tx.sql("DELETE FROM log_lines WHERE id <= ?").run(last.id);
      return old.length === most;
    },
  };
}

function newestLine(tx: Tx): number {
  return (tx.sql("SELECT max(id) FROM log_lines").pluck().get() as number | null) ?? 0;
}

function usedBytes(tx: Tx): number {
  const pages = tx.db.pragma("page_count", { simple: true }) as number;
  const free = tx.db.pragma("freelist_count", { simple: true }) as number;
  return (pages - free) * (tx.db.pragma("page_size", { simple: true }) as number);
}

/** Lines of projects that were deleted, a block at a time. */
function orphanLines(): Broom {
  return {
    name: "lines of deleted projects",
    sweep(tx) {
      const orphan = tx
        .sql(
          "SELECT project_id, block FROM log_blocks WHERE project_id NOT IN (SELECT id FROM projects) LIMIT 1",
        )
        .get() as { project_id: number; block: number } | undefined;
      if (orphan === undefined) return false;
      const from = orphan.block * BLOCK_LINES;
      tx.sql("DELETE FROM log_lines WHERE id >= ? AND id < ? AND project_id = ?").run(
        from,
        from + BLOCK_LINES,
        orphan.project_id,
      );
      tx.sql("DELETE FROM log_blocks WHERE project_id = ? AND block = ?").run(
        orphan.project_id,
        orphan.block,
      );
      return true;
    },
  };
}

/** Entries of blocks whose lines are all gone. */
function oldBlocks(): Broom {
  return {
    name: "log blocks",
    sweep(tx, most) {
      const oldest = tx.sql("SELECT min(id) FROM log_lines").pluck().get() as number | null;
      const block = tx.sql("SELECT min(block) FROM log_blocks").pluck().get() as number | null;
      if (block === null || (oldest !== null && (block + 1) * BLOCK_LINES > oldest)) return false;
      const { changes } = tx
        .sql(
          `DELETE FROM log_blocks WHERE (project_id, template_id, block) IN
             (SELECT project_id, template_id, block FROM log_blocks WHERE block = ? LIMIT ?)`,
        )
        .run(block, most);
      return changes > 0;
    },
  };
}

function oldAlerts(limits: RetentionLimits): Broom {
  return {
    name: "resolved alerts",
    sweep(tx, most) {
      const few = Math.max(10, Math.floor(most / 20));
      const ids = tx
        .sql(
          "SELECT id FROM alerts WHERE resolved_at IS NOT NULL AND resolved_at < ? ORDER BY resolved_at LIMIT ?",
        )
        .pluck()
        .all(tx.at - limits.historyDays * DAY, few) as number[];
      for (const id of ids) {
        tx.sql("DELETE FROM deliveries WHERE alert_id = ?").run(id);
        tx.sql(
          "DELETE FROM executions WHERE id IN (SELECT x.id FROM executions x JOIN events e ON e.id = x.event_row WHERE e.alert_id = ?)",
        ).run(id);
        tx.sql("DELETE FROM events WHERE alert_id = ?").run(id);
        tx.sql("DELETE FROM alerts WHERE id = ? AND state = 'resolved'").run(id);
      }
      return ids.length === few;
    },
  };
}

function oldDeliveries(limits: RetentionLimits): Broom {
  return {
    name: "deliveries",
    sweep(tx, most) {
      const { changes } = tx
        .sql(
          "DELETE FROM deliveries WHERE id IN (SELECT id FROM deliveries WHERE finished_at IS NOT NULL AND finished_at < ? LIMIT ?)",
        )
        .run(tx.at - limits.historyDays * DAY, most);
      return changes === most;
    },
  };
}

function oldExecutions(limits: RetentionLimits): Broom {
  return {
    name: "executions",
    sweep(tx, most) {
      const { changes } = tx
        .sql(
          "DELETE FROM executions WHERE id IN (SELECT id FROM executions WHERE created_at < ? AND status <> 'pending' LIMIT ?)",
        )
        .run(tx.at - limits.historyDays * DAY, most);
      return changes === most;
    },
  };
}

/** Deliveries of a deleted project may still be on their way for a day. */
const EVENTS_KEPT = 2 * DAY;

/** Events whose alert is gone, and old ones that had none. Those of standing alerts order what comes next. */
function looseEvents(limits: RetentionLimits): Broom {
  let from = 0;
  return {
    name: "events",
    sweep(tx, most) {
      const last = tx
        .sql("SELECT max(id) FROM (SELECT id FROM events WHERE id > ? ORDER BY id LIMIT ?)")
        .pluck()
        .get(from, most) as number | null;
      if (last === null) {
        from = 0;
        return false;
      }
      tx.sql(
        `DELETE FROM events WHERE id > ? AND id <= ? AND CASE WHEN alert_id IS NULL THEN timestamp < ?
           ELSE timestamp < ? AND NOT EXISTS (SELECT 1 FROM alerts WHERE alerts.id = events.alert_id) END`,
      ).run(from, last, tx.at - limits.historyDays * DAY, tx.at - EVENTS_KEPT);
      from = last;
      return true;
    },
  };
}

/** Matches that no window reaches any more. */
function oldHits(): Broom {
  return {
    name: "window hits",
    sweep(tx, most) {
      let deleted = 0;
      for (const rule of listAllRules(tx)) {
        const cutoff = tx.at - rule.fire_after.window_minutes * 60;
        deleted += tx
          .sql(
            "DELETE FROM window_hits WHERE id IN (SELECT id FROM window_hits WHERE rule_id = ? AND at <= ? LIMIT ?)",
          )
          .run(rule.id, cutoff, most).changes;
      }
      return deleted >= most;
    },
  };
}

function oldCodes(): Broom {
  return {
    name: "pairing codes",
    sweep(tx) {
      tx.sql("DELETE FROM pair_codes WHERE expires_at < ?").run(tx.at - CODES_KEPT);
      tx.sql("DELETE FROM pair_receipts WHERE expires_at < ?").run(tx.at - CODES_KEPT);
      return false;
    },
  };
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
