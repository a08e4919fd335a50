import { and, eq, lt, sql } from "drizzle-orm";
import { sha256 } from "../../ground/kit/ids.ts";
import { countSeries } from "../../ground/store/schema.ts";
import type { Reader, Tx } from "../../ground/store/store.ts";
import { missingSubject } from "./missing.ts";
import type { RuleBody } from "./rule.ts";

/** What is counted by the hour: the events of each template, or what rules of one selection take. */
export interface CountSeries {
  id: number;
  /** Unix seconds: since then everything is counted. */
  since: number;
  /** The day (of Unix time) before which they were deleted because they were old; 0: none were. */
  keptFrom: number;
}

/** The events of each of a project's templates. */
export const TEMPLATES = "";

/**
 * What a rule counts. Rules that take the same share it, and a rule that is written anew goes on with it while it takes the
 * same. Any level counts where templates are counted. What is missing by its source is counted as one, whatever it says.
 */
export function selectionOf({
  match,
  conditions,
  identifier_keys,
  missing,
}: Pick<RuleBody, "match" | "conditions" | "identifier_keys" | "missing">): string {
  const { sources, tags, min_level, template_contains } = match;
  const named = sources.length + tags.length + conditions.length + identifier_keys.length;
  const { source } = missingSubject(missing);
  if (source !== null) {
    const parts = [source, [...tags].sort(), min_level ?? 0, template_contains];
    return sha256(JSON.stringify(["source", ...parts, conditions, identifier_keys]));
  }
  if (named === 0 && (missing === null || (min_level ?? 0) === 0)) return TEMPLATES;
  const parts = [[...sources].sort(), [...tags].sort(), min_level ?? 0, template_contains];
  return sha256(JSON.stringify([...parts, conditions, identifier_keys]));
}

const { id, since, keptFrom } = countSeries;
const columns = { id, since, keptFrom };

export function findSeries(
  reader: Reader,
  { projectId, selection }: { projectId: number; selection: string },
): CountSeries | null {
  const found = reader.orm.select(columns).from(countSeries);
  const isIt = and(eq(countSeries.projectId, projectId), eq(countSeries.selection, selection));
  return found.where(isIt).get() ?? null;
}

/** The series, from now on at the latest: `since` is when nothing of it can have come before uncounted. */
export function beginSeries(
  tx: Tx,
  of: { projectId: number; selection: string; since: number },
): CountSeries {
  return findSeries(tx, of) ?? tx.orm.insert(countSeries).values(of).returning(columns).get();
}

/** A rule takes the same by another name of a source: it goes on with its counts. */
export function moveSeries(
  tx: Tx,
  projectId: number,
  { from, to }: Record<"from" | "to", RuleBody>,
): void {
  const [before, selection] = [selectionOf(from), selectionOf(to)];
  const series = findSeries(tx, { projectId, selection: before });
  if (series === null || findSeries(tx, { projectId, selection }) !== null) return;
  tx.orm.update(countSeries).set({ selection }).where(eq(countSeries.id, series.id)).run();
}

/** Counts of earlier days are deleted from now on. */
export function keepCountsFrom(tx: Tx, day: number): void {
  tx.orm.update(countSeries).set({ keptFrom: day }).where(lt(countSeries.keptFrom, day)).run();
}

/** Forgets series that count nothing any more, and that no rule has. */
export function dropUnusedSeries(
  tx: Tx,
  isUsed: (one: { projectId: number; selection: string }) => boolean,
): void {
  const isEmpty = sql`NOT EXISTS (SELECT 1 FROM hour_counts h WHERE h.series_id = ${countSeries.id})`;
  const empty = tx.orm.select().from(countSeries).where(isEmpty).all();
  for (const one of empty)
    if (one.selection !== TEMPLATES && !isUsed(one))
      tx.orm.delete(countSeries).where(eq(countSeries.id, one.id)).run();
}
