import type { HealthCheck } from "../tenant/health.ts";
import type { Tenant } from "../tenant/tenant.ts";

/** How many events were refused because the box could not take more (contract §9, shedding). */
export function ingestCheck({ ingest }: Tenant): HealthCheck {
  const { shed, accepted, waiting } = ingest.stats();
  return {
    name: "ingest",
    ok: true,
    severity: "degraded",
    detail: `${accepted} events taken since the start, ${shed} refused for want of room or time, ${waiting} wait`,
  };
}
