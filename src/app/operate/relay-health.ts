import type { HealthCheck } from "../../tenant/health.ts";
import type { Tenant } from "../../tenant/tenant.ts";

/** A relay refuses signatures that are five minutes off. A warning comes before that. */
const SKEW_SECONDS = 60;

const ANOTHER_BOX =
  "another box pages with this box's relay key, so each of its pages rings twice: stop the copy, or give it a key of its own";

/** Whether the hosted relay gets this box's heartbeats (contract §7). Without it no phone rings. */
export function relayCheck(tenant: Tenant): HealthCheck {
  const base = { name: "relay", severity: "degraded" as const };
  const configured = tenant.store.sql<[]>("SELECT 1 FROM relay").get() !== undefined;
  if (!configured || tenant.news === null)
    return { ...base, ok: true, detail: "no hosted relay is configured: no phone is paged" };
  const { heardAt, error, skewSeconds, anotherBox } = tenant.news.contact();
  const last = heardAt === null ? "no answer since the start" : `last answer at ${heardAt}`;
  if (error !== null) return { ...base, ok: false, detail: `${error}; ${last}` };
  if (anotherBox) return { ...base, ok: false, detail: ANOTHER_BOX };
  const skew = skewSeconds ?? 0;
  if (Math.abs(skew) > SKEW_SECONDS) {
    const way = skew > 0 ? "ahead of" : "behind";
    return { ...base, ok: false, detail: `the clock is ${Math.abs(skew)} s ${way} the relay's` };
  }
  return { ...base, ok: true, detail: heardAt === null ? "not called yet" : last };
}
