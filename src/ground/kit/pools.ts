import type { Agent } from "node:http";
import type { Attempt } from "./attempt.ts";
import type { Clock } from "./clock.ts";

/** The connections to one origin. */
export interface OriginPool {
  readonly origin: string;
  readonly agent: Agent;
  /**
   * Those that use it, with those that wait for a connection. A Set that changes so often would keep
   * those that have left: the tables that it outgrew hold them, and each other, until V8 collects everything.
   */
  readonly attempts: Attempt[];
  /** Attempts that have a connection. */
  running: number;
  /** Monotonic time until which, as far as is known, every connection was in use. */
  fullAt: number;
}

/** Pools by origin, a limited number of them. */
export type Pools = ReturnType<typeof createPools>;

/** `connections` for each origin, `most` origins. The pool idle for longest is dropped first. */
export function createPools(
  clock: Clock,
  of: { connections: number; most: number; newAgent(origin: string): Agent },
) {
  const { connections, most, newAgent } = of;
  /** The one unused for longest comes first. */
  const pools = new Map<string, OriginPool>();
  return {
    /** The origin's pool, made if need be; null where all pools are in use. */
    take(origin: string): OriginPool | null {
      const present = pools.get(origin);
      pools.delete(origin);
      if (present === undefined && pools.size >= most && !dropIdle(pools)) return null;
      const unused = { attempts: [], running: 0, fullAt: Number.NEGATIVE_INFINITY };
      const held = present ?? { origin, agent: newAgent(origin), ...unused };
      pools.set(origin, held);
      return held;
    },
    /** An attempt got its connection. */
    began: (held: OriginPool) => void held.running++,
    /** An attempt has ended. `began`: it had a connection. */
    leave(held: OriginPool, attempt: Attempt, began: boolean) {
      held.attempts.splice(held.attempts.indexOf(attempt), 1);
      if (!began) return;
      if (held.running >= connections) held.fullAt = clock.mono();
      held.running--;
    },
    /** Whether an attempt that gives up now waited for a connection: all were in use within the last `ms`. */
    heldBack: (held: OriginPool, ms: number) =>
      held.running >= connections || clock.mono() - held.fullAt < ms,
    get size() {
      return pools.size;
    },
    /** Ends every attempt (`stopped`) and every connection. */
    destroy() {
      for (const { agent, attempts } of pools.values()) {
        for (const attempt of attempts) attempt.end("stopped");
        agent.destroy();
      }
      pools.clear();
    },
  };
}

/** Ends the pool that was idle for longest; false when all are in use. */
function dropIdle(pools: Map<string, OriginPool>): boolean {
  for (const [origin, { agent, attempts }] of pools) {
    if (attempts.length > 0) continue;
    pools.delete(origin);
    agent.destroy();
    return true;
  }
  return false;
}
