import type { Clock } from "../ground/kit/clock.ts";

/** Readers that wait for an alert to open (contract §15, pull). */
export type Waiters = ReturnType<typeof createWaiters>;

interface Parked {
  /** Resolves when an alert opens, the time is over, or the tenant stops; at once when too many wait. */
  woken: Promise<void>;
  /** Frees the place: the reader has its answer. */
  leave(): void;
}

export interface WaiterLimits {
  /** Those with the same key. */
  perKey: number;
  all: number;
}

/** Readers woken in one turn of the event loop. */
const EACH_TURN = 32;

const notParked: Parked = { woken: Promise.resolve(), leave: () => {} };

export function createWaiters(clock: Clock, limits: WaiterLimits) {
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
    /** Registers a reader. Call it before the query that decides to wait, so that no alert is missed. */
    park(key: string, ms: number, signal: AbortSignal): Parked {
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
    /** Wakes all waiting readers, a few in each turn of the event loop: a thousand answers at once would stop ingest. */
    wake() {
      wakeSome([...parked], 0);
    },
    get parked() {
      return parked.size;
    },
  };
}
