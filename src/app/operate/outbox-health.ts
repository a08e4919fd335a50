import { errorWords } from "../../out/outbox/error-words.ts";
import type { HealthCheck } from "../../tenant/health.ts";
import type { Tenant } from "../../tenant/tenant.ts";
import { countsOf, lostCredentials } from "./lost-credentials.ts";

/** Whether messages leave the box, check by check (contract §10). */
export function outboxChecks(tenant: Tenant): HealthCheck[] {
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
