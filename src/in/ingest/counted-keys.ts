/** Keys that are remembered, of all rules. */
const MOST = 50_000;

/**
 * Which keys went into the alert that a rule's further keys share, and at which level at most: what it has counted already
 * is no new trouble. What is forgotten, or was never written because its batch was undone, is new again.
 */
export interface CountedKeys {
  /** Whether this says something new: another key, or one that is worse than it was. */
  isNews(one: CountedKey, level: number): boolean;
  /** It was counted. */
  add(one: CountedKey, level: number): void;
  /** It has an alert of its own, or its sender says that it is over: if it comes again, that is new. */
  drop(prefix: string, key?: string): void;
  /** The batch is over: committed, or undone. */
  settle(): void;
  undo(): void;
}

export interface CountedKey {
  /** What the keys of its rule and subject begin with. */
  prefix: string;
  key: string;
  alertId: number;
}

export function createCountedKeys(most = MOST): CountedKeys {
  const byPrefix = new Map<string, Map<string, { alertId: number; level: number }>>();
  let fresh: CountedKey[] = [];
  let size = 0;

  const drop = (prefix: string, key?: string) => {
    const keys = byPrefix.get(prefix);
    if (keys === undefined) return;
    if (key === undefined) size -= keys.size;
    else if (keys.delete(key)) size -= 1;
    if (key === undefined || keys.size === 0) byPrefix.delete(prefix);
  };

  return {
    isNews({ prefix, key, alertId }, level) {
      const known = byPrefix.get(prefix)?.get(key);
      return known === undefined || known.alertId !== alertId || level > known.level;
    },
    add(one, level) {
      const { prefix, key, alertId } = one;
      if (!this.isNews(one, level)) return;
      drop(prefix, key);
      if (size >= most) {
        byPrefix.clear();
        size = 0;
      }
      const keys = byPrefix.get(prefix) ?? new Map();
      byPrefix.set(prefix, keys.set(key, { alertId, level }));
      size += 1;
      fresh.push(one);
    },
    drop,
    settle() {
      fresh = [];
    },
    undo() {
      for (const { prefix, key } of fresh) drop(prefix, key);
      fresh = [];
    },
  };
}
