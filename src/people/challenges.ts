import { createHmac, timingSafeEqual } from "node:crypto";
import type { Clock } from "../ground/kit/clock.ts";
import { ServiceError } from "../ground/kit/errors.ts";
import type { Random } from "../ground/kit/random.ts";

/** What an authenticator signs, so that an answer is good once and nowhere else. */
export interface Challenges {
  /** A new one, in base64url. It is kept nowhere, so that asking for many costs nothing. */
  make(purpose: string): string;
  /**
   * Whether it was made here for this purpose in the last five minutes, and nobody came with it before. Throws 429 overloaded where
   * very many have come.
   */
  spend(challenge: string, purpose: string): boolean;
}

const GOOD_MS = 5 * 60_000;
/** Those that somebody came with in five minutes. */
const MOST_SPENT = 10_000;
/** Random, when it was made, and the seal over both and what it is for. */
const [RANDOM, TIME, SEAL] = [16, 6, 32];

/** They end with the program: the key is in memory alone. */
export function createChallenges(clock: Clock, random: Random): Challenges {
  const key = random.bytes(32);
  const spent = new Map<string, number>();
  const sealOf = (head: Uint8Array, purpose: string) =>
    createHmac("sha256", key).update(head).update(purpose).digest();
  const forgetOld = (now: number) => {
    for (const [challenge, at] of spent) {
      if (at > now - GOOD_MS) return;
      spent.delete(challenge);
    }
  };

  return {
    make(purpose) {
      const time = Buffer.alloc(TIME);
      time.writeUIntBE(Math.floor(clock.mono()), 0, TIME);
      const head = Buffer.concat([random.bytes(RANDOM), time]);
      return Buffer.concat([head, sealOf(head, purpose)]).toString("base64url");
    },
    spend(challenge, purpose) {
      const bytes = Buffer.from(challenge, "base64url");
      if (bytes.length !== RANDOM + TIME + SEAL || bytes.toString("base64url") !== challenge)
        return false;
      const head = bytes.subarray(0, RANDOM + TIME);
      if (!timingSafeEqual(bytes.subarray(RANDOM + TIME), sealOf(head, purpose))) return false;
      const now = clock.mono();
      forgetOld(now);
      if (head.readUIntBE(RANDOM, TIME) <= now - GOOD_MS || spent.has(challenge)) return false;
      if (spent.size >= MOST_SPENT)
        throw new ServiceError("overloaded", "Too many come in at once.", { retryAfter: 60 });
      spent.set(challenge, now);
      return true;
    },
  };
}
