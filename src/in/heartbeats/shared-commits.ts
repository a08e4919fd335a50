import { sqliteCode } from "../../ground/store/faults.ts";
import type { Store, Tx } from "../../ground/store/store.ts";

/** Writes what comes at about the same time in one commit. */
interface SharedCommits<T> {
  /** Resolves after the commit. Rejects with the error of this write, or of the whole commit. */
  write(one: T): Promise<void>;
}

interface Waiting<T> {
  one: T;
  resolve(): void;
  reject(error: unknown): void;
}

/** Commits take at most this part of the time (one fifth), even on a slow disk. */
const PART_OF_TIME = 5;
/** No write waits longer, however slow the last commit was. */
const LONGEST_MS = 100;

/**
 * Group commit: writes of one turn of the event loop share a sync. On a slow disk a commit waits four times as long as
 * the last one took. `write` must throw before it has written anything, if it is to fail alone.
 */
export function createSharedCommits<T>(
  store: Store,
  write: (tx: Tx, one: T) => void,
): SharedCommits<T> {
  const { clock } = store;
  let waiting: Waiting<T>[] = [];
  let notBefore = 0;

  const writeAll = (batch: readonly Waiting<T>[]): Map<Waiting<T>, unknown> => {
    const faults = new Map<Waiting<T>, unknown>();
    store.write((tx) => {
      faults.clear();
      for (const entry of batch)
        try {
          write(tx, entry.one);
        } catch (error) {
          if (sqliteCode(error) !== "") throw error;
          faults.set(entry, error);
        }
    });
    return faults;
  };

  const flush = () => {
    const batch = waiting;
    waiting = [];
    const began = clock.mono();
    try {
      const faults = writeAll(batch);
      for (const entry of batch)
        if (faults.has(entry)) entry.reject(faults.get(entry));
        else entry.resolve();
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
    const took = clock.mono() - began;
    notBefore = clock.mono() + Math.min(took * (PART_OF_TIME - 1), LONGEST_MS);
  };

  return {
    write: (one) =>
      new Promise((resolve, reject) => {
        waiting.push({ one, resolve, reject });
        if (waiting.length > 1) return;
        const left = notBefore - clock.mono();
        if (left <= 0) setImmediate(flush);
        else clock.after(left, flush);
      }),
  };
}
