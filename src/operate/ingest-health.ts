import type { HealthCheck } from "../tenant/health.ts";
import type { Tenant } from "../tenant/tenant.ts";

/** How many sources are named. */
const MOST_NAMED = 10;

/**
 * What became of the events that were sent: taken, matched by no rule, refused because the box could not take more
 * (contract §9, shedding), turned away because of what they were.
 */
export function ingestCheck(tenant: Tenant): HealthCheck {
  const { shed, accepted, waiting } = tenant.ingest.stats();
  const unmatched = tenant.ingest.tallies().reduce((sum, tally) => sum + tally.unmatched, 0);
  const detail =
    `${accepted} events taken since the start, ${unmatched} of them matched by no rule, ` +
    `${shed} refused for want of room or time, ${waiting} wait`;
  const away = turnedAway(tenant);
  const base = { name: "ingest", ok: true, severity: "degraded" as const };
  if (away.length === 0) return { ...base, detail };
  const sources = away.length === 1 ? "one source" : `${away.length} sources`;
  return {
    ...base,
    detail: `${detail}; events of ${sources} were turned away`,
    named: `${detail}; events were turned away of ${away.slice(0, MOST_NAMED).join(", ")}${away.length > MOST_NAMED ? " and others" : ""}`,
  };
}

/** What is wrong with the box and not with the sender is counted as shed. */
const OURS = new Set(["overloaded", "storage_full", "internal"]);

/** `web of shop (3 invalid_json)`. */
function turnedAway({ ingest, store }: Tenant): string[] {
  const project = store.sql<[id: number], string>("SELECT name FROM projects WHERE id = ?").pluck();
  return ingest.refused.all().flatMap(({ projectId, source, counts }) => {
    const why = Object.entries(counts).filter(([code]) => !OURS.has(code));
    if (why.length === 0) return [];
    const said = why.map(([code, n]) => `${n} ${code}`).join(", ");
    return [`${source} of ${project.get(projectId) ?? projectId} (${said})`];
  });
}
