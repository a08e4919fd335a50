import { LRUCache } from "lru-cache";
import type { Clock } from "../kit/clock.ts";
import { ServiceError } from "../kit/errors.ts";
import { sha256 } from "../kit/ids.ts";
import { foldEmail } from "./email.ts";

/** Wrong passwords of an account within this many milliseconds … */
const WINDOW_MS = 15 * 60_000;
/** … that cost nothing; after them there is one try in so many milliseconds. */
const FREE = 10;
const APART_MS = 60_000;
/** Emails that are remembered, and tries of each. */
const MOST_EMAILS = 10_000;
const MOST_TRIES = 32;

/** How often somebody was wrong about an account's password lately. Kept in memory, and of emails that nobody has alike. */
export interface Tries {
  /**
   * Counts a try as a wrong one, before it is looked at: many at once pass no more than one after the other. Throws
   * ServiceError rate_limited, with the seconds to wait.
   */
  begin(email: string): Try;
}

export interface Try {
  /** It was right, or nobody looked at it. */
  takeBack(): void;
}

/** No account is ever locked: there is a try each minute, and other ways in are not counted. */
export function createTries(clock: Clock): Tries {
  const known = new LRUCache<string, number[]>({ max: MOST_EMAILS });
  return {
    begin(email) {
      const key = sha256(foldEmail(email));
      const now = clock.mono();
      const recent = (known.get(key) ?? []).filter((at) => at > now - WINDOW_MS);
      const wait = (recent.at(-1) ?? Number.NEGATIVE_INFINITY) + APART_MS - now;
      if (recent.length >= FREE && wait > 0) {
        const seconds = Math.ceil(wait / 1000);
        const message = `Too many wrong passwords for this account: wait ${seconds} s.`;
        throw new ServiceError("rate_limited", message, { retryAfter: seconds });
      }
      known.set(key, [...recent, now].slice(-MOST_TRIES));
      return {
        takeBack() {
          const left = known.get(key) ?? [];
          const at = left.lastIndexOf(now);
          if (at !== -1) known.set(key, left.toSpliced(at, 1));
        },
      };
    },
  };
}
