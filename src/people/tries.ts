import { LRUCache } from "lru-cache";
import { isStorageFull } from "../ground/audit/record.ts";
import { atMost } from "../ground/kit/at-most.ts";
import { unixSeconds } from "../ground/kit/clock.ts";
import { ServiceError } from "../ground/kit/errors.ts";
import { sha256 } from "../ground/kit/ids.ts";
import type { Reader, Store, Tx } from "../ground/store/store.ts";
import { foldEmail } from "./email.ts";

/** Wrong passwords of an account within this many milliseconds … */
const WINDOW_MS = 15 * 60_000;
/** … that cost nothing; after them there is one try in so many milliseconds. */
const FREE = 10;
const APART_MS = 60_000;
/** Emails that are remembered, and tries of each. */
const MOST_EMAILS = 10_000;
const MOST_TRIES = 32;

/** How often somebody was wrong about an account's password lately; also of emails that nobody has. A restart forgets none. */
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
  /** It was wrong: that is kept beyond a restart. On a full disk it isn't. */
  wrong(): void;
}

/** No account is ever locked: there is a try each minute, and other ways in are not counted. */
export function createTries(store: Store): Tries {
  const { clock } = store;
  const known = new LRUCache<string, number[]>(atMost(MOST_EMAILS));
  return {
    begin(email) {
      const key = sha256(foldEmail(email));
      const now = clock.mono();
      const before = known.get(key) ?? keptAges(store, key).map((age) => now - age * 1000);
      const recent = before.filter((at) => at > now - WINDOW_MS);
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
        wrong: () => keep(store, key),
      };
    },
  };
}

const WINDOW_S = WINDOW_MS / 1000;
const KEPT = "SELECT times FROM wrong_tries WHERE who = ?";
const KEEP = `INSERT INTO wrong_tries (who, times, last_at) VALUES (?, ?, ?)
  ON CONFLICT (who) DO UPDATE SET times = excluded.times, last_at = excluded.last_at`;
const OVER = `DELETE FROM wrong_tries WHERE who IN
  (SELECT who FROM wrong_tries ORDER BY last_at DESC LIMIT -1 OFFSET ?)`;

/** Unix seconds; what lies outside of the window was written by a clock that was wrong, or long ago. */
function keptTimes(reader: Reader, key: string): number[] {
  const times = reader.sql<[who: string], string>(KEPT).pluck().get(key);
  const now = unixSeconds(reader.clock);
  const all = times === undefined ? [] : (JSON.parse(times) as number[]);
  return all.filter((at) => Math.abs(now - at) < WINDOW_S);
}

/** Seconds since each, the oldest first. */
function keptAges(reader: Reader, key: string): number[] {
  const now = unixSeconds(reader.clock);
  return keptTimes(reader, key).map((at) => Math.max(0, now - at));
}

function keep(store: Store, key: string): void {
  try {
    store.write(
      (tx) => {
        const times = [...keptTimes(tx, key), tx.at].slice(-MOST_TRIES);
        tx.sql<[string, string, number]>(KEEP).run(key, JSON.stringify(times), tx.at);
        sweepTries(tx, MOST_EMAILS);
        tx.sql<[most: number]>(OVER).run(MOST_EMAILS);
      },
      { expendable: true },
    );
  } catch (error) {
    if (!isStorageFull(error)) throw error;
  }
}

const SWEEP = `DELETE FROM wrong_tries WHERE who IN
  (SELECT who FROM wrong_tries WHERE last_at < ? OR last_at > ? LIMIT ?)`;

/** Deletes at most `most` of those that count no more; whether there may be others. */
export function sweepTries(tx: Tx, most: number): boolean {
  const { changes } = tx
    .sql<[from: number, until: number, most: number]>(SWEEP)
    .run(tx.at - WINDOW_S, tx.at + WINDOW_S, most);
  return changes === most;
}
