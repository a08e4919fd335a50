import { renameSourceOfAlerts } from "../core/alerts/many.ts";
import { getProject } from "../core/projects/projects.ts";
import type { SourceFacts } from "../core/projects/source.ts";
import { renameSource } from "../core/projects/sources.ts";
import { renameInSilences } from "../core/quiet/rows.ts";
import type { Tx } from "../ground/store/store.ts";
import { renameSourceInHeartbeats } from "../in/heartbeats/rows.ts";
import type { Tenant } from "./tenant.ts";

/** Renames a source. Its tokens, rules, silences and open alerts stay valid. Throws 404, 409. */
export function callSource(tx: Tx, place: { project: string; source: string }, to: string): void {
  const project = getProject(tx, place.project);
  const change = { from: place.source, to };
  renameSource(tx, project, change);
  renameInSilences(tx, project.id, { kind: "source", ...change });
  renameSourceInHeartbeats(tx, { projectId: project.id, ...change });
  renameSourceOfAlerts(tx, { projectId: project.id, ...change });
}

/** Figures of a source's events, from memory. Only managers get the body of the refused one. */
export function sourceFactsOf(
  { ingest }: Pick<Tenant, "ingest">,
  { id, name }: { id: number; name: string },
  mayReadBody: boolean,
): SourceFacts {
  const tally = ingest.tallies().find(({ sourceId }) => sourceId === id);
  const { counts, last } = ingest.refused.of(id);
  return {
    name,
    accepted: tally?.accepted ?? 0,
    unmatched: tally?.unmatched ?? 0,
    unmatched_resolves: tally?.unmatchedResolves ?? 0,
    clock_suspects: tally?.clockSuspects ?? 0,
    refused: counts,
    last_seen: tally?.seenAt ?? null,
    last_refused: last === null ? null : { ...last, body: mayReadBody ? last.body : null },
  };
}
