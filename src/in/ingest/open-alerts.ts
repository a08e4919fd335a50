import { LRUCache } from "lru-cache";
import { type AlertState, getAlertRow } from "../../core/alerts/alert.ts";
import { occurredStatement, slotOf } from "../../core/alerts/buckets.ts";
import {
  foldStatement,
  type LaterReport,
  readLabels,
  writeLabels,
  writeTitle,
  writeWord,
} from "../../core/alerts/fold.ts";
import { type AlertLabels, LabelBook } from "../../core/alerts/label-book.ts";
import { raiseLevel } from "../../core/alerts/raise-level.ts";
import { takeSequence } from "../../ground/store/meta.ts";
import type { Tx } from "../../ground/store/store.ts";
import type { IngestEvent } from "./event.ts";
import { createLaterReports } from "./later-reports.ts";

/** The part of an unresolved alert that folding needs. */
export interface OpenAlert {
  id: number;
  state: AlertState;
  level: number;
  count: number;
  /** The `count` in the table. */
  counted: number;
  lastSeen: number;
  /** From the open batch; not kept longer, because it can have 64 Ki characters. */
  lastMessage: string;
  template: string;
  quietSeconds: number;
  /** Identifies its firing, by its sender. */
  instance: string | null;
  /** Unix seconds by which its sender must report again. */
  expiresAt: number | null;
  /** The `lastSeen` in the table. */
  written: number;
  /** The level in the table. */
  levelWritten: number;
  /** The only source of its events; null: several. */
  source: string | null;
  /** 1 where its sender names it. */
  isNamed: number;
  /** What its sender calls it; null: nothing. */
  title: string | null;
  /** What the open batch has to write of it. */
  news: { title?: string; labels?: LabelBook } | null;
}

/** Seconds between two writes of a firing that is only reported again. */
const WRITE_SECONDS = 60;
/** Characters of labels in memory, of alerts that aren't in the open batch. */
const LABEL_CHARS = 32 * 1024 * 1024;
/** Written at once. */
const NEVER = Number.NEGATIVE_INFINITY;

const LATEST = "SELECT max(last_seen) FROM alerts WHERE state <> 'resolved'";
const FIND = `SELECT id, state, level, count, count AS counted, last_seen AS lastSeen, template, instance, expires_at AS expiresAt,
    last_seen AS written, level AS levelWritten, source, dedup_key IS NOT NULL AS isNamed, title
  FROM alerts WHERE alert_key = ? AND state <> 'resolved'`;

/**
 * Unresolved alerts by key, cached in front of the table, which has a unique index on the key. A missing one is read
 * from the table, so the limit costs time and never an alert.
 */
export interface OpenAlerts {
  find(tx: Tx, key: string, quietSeconds: number): OpenAlert | null;
  /** What an event says of itself, by its keys and title; whether that is news. The caller marks the entry as changed. */
  hear(
    tx: Tx,
    key: string,
    said: {
      alert: OpenAlert;
      event: Pick<IngestEvent, "keys" | "title"> & {
        /** Of all events at once, in place of the keys of one. */
        labels?: AlertLabels | undefined;
      };
      names: readonly string[];
    },
  ): boolean;
  /** Marks an entry as changed in the open batch. */
  touch(key: string, alert: OpenAlert): void;
  /**
   * The same firing was reported again at `at`, and is valid until `expiresAt`. Nothing else changes, but for what it
   * says of itself. It is written at most once a minute, or at once where it says something new, or the table has a later
   * expiry than this, or a near one.
   */
  refresh(
    key: string,
    alert: OpenAlert,
    report: { at: number; expiresAt: number | null; saysMore: boolean },
  ): boolean;
  flush(tx: Tx): void;
  /** A report that `refresh` hasn't written. */
  laterReport(alert: { id: number; alert_key: string }): LaterReport | null;
  /** The number of unwritten reports. */
  reports(): number;
  writeReports(tx: Tx): void;
  /** An alert was reopened: reports from before its end are dropped. */
  dropReport(key: string): void;
  /** The clock jumped by so many seconds, and with it all future times in the table. */
  shift(by: number): void;
  forget(key: string): void;
  settle(): void;
  /** Clears everything, also uncommitted changes of a batch. */
  clear(): void;
}

export function createOpenAlerts(limit: number): OpenAlerts {
  const known = new Map<string, OpenAlert>();
  const touched = new Set<OpenAlert>();
  const reports = createLaterReports(limit);
  const heard = new LRUCache<string, LabelBook>({
    maxSize: LABEL_CHARS,
    sizeCalculation: ({ charge }) => charge,
  });
  // After a jump, which may also lie before the start, the last report and due times can't be compared. Rows up to this
  // time may be from before the start or the jump; null: it isn't read yet.
  let before: number | null = null;

  /** Entries that the open batch changed stay, because their rows aren't written yet. */
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
        // The rule may have changed since the alert was read.
        cached.quietSeconds = quietSeconds;
        return cached;
      }
      before ??= tx.sql<[], number>(LATEST).pluck().get() ?? NEVER;
      const row = tx
        .sql<[key: string], Omit<OpenAlert, "quietSeconds" | "lastMessage" | "news">>(FIND)
        .get(key);
      if (row === undefined) return null;
      const alert = { ...row, quietSeconds, lastMessage: "", news: null };
      if (row.written <= before) alert.written = NEVER;
      const report = reports.get(key);
      if (report?.id === row.id) alert.lastSeen = report.seen;
      remember(key, alert);
      return alert;
    },
    hear(tx, key, { alert, event: { keys, title = null, labels: all }, names }) {
      let isNews = false;
      if (title !== null && title !== alert.title) {
        alert.title = title;
        alert.news = { ...alert.news, title };
        isNews = true;
      }
      if (keys === null && all === undefined) return isNews;
      const known = alert.news?.labels ?? heard.get(key);
      const book = known ?? new LabelBook(readLabels(tx, alert.id));
      const saysMore = all === undefined ? book.hear(keys, names) : book.hearAll(all, names);
      // What it takes counts as it is when it comes in.
      const isLarger = saysMore && book.outgrew();
      if (isLarger) heard.delete(key);
      if (isLarger || known === undefined) heard.set(key, book);
      if (!saysMore) return isNews;
      if (alert.news?.labels === undefined) alert.news = { ...alert.news, labels: book };
      return true;
    },
    touch(key, alert) {
      if (!known.has(key)) remember(key, alert);
      touched.add(alert);
      reports.drop(key);
    },
    refresh(key, alert, { at, expiresAt, saysMore }) {
      // By the table's values, because the table decides when something is due.
      const quietAt = alert.quietSeconds === 0 ? null : alert.written + alert.quietSeconds;
      const isNear = (due: number | null) => due !== null && due <= at + WRITE_SECONDS;
      const isOld = at - alert.written >= WRITE_SECONDS || at < alert.written;
      alert.lastSeen = at;
      const isSooner = expiresAt !== null && expiresAt < (alert.expiresAt ?? Infinity);
      // An alert that the open batch writes anyway gets the latest report.
      const isWritten = touched.has(alert) || isOld || isSooner || saysMore;
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
      let seq = takeSequence(tx, touched.size);
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
        writeNews(tx, alert);
        const more = alert.count - alert.counted;
        if (more > 0) occurred.run(alert.id, minute, more);
        alert.counted = alert.count;
        if (changes !== 1) throw new Error(`alert ${alert.id} is not as memory has it`);
        if (alert.level > alert.levelWritten)
          raiseLevel(tx, getAlertRow(tx, alert.id), alert.level);
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
      before = null;
      known.clear();
      reports.shift(by);
    },
    forget(key) {
      known.delete(key);
      heard.delete(key);
    },
    settle: reports.settle,
    clear() {
      known.clear();
      heard.clear();
      touched.clear();
      reports.undo();
    },
  };
}

function writeNews(tx: Tx, alert: OpenAlert): void {
  if (alert.news === null) return;
  const { title, labels } = alert.news;
  if (title !== undefined) writeTitle(tx, alert.id, title);
  if (labels !== undefined) writeLabels(tx, alert.id, labels.labels);
  alert.news = null;
}
