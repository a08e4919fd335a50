import { LRUCache } from "lru-cache";
import { isStorageFull } from "../ground/audit/record.ts";
import { atMost } from "../ground/kit/at-most.ts";
import { unixSeconds } from "../ground/kit/clock.ts";
import { ServiceError } from "../ground/kit/errors.ts";
import { sha256 } from "../ground/kit/ids.ts";
import type { Reader, Store, Tx } from "../ground/store/store.ts";
import { foldEmail } from "./email.ts";

/** Wrong passwords of an account count for this many milliseconds … */
const WINDOW_MS = 15 * 60_000;
/** … and so many cause no wait. After them there is one try per `APART_MS`. */
const FREE = 10;
const APART_MS = 60_000;
/** Emails that are remembered, and tries of each. */
const MOST_EMAILS = 10_000;
const MOST_TRIES = 32;

/** Counts recent wrong passwords by email, also of emails without an account. The counts survive a restart. */
export type Tries = ReturnType<typeof createTries>;

export interface Try {
  /** The password was right, or wasn't checked. */
  takeBack(): void;
  /** The password was wrong: stores that for after a restart, unless the disk is full. */
  wrong(): void;
}

/** No account is ever locked: one try a minute stays, and other ways to sign in aren't counted. */
export function createTries(store: Store) {
  const { clock } = store;
  const known = new LRUCache<string, number[]>(atMost(MOST_EMAILS));
  return {
    /**
     * Counts a try as wrong before the password is checked, so that many at once gain nothing. Throws ServiceError
     * rate_limited, with the seconds to wait.
     */
    begin(email: string): Try {
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

/** Unix seconds. Drops times outside the window: they are old, or a wrong clock wrote them. */
function keptTimes(reader: Reader, key: string): number[] {
  const times = reader.sql<[who: string], string>(KEPT).pluck().get(key);
  const now = unixSeconds(reader.clock);
  const all = times === undefined ? [] : (JSON.parse(times) as number[]);
  return all.filter((at) => Math.abs(now - at) < WINDOW_S);
}

/** Seconds since each wrong try, oldest first. */
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

/** Deletes at most `most` tries that no longer count; returns whether there may be more. */
export function sweepTries(tx: Tx, most: number): boolean {
  const { changes } = tx
    .sql<[from: number, until: number, most: number]>(SWEEP)
    .run(tx.at - WINDOW_S, tx.at + WINDOW_S, most);
  return changes === most;
}
