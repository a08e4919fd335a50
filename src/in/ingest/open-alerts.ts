import { type AlertState, getAlertRow } from "../../core/alerts/alert.ts";
import { occurredStatement, slotOf } from "../../core/alerts/buckets.ts";
import { foldStatement, type LaterReport, writeWord } from "../../core/alerts/fold.ts";
import { worsen } from "../../core/alerts/worse.ts";
import { takeSequence } from "../../ground/store/meta.ts";
import type { Tx } from "../../ground/store/store.ts";
import { createLaterReports } from "./later-reports.ts";

/** An alert that is not resolved, as folding needs it. */
export interface OpenAlert {
  id: number;
  state: AlertState;
  level: number;
  count: number;
  /** The `count` that is in the table. */
  counted: number;
  lastSeen: number;
  /** Of the batch that is open; not held longer, for it may be 64 Ki characters long. */
  lastMessage: string;
  template: string;
  quietSeconds: number;
  /** Which firing of it this is, as its sender says. */
  instance: string | null;
  /** When its sender's word runs out, Unix seconds. */
  expiresAt: number | null;
  /** The `lastSeen` that is in the table. */
  written: number;
  /** The level that is in the table. */
  levelWritten: number;
  /** The only source its events came from; null: several. */
  source: string | null;
  /** 1 where its sender names it. */
  isNamed: number;
}

/** A firing that is only reported again is written once in so many seconds. */
const WRITE_SECONDS = 60;
/** So long ago that it is written at once. */
const NEVER = Number.NEGATIVE_INFINITY;

const FIND = `SELECT id, state, level, count, count AS counted, last_seen AS lastSeen, template, instance, expires_at AS expiresAt,
    last_seen AS written, level AS levelWritten, source, dedup_key IS NOT NULL AS isNamed
  FROM alerts WHERE alert_key = ? AND state <> 'resolved'`;

/**
 * The standing alerts by key: memory before the table, which has a unique index on the same key. What
 * is not in memory is looked up, so the bound costs time and never an alert.
 */
export interface OpenAlerts {
  find(tx: Tx, key: string, quietSeconds: number): OpenAlert | null;
  /** Marks an entry as changed in the batch that is open. */
  touch(key: string, alert: OpenAlert): void;
  /**
   * The same firing was reported again at `at`: seen now, and good until `expiresAt`. Nothing else changes, and it
   * is written at most once a minute, or where the table has a later end than this, or one that is near.
   */
  refresh(key: string, alert: OpenAlert, report: { at: number; expiresAt: number | null }): boolean;
  /** Writes each touched alert once. */
  flush(tx: Tx): void;
  /** What `refresh` left unwritten of an alert. */
  laterReport(alert: { id: number; alert_key: string }): LaterReport | null;
  /** How many reports are unwritten. */
  reports(): number;
  writeReports(tx: Tx): void;
  /** An alert was opened again: what was said of it before it ended holds no more. */
  dropReport(key: string): void;
  /** The clock jumped by so many seconds, and with it all times in the table that are ahead. */
  shift(by: number): void;
  forget(key: string): void;
  /** The batch is committed. */
  settle(): void;
  /** Forgets all that the table has, and what a batch changed that isn't committed. */
  clear(): void;
}

export function createOpenAlerts(limit: number): OpenAlerts {
  const known = new Map<string, OpenAlert>();
  const touched = new Set<OpenAlert>();
  const reports = createLaterReports(limit);
  // Then the times of what was seen and of what is due can't be compared.
  let hasJumped = false;

  /** What the open batch changed stays: its row doesn't have that yet. */
  const remember = (key: string, alert: OpenAlert) => {
    for (const [other, held] of known) {
      if (known.size < limit) break;
      if (!touched.has(held)) known.delete(other);
    }
    known.set(key, alert);
  };

  return {
    find(tx, key, quietSeconds) {
      const cached = known.get(key);
      if (cached !== undefined) {
        // The rule may have been changed since the alert was read.
        cached.quietSeconds = quietSeconds;
        return cached;
      }
      const row = tx
        .sql<[key: string], Omit<OpenAlert, "quietSeconds" | "lastMessage">>(FIND)
        .get(key);
      if (row === undefined) return null;
      const alert = { ...row, quietSeconds, lastMessage: "" };
      if (hasJumped) alert.written = NEVER;
      const report = reports.get(key);
      if (report?.id === row.id) alert.lastSeen = report.seen;
      remember(key, alert);
      return alert;
    },
    touch(key, alert) {
      if (!known.has(key)) remember(key, alert);
      touched.add(alert);
      reports.drop(key);
    },
    refresh(key, alert, { at, expiresAt }) {
      // By what the table has: it is looked at when it says that something is due.
      const quietAt = alert.quietSeconds === 0 ? null : alert.written + alert.quietSeconds;
      const isNear = (due: number | null) => due !== null && due <= at + WRITE_SECONDS;
      const isOld = at - alert.written >= WRITE_SECONDS || at < alert.written;
      alert.lastSeen = at;
      const isSooner = expiresAt !== null && expiresAt < (alert.expiresAt ?? Infinity);
      // What the open batch writes anyway takes the latest word.
      const isWritten = touched.has(alert) || isOld || isSooner;
      if (!isWritten && !isNear(quietAt) && !isNear(alert.expiresAt)) {
        reports.keep(key, { id: alert.id, seen: at, at, expiresAt });
        return false;
      }
      alert.expiresAt = expiresAt;
      this.touch(key, alert);
      return true;
    },
    flush(tx) {
      if (touched.size === 0) return;
      let seq = takeSequence(tx, "updated_seq", touched.size);
      const fold = foldStatement(tx);
      const occurred = occurredStatement(tx);
      const minute = slotOf(tx.at);
      for (const alert of touched) {
        const quietAt = alert.quietSeconds === 0 ? null : alert.lastSeen + alert.quietSeconds;
        const { changes } = fold.run(
          alert.count,
          alert.lastSeen,
          alert.lastMessage,
          alert.template,
          seq++,
          quietAt,
          alert.id,
        );
        alert.lastMessage = "";
        alert.written = alert.lastSeen;
        if (alert.isNamed === 1) writeWord(tx, alert);
        const more = alert.count - alert.counted;
        if (more > 0) occurred.run(alert.id, minute, more);
        alert.counted = alert.count;
        if (changes !== 1) throw new Error(`alert ${alert.id} is not as memory has it`);
        if (alert.level > alert.levelWritten) worsen(tx, getAlertRow(tx, alert.id), alert.level);
        alert.levelWritten = alert.level;
      }
      touched.clear();
    },
    laterReport({ id, alert_key }) {
      const report = reports.get(alert_key);
      return report?.id === id ? report : null;
    },
    reports: () => reports.size,
    writeReports: reports.write,
    dropReport: reports.drop,
    shift(by) {
      hasJumped = true;
      known.clear();
      reports.shift(by);
    },
    forget: (key) => void known.delete(key),
    settle: reports.settle,
    clear() {
      known.clear();
      touched.clear();
      reports.undo();
    },
  };
}
