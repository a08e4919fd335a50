import { type Clock, sleep } from "../ground/kit/clock.ts";
import type { Registry } from "./registry/registry.ts";

const LOOK_MS = 100;
/** No push starts later than 5 s after its hold was asked for. */
const LONGEST_MS = 6_000;

/**
 * Settles when the tenant's pages that are being pushed now are over, for whoever has just ended what they are
 * pushed by: from then on nobody rings by it.
 */
export async function claimsReleased(
  { registry: { claims }, clock }: { registry: Pick<Registry, "claims">; clock: Clock },
  tenantId: string,
): Promise<void> {
  const until = clock.mono() + LONGEST_MS;
  let waiting = new Set(await claims.holders(tenantId));
  while (waiting.size > 0 && clock.mono() < until) {
    await sleep(clock, LOOK_MS);
    waiting = waiting.intersection(new Set(await claims.holders(tenantId)));
  }
}
