import type { Replicas } from "../../in/ingest/replicas.ts";
import type { HealthCheck } from "../../tenant/health.ts";
import type { Tenant } from "../../tenant/tenant.ts";

const MOST_NAMED = 10;

/**
 * What happened to the events that were sent: accepted, matched by no rule, refused because the box had too much to do
 * (contract §9, shedding), or rejected as invalid.
 */
export function ingestCheck(tenant: Tenant): HealthCheck {
  const { shed, accepted, waiting } = tenant.ingest.stats();
  const unmatched = tenant.ingest.tallies().reduce((sum, tally) => sum + tally.unmatched, 0);
  const detail =
    `${accepted} events accepted since the start, ${unmatched} of them matched by no rule, ` +
    `${shed} refused for lack of space or time, ${waiting} wait`;
  const base = { name: "ingest", ok: true, severity: "degraded" as const };
  const told = [
    {
      list: turnedAway(tenant),
      short: (sources: string) => `events of ${sources} were rejected`,
      long: "events were rejected of",
    },
    {
      list: offClocks(tenant),
      short: (sources: string) => `the clock of ${sources} seems to be wrong`,
      long: "alerts ended before they came, so a clock seems to be wrong, of",
    },
    {
      list: tenant.ingest.replicas().map((pair) => replicasText(tenant, pair)),
      short: (sources: string) => `every alert comes twice from ${sources}`,
      long: "every alert comes twice, from both servers of a pair, of",
    },
  ].filter(({ list }) => list.length > 0);
  if (told.length === 0) return { ...base, detail };
  const count = (n: number) => (n === 1 ? "one source" : `${n} sources`);
  return {
    ...base,
    detail: [detail, ...told.map(({ list, short }) => short(count(list.length)))].join("; "),
    named: [detail, ...told.map(({ list, long }) => `${long} ${someOf(list)}`)].join("; "),
  };
}

function someOf(names: readonly string[]): string {
  return names.slice(0, MOST_NAMED).join(", ") + (names.length > MOST_NAMED ? " and others" : "");
}

/** Sources whose clocks may be wrong: nothing fires, but alerts end that the box never had. */
function offClocks(tenant: Tenant): string[] {
  return tenant.ingest
    .tallies()
    .filter(({ clockSuspects, fired }) => clockSuspects > 0 && fired === 0)
    .map(({ source, projectId }) => `${source} of ${projectName(tenant, projectId)}`);
}

/** `prom of shop (label replica: a, b; drop it with alert_relabel_configs)`. */
function replicasText(tenant: Tenant, { source, projectId, label, values }: Replicas): string {
  const [one, two] = values.map((value) => value.slice(0, 100));
  return `${source} of ${projectName(tenant, projectId)} (label ${label}: ${one}, ${two}; drop it with alert_relabel_configs)`;
}

function projectName({ store }: Tenant, id: number): string {
  const name = store.sql<[id: number], string>("SELECT name FROM projects WHERE id = ?").pluck();
  return name.get(id) ?? String(id);
}

/** These mean a fault of the box, not of the sender, and count as shed. */
const OURS = new Set(["overloaded", "storage_full", "internal"]);

/** `web of shop (3 invalid_json)`. */
function turnedAway(tenant: Tenant): string[] {
  return tenant.ingest.refused.all().flatMap(({ projectId, source, counts }) => {
    const why = Object.entries(counts).filter(([code]) => !OURS.has(code));
    if (why.length === 0) return [];
    const said = why.map(([code, n]) => `${n} ${code}`).join(", ");
    return [`${source} of ${projectName(tenant, projectId)} (${said})`];
  });
}
