import type { Tx } from "../store/store.ts";
import type { CompiledRule } from "./match.ts";
import { fires, type Hit, within } from "./window.ts";

const LOAD =
  "SELECT at, source_id AS sourceId, n FROM window_hits WHERE rule_id = ? AND alert_key = ? ORDER BY id";
const ADD = "INSERT INTO window_hits (rule_id, alert_key, at, source_id, n) VALUES (?, ?, ?, ?, ?)";
const DROP = "DELETE FROM window_hits WHERE rule_id = ? AND alert_key = ?";

/**
 * Matches that have not fired yet. Rows are only appended, one for each key, second and source of a batch;
 * memory holds at most `limit` keys, and a key that is not there is read back from its rows.
 */
export interface Windows {
  /** Counts one match; what the alert starts from if the window fires with it, else null. */
  count(
    tx: Tx,
    rule: CompiledRule,
    match: { key: string; sourceId: number },
  ): { count: number; firstSeen: number } | null;
  /** Writes what the batch counted. */
  flush(tx: Tx): void;
  clear(): void;
}

interface Kept {
  hits: Hit[];
  ruleId: number;
  key: string;
}

export function createWindows(limit: number): Windows {
  const kept = new Map<string, Kept>();
  const pending = new Map<string, { ruleId: number; key: string; hit: Hit }>();

  const load = (tx: Tx, rule: CompiledRule, key: string): Kept => {
    const cached = kept.get(key);
    if (cached !== undefined) return cached;
    if (kept.size >= limit) evictOldest();
    const entry = { hits: tx.sql(LOAD).all(rule.rule.id, key) as Hit[], ruleId: rule.rule.id, key };
    kept.set(key, entry);
    return entry;
  };

  // A key with unwritten hits must stay: its rows don't have them yet.
  const evictOldest = () => {
    for (const [key] of kept) {
      if (!hasPending(key)) {
        kept.delete(key);
        return;
      }
    }
  };
  const pendingKeys = new Set<string>();
  const hasPending = (key: string) => pendingKeys.has(key);

  const add = (entry: Kept, at: number, sourceId: number) => {
    const slot = `${at}:${sourceId}:${entry.key}`;
    const counted = pending.get(slot);
    if (counted !== undefined) {
      counted.hit.n++;
      return;
    }
    const hit = { at, sourceId, n: 1 };
    entry.hits.push(hit);
    pending.set(slot, { ruleId: entry.ruleId, key: entry.key, hit });
    pendingKeys.add(entry.key);
  };

  const drop = (tx: Tx, entry: Kept) => {
    kept.delete(entry.key);
    pendingKeys.delete(entry.key);
    for (const [slot, { key }] of pending) if (key === entry.key) pending.delete(slot);
    tx.sql(DROP).run(entry.ruleId, entry.key);
  };

  return {
    count(tx, rule, { key, sourceId }) {
      const entry = load(tx, rule, key);
      add(entry, tx.at, sourceId);
      entry.hits = within(entry.hits, tx.at, rule.windowSeconds);
      const fired = fires(entry.hits, { ...rule.rule.fire_after, seconds: rule.windowSeconds });
      if (fired !== null) drop(tx, entry);
      return fired;
    },
    flush(tx) {
      for (const { ruleId, key, hit } of pending.values())
        tx.sql(ADD).run(ruleId, key, hit.at, hit.sourceId, hit.n);
      pending.clear();
      pendingKeys.clear();
    },
    clear() {
      kept.clear();
      pending.clear();
      pendingKeys.clear();
    },
  };
}
