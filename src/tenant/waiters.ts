import type { Clock } from "../ground/kit/clock.ts";

/** Readers parked until an alert opens (contract §15, pull). */
export interface Waiters {
  /** Register before the query that decides to wait, so that no wake-up is lost. */
  park(key: string, ms: number, signal: AbortSignal): Parked;
  /** Wakes all that are parked now, a few in each turn of the loop: a thousand answers at once would stop ingest. */
  wake(): void;
  readonly parked: number;
}

export interface Parked {
  /** Resolves when an alert opens, the time has passed, the signal aborts or the tenant stops; over the bounds at once. */
  woken: Promise<void>;
  /** Gives the place back: the reader has what it wanted. */
  leave(): void;
}

export interface WaiterLimits {
  /** Parked readers of one key. */
  perKey: number;
  all: number;
}

/** Readers woken in one turn of the event loop. */
const EACH_TURN = 32;

const notParked: Parked = { woken: Promise.resolve(), leave: () => {} };

export function createWaiters(clock: Clock, limits: WaiterLimits): Waiters {
  const parked = new Set<() => void>();
  const byKey = new Map<string, number>();

  const release = (key: string) => {
    const left = (byKey.get(key) ?? 1) - 1;
    if (left > 0) byKey.set(key, left);
    else byKey.delete(key);
  };

  const wakeSome = (woken: readonly (() => void)[], from: number) => {
    for (const leave of woken.slice(from, from + EACH_TURN)) leave();
    if (from + EACH_TURN < woken.length) setImmediate(wakeSome, woken, from + EACH_TURN);
  };

  return {
    park(key, ms, signal) {
      const held = byKey.get(key) ?? 0;
      if (ms <= 0 || signal.aborted || held >= limits.perKey || parked.size >= limits.all)
        return notParked;
      const { promise, resolve } = Promise.withResolvers<void>();
      const leave = () => {
        if (!parked.delete(leave)) return;
        release(key);
        cancel();
        signal.removeEventListener("abort", leave);
        resolve();
      };
      const cancel = clock.after(ms, leave);
      signal.addEventListener("abort", leave, { once: true });
      parked.add(leave);
      byKey.set(key, held + 1);
      return { woken: promise, leave };
    },
    wake() {
      wakeSome([...parked], 0);
    },
    get parked() {
      return parked.size;
    },
  };
}
