import { addHit, dropHits, type Hit, keysWithHits, loadHits } from "../../core/alerts/hits.ts";
import { NO_LABELS, withKeys } from "../../core/alerts/labels.ts";
import type { Tx } from "../../ground/store/store.ts";
import { keyPrefix } from "./alert-key.ts";
import type { IngestEvent } from "./event.ts";
import type { CompiledRule } from "./match.ts";
import { type Firing, SlidingWindow } from "./window.ts";

/**
 * Matches that have not fired yet. Rows are only appended, one for each key, second and source of a batch. Memory holds
 * a part of them; a missing key is read from its rows.
 */
export type Windows = ReturnType<typeof createWindows>;

interface WindowLimits {
  keys: number;
  /** Hits of all keys. */
  hits: number;
}

interface Kept {
  ruleId: number;
  window: SlidingWindow;
  /** Hits that this batch added, not yet in the table. */
  unwritten: Map<Hit, Hit>;
}

export function createWindows(limits: WindowLimits) {
  const kept = new Map<string, Kept>();
  const touched = new Set<string>();
  let hits = 0;

  const forget = (key: string) => {
    hits -= kept.get(key)?.window.size ?? 0;
    kept.delete(key);
    touched.delete(key);
  };

  /** Drops those unused longest; counts of the open batch stay until they are written. */
  const makeRoom = () => {
    for (const key of kept.keys()) {
      if (kept.size < limits.keys && hits < limits.hits) return;
      if (!touched.has(key)) forget(key);
    }
  };

  const load = (tx: Tx, rule: CompiledRule, key: string): Kept => {
    const cached = kept.get(key);
    if (cached !== undefined) {
      kept.delete(key);
      kept.set(key, cached);
      return cached;
    }
    makeRoom();
    const ruleId = rule.rule.id;
    const rows = loadHits(tx, { ruleId, key }, tx.at - rule.windowSeconds);
    const entry = { ruleId, window: new SlidingWindow(rows), unwritten: new Map() };
    hits += entry.window.size;
    kept.set(key, entry);
    return entry;
  };

  const add = (
    entry: Kept,
    { names }: CompiledRule,
    { keys, ...match }: { at: number; sourceId: number } & Pick<IngestEvent, "level" | "keys">,
  ) => {
    const { hit } = entry.window.add(match);
    entry.window.hear(hit, keys, names);
    const row = entry.unwritten.get(hit);
    if (row === undefined) {
      const said = keys === null ? null : withKeys(NO_LABELS, keys, names);
      entry.unwritten.set(hit, { ...match, n: 1, said });
    } else {
      // Rows are in the order in which hits were heard last.
      entry.unwritten.delete(hit);
      entry.unwritten.set(hit, row);
      row.said = keys === null ? (row.said ?? null) : withKeys(row.said ?? NO_LABELS, keys, names);
      row.n++;
      row.level = Math.max(row.level, match.level);
    }
  };

  return {
    /** Whether memory holds an open window of this key. */
    has: (key: string) => kept.has(key),
    /** Counts one match. Returns what the alert starts from if the window fires, else null. */
    count(
      tx: Tx,
      rule: CompiledRule,
      {
        key,
        sourceId,
        event: { level, keys },
      }: { key: string; sourceId: number; event: Pick<IngestEvent, "level" | "keys"> },
    ): Firing | null {
      const entry = load(tx, rule, key);
      touched.add(key);
      const before = entry.window.size;
      add(entry, rule, { at: tx.at, sourceId, level, keys });
      const fired = entry.window.fires(tx.at, {
        ...rule.rule.fire_after,
        seconds: rule.windowSeconds,
      });
      hits += entry.window.size - before;
      if (fired === null) return null;
      const labels = entry.window.said(rule.names);
      forget(key);
      dropHits(tx, { ruleId: rule.rule.id, key });
      return { ...fired, labels };
    },
    /** Drops the counts of all keys of this subject. The caller first writes what the batch counted. */
    drop(
      tx: Tx,
      { id: ruleId, identifier_keys }: { id: number; identifier_keys: readonly string[] },
      subject: string,
    ) {
      const prefix = keyPrefix(ruleId, subject);
      const keys = identifier_keys.length === 0 ? [prefix] : keysWithHits(tx, ruleId, prefix);
      for (const key of keys) {
        forget(key);
        dropHits(tx, { ruleId, key });
      }
    },
    flush(tx: Tx) {
      for (const key of touched) {
        const entry = kept.get(key);
        if (entry === undefined) continue;
        for (const row of entry.unwritten.values()) addHit(tx, { ruleId: entry.ruleId, key }, row);
        entry.unwritten.clear();
      }
      touched.clear();
    },
    clear() {
      kept.clear();
      touched.clear();
      hits = 0;
    },
  };
}
