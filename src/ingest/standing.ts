import type { AlertState } from "../alerts/alert.ts";
import { foldStatement } from "../alerts/fold.ts";
import { writeWord } from "../alerts/named.ts";
import { takeSequence } from "../store/meta.ts";
import type { Tx } from "../store/store.ts";

/** An alert that is not resolved, as folding needs it. */
export interface Standing {
  id: number;
  state: AlertState;
  level: number;
  count: number;
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
  /** 1 where its sender names it. */
  isNamed: number;
}

/** A firing that is only reported again is written once in so many seconds. */
const WRITE_SECONDS = 60;

const FIND = `SELECT id, state, level, count, last_seen AS lastSeen, template, instance, expires_at AS expiresAt,
    last_seen AS written, dedup_key IS NOT NULL AS isNamed
  FROM alerts WHERE alert_key = ? AND state <> 'resolved'`;

/**
 * The standing alerts by key: memory before the table, which has a unique index on the same key. What
 * is not in memory is looked up, so the bound costs time and never an alert.
 */
export interface StandingAlerts {
  find(tx: Tx, key: string, quietSeconds: number): Standing | null;
  /** Marks an entry as changed in the batch that is open. */
  touch(key: string, alert: Standing): void;
  /**
   * The same firing was reported again at `at`: seen now, and good until `expiresAt`. Nothing else changes, and it
   * is written at most once a minute, or where the table would otherwise end the alert sooner.
   */
  refresh(key: string, alert: Standing, report: { at: number; expiresAt: number | null }): boolean;
  /** Writes each touched alert once. */
  flush(tx: Tx): void;
  forget(key: string): void;
  clear(): void;
}

export function createStandingAlerts(limit: number): StandingAlerts {
  const known = new Map<string, Standing>();
  const touched = new Set<Standing>();

  /** What the open batch changed stays: its row doesn't have that yet. */
  const remember = (key: string, alert: Standing) => {
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
        .sql<[key: string], Omit<Standing, "quietSeconds" | "lastMessage">>(FIND)
        .get(key);
      if (row === undefined) return null;
      const alert = { ...row, quietSeconds, lastMessage: "" };
      remember(key, alert);
      return alert;
    },
    touch(key, alert) {
      if (!known.has(key)) remember(key, alert);
      touched.add(alert);
    },
    refresh(key, alert, { at, expiresAt }) {
      // By what the table has: it is looked at when it says that something is due.
      const quietAt = alert.quietSeconds === 0 ? null : alert.written + alert.quietSeconds;
      const isNear = (due: number | null) => due !== null && due <= at + WRITE_SECONDS;
      const isOld = at - alert.written >= WRITE_SECONDS || at < alert.written;
      alert.lastSeen = at;
      if (!isOld && !isNear(quietAt) && !isNear(alert.expiresAt)) return false;
      alert.expiresAt = expiresAt;
      this.touch(key, alert);
      return true;
    },
    flush(tx) {
      if (touched.size === 0) return;
      let seq = takeSequence(tx, "updated_seq", touched.size);
      const fold = foldStatement(tx);
      for (const alert of touched) {
        const quietAt = alert.quietSeconds === 0 ? null : alert.lastSeen + alert.quietSeconds;
        const { changes } = fold.run(
          alert.level,
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
        if (changes !== 1) throw new Error(`alert ${alert.id} is not as memory has it`);
      }
      touched.clear();
    },
    forget: (key) => void known.delete(key),
    clear() {
      known.clear();
      touched.clear();
    },
  };
}
