import { LRUCache } from "lru-cache";
import type { Clock } from "../../ground/kit/clock.ts";
import { base62Secret, sameSecret } from "../../ground/kit/ids.ts";
import type { Random } from "../../ground/kit/random.ts";

/** One sign-in that was sent to a provider and hasn't come back. */
export interface ProviderFlow {
  providerId: string;
  /** As the provider got it. */
  redirectUri: string;
  /** The page that was requested, relative to the base address. */
  to: string;
  state: string;
  nonce: string;
  /** The code verifier (PKCE). */
  verifier: string;
}

/** Sign-ins under way, only in memory. Each is valid for ten minutes, once, and for the browser that began it. */
export type Flows = ReturnType<typeof createFlows>;

const GOOD_MS = 10 * 60_000;
const MOST_FLOWS = 2000;

export function createFlows(clock: Clock, random: Random) {
  const begun = new LRUCache<string, { flow: ProviderFlow; secret: string; until: number }>({
    max: MOST_FLOWS,
  });
  return {
    /** `secret`: what the browser keeps in a cookie until it comes back. */
    begin(asked: Pick<ProviderFlow, "providerId" | "redirectUri" | "to">) {
      const [state, nonce, verifier, secret] = [0, 1, 2, 3].map(() => base62Secret(random)) as [
        ...[string, string, string, string],
      ];
      const flow = { ...asked, state, nonce, verifier };
      begun.set(state, { flow, secret, until: clock.mono() + GOOD_MS });
      return { flow, secret };
    },
    /** Ends a flow and returns it; null for an invalid state, or one that another browser began. */
    take(state: string, secret: string): ProviderFlow | null {
      const found = begun.get(state);
      if (found === undefined || !sameSecret(found.secret, secret)) return null;
      begun.delete(state);
      return clock.mono() < found.until ? found.flow : null;
    },
  };
}
