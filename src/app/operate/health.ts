import { type QuietProject, quietProjects } from "../../core/quiet/rows.ts";
import { unixSeconds } from "../../ground/kit/clock.ts";
import { LONG_TURN_MS, turns } from "../../ground/kit/turns.ts";
import { errorWords } from "../../out/outbox/error-words.ts";
import { type Health, type HealthCheck, summarize } from "../../tenant/health.ts";
import type { Tenant } from "../../tenant/tenant.ts";
import { countsOf, lostCredentials } from "./lost-credentials.ts";
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

/** Whether messages leave the box, check by check (contract §10). */
function outboxChecks(tenant: Tenant): HealthCheck[] {
  return [movingCheck(tenant), breakerCheck(tenant), failingCheck(tenant), sealedCheck(tenant)];
}

const STUCK_MS = 30_000;

/** A row that should have been sent: its endpoint works, and no earlier row of its alert waits. */
const OLDEST_DUE = `SELECT min(d.next_attempt_ms) FROM deliveries d JOIN integrations i ON i.id = d.integration_id
  WHERE d.status = 'pending' AND d.next_attempt_ms < ? AND i.enabled = 1 AND i.consecutive_failures = 0
    AND NOT EXISTS (SELECT 1 FROM deliveries e WHERE e.alert_id = d.alert_id AND e.integration_id = d.integration_id
      AND e.status = 'pending' AND e.id < d.id)`;

/** Fails when due deliveries wait for working endpoints and none is sent: the worker is stuck. */
function movingCheck({ store, clock, outbox }: Tenant): HealthCheck {
  const oldest = store
    .sql<[number], number | null>(OLDEST_DUE)
    .pluck()
    .get(clock.now() - STUCK_MS);
  const still = clock.mono() - outbox.deliveries.movedAt;
  const ok = oldest === null || still < STUCK_MS;
  const detail = ok
    ? "due deliveries are sent"
    : `a delivery has been due for ${Math.round((clock.now() - (oldest ?? 0)) / 1000)} s and nothing was sent for ${Math.round(still / 1000)} s`;
  return { name: "outbox", ok, severity: "failed", detail };
}

/** Endpoints that the circuit breaker or a 410 turned off. One that a person turned off is no fault. */
function breakerCheck(tenant: Tenant): HealthCheck {
  const shut = channelsWhere(tenant, "i.enabled = 0 AND i.failing_since IS NOT NULL");
  const said = told(shut, "no channel was turned off", "enable these once they work");
  return { name: "breakers", severity: "degraded", ...said };
}

/** A few bad minutes pass by themselves; many failures in a row, or a failed test, need attention. */
function failingCheck(tenant: Tenant): HealthCheck {
  const failing = channelsWhere(
    tenant,
    "i.enabled = 1 AND i.last_error IS NOT NULL AND (i.consecutive_failures = 0 OR i.consecutive_failures >= 3)",
  );
  const said = told(failing, "every channel's last attempt went well", "these take no messages");
  return { name: "channels", severity: "degraded", ...said };
}

/** Credentials whose key is lost, by name, so that they can be entered again. */
function sealedCheck({ store, sealer }: Tenant): HealthCheck {
  const lost = lostCredentials(store, sealer);
  const check = { name: "sealed", ok: lost.length === 0, severity: "degraded" } as const;
  if (check.ok) return { ...check, detail: "every stored credential can be opened" };
  const say = (which: readonly string[]) =>
    `enter these credentials again, or put their key back (box key-file add FILE): ${sentence(which)}`;
  return { ...check, detail: say(countsOf(lost)), named: say(lost.map(({ name }) => name)) };
}

interface SickChannel {
  /** Its type only, because readiness is public and names reveal what a project is about. */
  plain: string;
  /** With its project's name and its own. */
  named: string;
}

const SICK = `SELECT i.id, i.type, i.name, i.last_error AS error,
  (SELECT p.name FROM projects p WHERE p.id = i.project_id) AS project FROM integrations i`;

function channelsWhere({ store }: Tenant, condition: string): SickChannel[] {
  const rows = store
    .sql<[], { id: string; type: string; name: string; error: string | null; project: string }>(
      `${SICK} WHERE ${condition} ORDER BY i.id`,
    )
    .all();
  return rows.map(({ type, name, error, project }) => {
    const why = error === null ? "disabled" : errorWords(error);
    return {
      plain: `${type} (${why})`,
      named: `${project}: ${name || type} (${name ? `${type}, ` : ""}${why})`,
    };
  });
}

/** A sentence about failing channels, which begins with what they mean. */
function told(sick: readonly SickChannel[], well: string, ill: string) {
  const ok = sick.length === 0;
  const of = (how: keyof SickChannel) => `${ill}: ${sentence(sick.map((one) => one[how]))}`;
  return ok ? { ok, detail: well } : { ok, detail: of("plain"), named: of("named") };
}

const MOST_NAMED = 10;

function sentence(items: readonly string[]): string {
  const more = items.length - MOST_NAMED;
  return items.slice(0, MOST_NAMED).join("; ") + (more > 0 ? `; and ${more} more` : "");
}
