import { createHmac, timingSafeEqual } from "node:crypto";
import type { Clock } from "../ground/kit/clock.ts";
import { ServiceError } from "../ground/kit/errors.ts";
import type { Random } from "../ground/kit/random.ts";

/** WebAuthn challenges: an authenticator signs one, so its answer is valid once and for one purpose. */
export type Challenges = ReturnType<typeof createChallenges>;

const GOOD_MS = 5 * 60_000;
/** Used challenges that are remembered, for five minutes. */
const MOST_SPENT = 10_000;
/** Bytes of a challenge's parts: random bytes, the time, and a seal over both and the purpose. */
const [RANDOM, TIME, SEAL] = [16, 6, 32];

/** Challenges end with the process: their key is only in memory. */
export function createChallenges(clock: Clock, random: Random) {
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
    /** Returns a new challenge in base64url. It is stored nowhere, so making many costs no memory. */
    make(purpose: string): string {
      const time = Buffer.alloc(TIME);
      time.writeUIntBE(Math.floor(clock.mono()), 0, TIME);
      const head = Buffer.concat([random.bytes(RANDOM), time]);
      return Buffer.concat([head, sealOf(head, purpose)]).toString("base64url");
    },
    /**
     * Whether this process made the challenge for this purpose in the last five minutes, and nobody has used it. Throws
     * 429 overloaded when too many were used.
     */
    spend(challenge: string, purpose: string): boolean {
      const bytes = Buffer.from(challenge, "base64url");
      if (bytes.length !== RANDOM + TIME + SEAL || bytes.toString("base64url") !== challenge)
        return false;
      const head = bytes.subarray(0, RANDOM + TIME);
      if (!timingSafeEqual(bytes.subarray(RANDOM + TIME), sealOf(head, purpose))) return false;
      const now = clock.mono();
      forgetOld(now);
      if (head.readUIntBE(RANDOM, TIME) <= now - GOOD_MS || spent.has(challenge)) return false;
      if (spent.size >= MOST_SPENT)
        throw new ServiceError(
          "overloaded",
          "Too many people are signing in at this moment: try again shortly.",
          { retryAfter: 60 },
        );
      spent.set(challenge, now);
      return true;
    },
  };
}
