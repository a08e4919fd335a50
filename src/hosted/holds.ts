import { type Clock, sleep } from "../ground/kit/clock.ts";
import type { Registry } from "./registry/registry.ts";

const LOOK_MS = 100;
/** No push starts later than 5 s after its hold was requested. */
const LONGEST_MS = 6_000;

/**
 * Resolves when the running pages of a tenant are over. Called after a key or pairing was revoked: from then on no
 * phone rings because of it.
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
