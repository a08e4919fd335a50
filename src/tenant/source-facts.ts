import type { SourceFacts } from "../core/projects/source.ts";
import type { Tenant } from "./tenant.ts";

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
