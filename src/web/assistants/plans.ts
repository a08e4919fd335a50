import type { Clock } from "../../ground/kit/clock.ts";
import { base62Secret } from "../../ground/kit/ids.ts";
import type { Random } from "../../ground/kit/random.ts";

/** What a preparation showed: by which tool, from what, and what it rested on. */
interface KeptPlan {
  tool: string;
  input: Readonly<Record<string, unknown>>;
  /** As JSON: the plan holds only as long as this is the same. */
  basis: string;
}

/** Plans that wait to be carried out, each under a token that works once, for its own key, for ten minutes. */
export type Plans = ReturnType<typeof createPlans>;

export const PLAN_MINUTES = 10;
/** Of one key. The oldest goes. */
const MOST_OF_ONE = 20;
/** Of all keys. */
const MOST = 1000;

export function createPlans({ clock, random }: { clock: Clock; random: Random }) {
  const kept = new Map<string, KeptPlan & { owner: string; until: number }>();
  const drop = (isOld: (plan: { owner: string; until: number }) => boolean, most: number) => {
    const found = [...kept].filter(([, plan]) => isOld(plan));
    for (const [token] of found.slice(0, Math.max(0, found.length - most))) kept.delete(token);
  };
  return {
    keep(owner: string, plan: KeptPlan): string {
      const now = clock.mono();
      drop(({ until }) => until <= now, 0);
      drop((one) => one.owner === owner, MOST_OF_ONE - 1);
      drop(() => true, MOST - 1);
      const token = base62Secret(random, 22);
      kept.set(token, { ...plan, owner, until: now + PLAN_MINUTES * 60_000 });
      return token;
    },
    /** The plan, which is then gone; null where the token is no good. */
    take(owner: string, token: string): KeptPlan | null {
      const plan = kept.get(token);
      if (plan === undefined || plan.owner !== owner) return null;
      kept.delete(token);
      return plan.until > clock.mono() ? plan : null;
    },
  };
}
