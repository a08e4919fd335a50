import { LONG_TURN_MS, turns } from "../../ground/kit/turns.ts";
import { type Health, type HealthCheck, summarize } from "../../tenant/health.ts";
import type { Tenant } from "../../tenant/tenant.ts";
import { outboxChecks } from "./outbox-health.ts";
import { patternsCheck } from "./pattern-health.ts";
import { quietCheck } from "./quiet-health.ts";
import { relayCheck } from "./relay-health.ts";

/** Whether the box can page, check by check (contract §10). `ofHost`: checks beside the tenant's own. */
export function boxHealth(tenant: Tenant, ofHost: (() => HealthCheck)[] = []): Health {
  const store = storeCheck(tenant);
  const rest = store.ok
    ? [
        ...outboxChecks(tenant),
        relayCheck(tenant),
        quietCheck(tenant),
        patternsCheck(tenant),
        ...ofHost.map((check) => check()),
      ]
    : [];
  const own = [schedulerCheck(tenant), clockCheck(tenant), diskCheck(tenant), turnsCheck()];
  return summarize([store, ...own, ...rest]);
}

/** A service manager restarts the box when this is false: the jobs don't run, or the store doesn't answer. */
export function isAlive(tenant: Tenant): boolean {
  return storeCheck(tenant).ok && tenant.clock.mono() - tenant.scheduler.lastTick < LATE_MS;
}

function storeCheck(tenant: Tenant): HealthCheck {
  const base = { name: "store", severity: "failed" as const };
  try {
    tenant.store.sql<[]>("SELECT 1").get();
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
        ? "jobs run"
        : `no job has run for ${Math.round(late / 1000)} s`;
  return { name: "scheduler", ok, severity: "failed", detail };
}

function clockCheck(tenant: Tenant): HealthCheck {
  const { sane, behindBy, lastJump } = tenant.watch.state();
  const detail = sane
    ? lastJump === null
      ? "no jump seen"
      : `jumped by ${lastJump.by} s at ${lastJump.at}; due times moved with it`
    : `${behindBy} s behind the last time seen: nothing is deleted until it is right; check NTP`;
  return { name: "clock", ok: sane, severity: "degraded", detail };
}

/** It is for whoever looks: nothing that a service manager could mend. */
function turnsCheck(): HealthCheck {
  const longest = turns.longest();
  const detail =
    longest === null
      ? `no turn of the event loop took ${LONG_TURN_MS} ms in the last hour`
      : `the longest turn of the last hour took ${Math.round(longest.ms)} ms: ${longest.work}`;
  return { name: "turns", ok: true, severity: "degraded", detail };
}

function diskCheck({ disk }: Tenant): HealthCheck {
  const free = disk.free === null ? "" : ` (${Math.round(disk.free / 1024 / 1024)} MiB free)`;
  const detail = disk.nearlyFull
    ? `nearly full${free}: events are refused until there is space; acknowledgements and pages go on`
    : `enough room${free}`;
  return { name: "disk", ok: !disk.nearlyFull, severity: "degraded", detail };
}
