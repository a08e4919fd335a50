import { type QuietProject, quietProjects } from "../../core/quiet/rows.ts";
import { unixSeconds } from "../../ground/kit/clock.ts";
import { LONG_TURN_MS, turns } from "../../ground/kit/turns.ts";
import { type Health, type HealthCheck, summarize } from "../../tenant/health.ts";
import type { Tenant } from "../../tenant/tenant.ts";
import { outboxChecks } from "./outbox-health.ts";
import { patternsCheck } from "./pattern-health.ts";

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

/** Reports a project, or the whole box, that is silenced completely: people must not mistake that for "all is well". */
function quietCheck({ store, clock }: Tenant): HealthCheck {
  const quiet = quietProjects(store, unixSeconds(clock));
  const base = { name: "silences", severity: "degraded" as const, ok: quiet.length === 0 };
  if (base.ok) return { ...base, detail: "no silence covers a whole project" };
  const all = quiet.some(({ project }) => project === null);
  const detail = all
    ? "everything is silenced on purpose"
    : `everything of ${quiet.length} ${quiet.length === 1 ? "project" : "projects"} is silenced on purpose`;
  return { ...base, detail, named: quiet.map(quietText).join("; ") };
}

/** `everything of shop is silenced until 2026-01-05T10:00:00Z: deploy`. */
function quietText({ project, reason, until }: QuietProject): string {
  const what = project === null ? "everything" : `everything of ${project}`;
  const end = new Date(until * 1000).toISOString().replace(".000", "");
  return `${what} is silenced until ${end}: ${reason}`;
}

/** A relay refuses signatures that are five minutes off. A warning comes before that. */
const SKEW_SECONDS = 60;

const ANOTHER_BOX =
  "another box pages with this box's relay key, so each of its pages rings twice: stop the copy, or give it a key of its own";

/** Whether the hosted relay gets this box's heartbeats (contract §7). Without it no phone rings. */
function relayCheck(tenant: Tenant): HealthCheck {
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
