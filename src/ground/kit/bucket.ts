import { LRUCache } from "lru-cache";
import { atMost } from "./at-most.ts";
import type { Clock } from "./clock.ts";

interface BucketAnswer {
  allowed: boolean;
  /** Whole tokens that are left. */
  remaining: number;
  /** Whole seconds (≥ 1) until the refused amount is allowed. */
  retryAfter: number;
}

/** Token buckets by key, at most `keys` of them. Above that the least recently used one is dropped. */
export type Buckets = ReturnType<typeof createBuckets>;

interface BucketLimits {
  /** Tokens a second; 0 = no limit. */
  rate: number;
  burst: number;
  keys?: number;
}

export function createBuckets(clock: Clock, limits: BucketLimits) {
  const { rate, burst } = limits;
  const levels = new LRUCache<string, { tokens: number; at: number }>(
    atMost(limits.keys ?? 10_000),
  );

  const level = (key: string) => {
    const now = clock.mono();
    const known = levels.get(key);
    if (known === undefined) {
      const fresh = { tokens: burst, at: now };
      levels.set(key, fresh);
      return fresh;
    }
    known.tokens = Math.min(burst, known.tokens + ((now - known.at) / 1000) * rate);
    known.at = now;
    return known;
  };

  const take = (key: string, amount = 1): BucketAnswer => {
    if (rate === 0) return { allowed: true, remaining: Number.MAX_SAFE_INTEGER, retryAfter: 1 };
    const bucket = level(key);
    // An amount above the bucket's size is allowed when the bucket is full; the rest is a debt.
    const needed = Math.min(amount, burst);
    const allowed = bucket.tokens >= needed;
    if (allowed) bucket.tokens -= amount;
    const retryAfter = Math.max(1, Math.ceil((needed - bucket.tokens) / rate));
    return { allowed, remaining: Math.max(0, Math.floor(bucket.tokens)), retryAfter };
  };
  return { take, rate, burst };
}
