import { type Buckets, createBuckets } from "../../ground/kit/bucket.ts";
import type { Clock } from "../../ground/kit/clock.ts";
import { ServiceError } from "../../ground/kit/errors.ts";
import type { Store } from "../../ground/store/store.ts";

/** Codes and tests that go out because somebody asked: ten at once for a person, then one a minute. */
const LIMITS = { rate: 1 / 60, burst: 10, keys: 10_000 };

/** By the process's clock, since a request has a store of its own, which knows who asks. */
const known = new WeakMap<Clock, Buckets>();

/**
 * Lets one code or test to a contact of the account go out. Each rings somebody or costs money, and each code may be guessed
 * at five times. Throws 429.
 */
export function takeSend({ clock, path }: Store, account: string): void {
  const buckets = known.getOrInsertComputed(clock, () => createBuckets(clock, LIMITS));
  const { allowed, retryAfter } = buckets.take(`${path} ${account}`);
  if (allowed) return;
  throw new ServiceError(
    "rate_limited",
    `Too many codes and tests for one person: wait ${retryAfter} s.`,
    { retryAfter },
  );
}
