import { type Buckets, createBuckets } from "../../ground/kit/bucket.ts";
import type { Clock } from "../../ground/kit/clock.ts";
import { ServiceError } from "../../ground/kit/errors.ts";

/** Rates of contract §9; 0 = off. */
export interface Rates {
  /** Events a second for the tenant. */
  ingest: number;
  /** Requests a second for a key. */
  api: number;
  /** Pairing tries a minute for an address. */
  pair: number;
}

export const boxRates: Rates = { ingest: 5000, api: 100, pair: 10 };

export interface Limits {
  ingest: Limit;
  /** The same once more, for senders that are refused last: others can't use it up. */
  ingestLast: Limit;
  api: Limit;
  pair: Limit;
  /** Tries of a report's password, by address and report (contract §8). */
  tries: Limit;
  /** Failed authentication spends its address's budget, never a tenant's. */
  failures: Limit;
  /** Wrong tokens of senders with formats of their own, and keys of mails, by address: ten a minute, whatever the rates. */
  strangers: Limit;
  /** Pings of one heartbeat: far more than any job has a use for. */
  ping: Limit;
}

/** One limited thing: its buckets and the headers that tell a client where it stands. */
export interface Limit {
  /** The RateLimit headers of an allowed call. Throws ServiceError rate_limited, which carries them too. */
  spend(key: string, amount?: number): Record<string, string>;
}

export class RateLimited extends ServiceError {
  readonly headers: Record<string, string>;

  constructor(message: string, retryAfter: number, headers: Record<string, string>) {
    super("rate_limited", message, { retryAfter });
    this.headers = headers;
  }
}

export function createLimits(clock: Clock, rates: Rates): Limits {
  return {
    ingest: limit("ingest", createBuckets(clock, { rate: rates.ingest, burst: rates.ingest * 10 })),
    ingestLast: limit(
      "ingest",
      createBuckets(clock, { rate: rates.ingest, burst: rates.ingest * 10 }),
    ),
    api: limit("api", createBuckets(clock, { rate: rates.api, burst: rates.api * 5 })),
    pair: limit("pair", createBuckets(clock, { rate: rates.pair / 60, burst: rates.pair })),
    tries: limit("tries", createBuckets(clock, { rate: 10 / 60, burst: 10 })),
    ping: limit("ping", createBuckets(clock, { rate: 5, burst: 300 })),
    strangers: limit("strangers", createBuckets(clock, { rate: 10 / 60, burst: 10 })),
    failures: limit("failures", createBuckets(clock, { rate: rates.api, burst: rates.api * 5 })),
  };
}

/** `RateLimit-Policy` and `RateLimit` as in draft-ietf-httpapi-ratelimit-headers. */
function limit(name: string, buckets: Buckets): Limit {
  const window = buckets.rate === 0 ? 1 : Math.max(1, Math.ceil(buckets.burst / buckets.rate));
  const policy = `"${name}";q=${buckets.burst};w=${window}`;
  const headers = (remaining: number, reset: number): Record<string, string> =>
    buckets.rate === 0
      ? {}
      : { "ratelimit-policy": policy, ratelimit: `"${name}";r=${remaining};t=${reset}` };
  return {
    spend(key, amount = 1) {
      const answer = buckets.take(key, amount);
      if (answer.allowed) return headers(answer.remaining, 1);
      throw new RateLimited(
        `Over the rate limit "${name}": try again in ${answer.retryAfter} s.`,
        answer.retryAfter,
        headers(answer.remaining, answer.retryAfter),
      );
    },
  };
}
