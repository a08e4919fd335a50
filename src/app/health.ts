import { type Health, type HealthCheck, summarize } from "../tenant/health.ts";
import type { Tenant } from "../tenant/tenant.ts";

/** Whether the box is able to page, check by check (decisions §10). */
export function boxHealth(tenant: Tenant): Health {
  return summarize([storeCheck(tenant), schedulerCheck(tenant)]);
}

function storeCheck(tenant: Tenant): HealthCheck {
  const base = { name: "store", severity: "failed" as const };
  try {
    tenant.store.sql("SELECT 1").get();
    return { ...base, ok: true, detail: "the store answers" };
  } catch {
    return { ...base, ok: false, detail: "the store does not answer: look at the log" };
  }
}

const LATE_MS = 30_000;

function schedulerCheck(tenant: Tenant): HealthCheck {
  const late = tenant.clock.mono() - tenant.scheduler.lastTick;
  const failing = [...tenant.scheduler.failures.keys()];
  const ok = late < LATE_MS && failing.length === 0;
  const detail =
    failing.length > 0
      ? `jobs failing: ${failing.join(", ")}`
      : ok
        ? "due work is looked at"
        : `no look at due work for ${Math.round(late / 1000)} s`;
  return { name: "scheduler", ok, severity: "failed", detail };
}
