/** Keys that are remembered, of all rules. */
const MOST = 50_000;

interface CountedKey {
  /** The common beginning of the keys of its rule and subject. */
  prefix: string;
  key: string;
  alertId: number;
}

/**
 * The keys that were counted into a rule's shared alert, with their highest level: an event with a counted key is
 * nothing new. A key that was dropped from memory, or whose batch was undone, counts as new.
 */
export function createCountedKeys() {
  const byPrefix = new Map<string, Map<string, { alertId: number; level: number }>>();
  let fresh: CountedKey[] = [];
  let size = 0;

  /** The key has an alert of its own, or its sender ended it: if it comes again, it is new. */
  const drop = (prefix: string, key?: string) => {
    const keys = byPrefix.get(prefix);
    if (keys === undefined) return;
    if (key === undefined) size -= keys.size;
    else if (keys.delete(key)) size -= 1;
    if (key === undefined || keys.size === 0) byPrefix.delete(prefix);
  };

  return {
    /** Whether the key is new, or its level is higher than before. */
    isNews({ prefix, key, alertId }: CountedKey, level: number): boolean {
      const known = byPrefix.get(prefix)?.get(key);
      return known === undefined || known.alertId !== alertId || level > known.level;
    },
    add(one: CountedKey, level: number) {
      const { prefix, key, alertId } = one;
      if (!this.isNews(one, level)) return;
      drop(prefix, key);
      if (size >= MOST) {
        byPrefix.clear();
        size = 0;
      }
      const keys = byPrefix.get(prefix) ?? new Map();
      byPrefix.set(prefix, keys.set(key, { alertId, level }));
      size += 1;
      fresh.push(one);
    },
    drop,
    /** The batch is over: committed, or undone. */
    settle() {
      fresh = [];
    },
    undo() {
      for (const { prefix, key } of fresh) drop(prefix, key);
      fresh = [];
    },
  };
}
