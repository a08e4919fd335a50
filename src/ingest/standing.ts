import type { AlertState } from "../alerts/alert.ts";
import { foldStatement } from "../alerts/fold.ts";
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
}

const FIND = `SELECT id, state, level, count, last_seen AS lastSeen, template
  FROM alerts WHERE alert_key = ? AND state <> 'resolved'`;

/**
 * The standing alerts by key: memory before the table, which has a unique index on the same key. What
 * is not in memory is looked up, so the bound costs time and never an alert.
 */
export interface StandingAlerts {
  find(tx: Tx, key: string, quietSeconds: number): Standing | null;
  /** Marks an entry as changed in the batch that is open. */
  touch(key: string, alert: Standing): void;
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
