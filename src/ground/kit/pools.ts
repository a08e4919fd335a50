import type { Pool } from "undici";
import type { Clock } from "./clock.ts";
import { EgressFault } from "./egress-error.ts";

/** The connections to one origin. */
export interface OriginPool {
  readonly origin: string;
  readonly pool: Pool;
  /** Attempts that use it, with those that wait for a connection. */
  inFlight: number;
  /** Attempts that have a connection. */
  running: number;
  /** Monotonic time until which, as far as is known, every connection was in use. */
  fullAt: number;
}

/** Pools by origin, a limited number of them. */
export interface Pools {
  /** The origin's pool, made if need be; null where all pools are in use. Return it with `leave`. */
  take(origin: string, make: (origin: string, connections: number) => Pool): OriginPool | null;
  /** An attempt got its connection. */
  began(held: OriginPool): void;
  /** An attempt has ended. `began`: it had a connection. */
  leave(held: OriginPool, began: boolean): void;
  /** Whether an attempt that gives up now waited for a connection: all were in use within the last `ms`. */
  heldBack(held: OriginPool, ms: number): boolean;
  /** Lets running attempts end and starts no new ones. */
  retire(held: OriginPool): void;
  readonly size: number;
  /** Ends every connection. */
  destroy(): Promise<void>;
}

/** `connections` for each origin, `most` origins. The pool idle for longest is dropped first. */
export function createPools(
  clock: Clock,
  { connections, most }: { connections: number; most: number },
): Pools {
  /** The one unused for longest comes first. */
  const pools = new Map<string, OriginPool>();
  return {
    take(origin, make) {
      const present = pools.get(origin);
      pools.delete(origin);
      if (present === undefined && pools.size >= most && !dropIdle(pools)) return null;
      const held = present ?? { origin, pool: make(origin, connections), ...unused };
      held.inFlight++;
      pools.set(origin, held);
      return held;
    },
    began: (held) => void held.running++,
    leave(held, began) {
      held.inFlight--;
      if (!began) return;
      if (held.running >= connections) held.fullAt = clock.mono();
      held.running--;
    },
    heldBack: (held, ms) => held.running >= connections || clock.mono() - held.fullAt < ms,
    retire(held) {
      if (pools.get(held.origin) !== held) return;
      pools.delete(held.origin);
      void held.pool.close();
    },
    get size() {
      return pools.size;
    },
    async destroy() {
      const held = [...pools.values()];
      pools.clear();
      await Promise.all(held.map(({ pool }) => pool.destroy(new EgressFault("stopped"))));
    },
  };
}

const unused = { inFlight: 0, running: 0, fullAt: Number.NEGATIVE_INFINITY };

/** Ends the pool that was idle for longest; false when all are in use. */
function dropIdle(pools: Map<string, OriginPool>): boolean {
  for (const [origin, { pool, inFlight }] of pools) {
    if (inFlight > 0) continue;
    pools.delete(origin);
    void pool.destroy(new EgressFault("stopped"));
    return true;
  }
  return false;
}
