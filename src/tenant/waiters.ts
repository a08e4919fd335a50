import type { Clock } from "../kit/clock.ts";

/** Readers parked until an alert opens (api §4, pull). */
export interface Waiters {
  /**
   * Resolves when an alert opens, `ms` have passed, `signal` aborts or the tenant stops. Register before
   * the query that decides to wait, so that no wake-up is lost. Over the bounds it resolves at once.
   */
  park(key: string, ms: number, signal: AbortSignal): Promise<void>;
  wake(): void;
  readonly parked: number;
}

export interface WaiterLimits {
  /** Parked readers of one key. */
  perKey: number;
  all: number;
}

export function createWaiters(clock: Clock, limits: WaiterLimits): Waiters {
  const parked = new Set<() => void>();
  const byKey = new Map<string, number>();

  return {
    park(key, ms, signal) {
      const held = byKey.get(key) ?? 0;
      if (ms <= 0 || signal.aborted || held >= limits.perKey || parked.size >= limits.all)
        return Promise.resolve();
      return new Promise((resolve) => {
        const done = () => {
          parked.delete(done);
          const left = (byKey.get(key) ?? 1) - 1;
          if (left > 0) byKey.set(key, left);
          else byKey.delete(key);
          cancel();
          signal.removeEventListener("abort", done);
          resolve();
        };
        const cancel = clock.after(ms, done);
        signal.addEventListener("abort", done, { once: true });
        parked.add(done);
        byKey.set(key, held + 1);
      });
    },
    wake() {
      for (const done of [...parked]) done();
    },
    get parked() {
      return parked.size;
    },
  };
}
