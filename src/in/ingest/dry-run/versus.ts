import type { Reader } from "../../../ground/store/store.ts";
import type { DryAlert, DryRunFound } from "./dry-run.ts";
import { rootsOf } from "./lines.ts";

/** The real alerts of a saved rule that are compared with a dry run of the same time. */

const MOST_REAL = 5000;
const MOST_TOLD = 500;

interface Real {
  id: number;
  template_id: string;
  opened_at: number;
  resolved_at: number | null;
}

const REAL = `SELECT id, template_id, opened_at, resolved_at FROM alerts
  WHERE project_id = ? AND rule = ? AND drill = 0 AND opened_at >= ? AND opened_at <= ? ORDER BY id LIMIT ${MOST_REAL}`;

/**
 * Two alerts are the same if they have the same template and were open at the same time. Null if no comparison is
 * wanted. Only listed alerts are compared.
 */
export function versusOf(
  reader: Reader,
  of: { projectId: number; rule: string | undefined },
  { alerts, range }: Pick<DryRunFound, "alerts" | "range">,
): DryRunFound["versus"] {
  if (of.rule === undefined) return null;
  const real = reader
    .sql<[number, string, number, number], Real>(REAL)
    .all(of.projectId, of.rule, range.from, range.until);
  const root = rootsOf(reader, of.projectId);
  const byTemplate = Map.groupBy(real, ({ template_id }) => root(template_id));
  const matched = new Set<number>();
  const only_new: number[] = [];
  for (const alert of alerts) {
    const same = (byTemplate.get(alert.template_id) ?? []).filter((one) =>
      atOnce(alert, one, range.until),
    );
    for (const { id } of same) matched.add(id);
    if (same.length === 0) only_new.push(alert.opened_at);
  }
  const only_old = real.filter(({ id }) => !matched.has(id)).map(({ id }) => String(id));
  return {
    alerts: real.length,
    buckets: byHour(real),
    only_new: only_new.slice(0, MOST_TOLD),
    only_old: only_old.slice(0, MOST_TOLD),
  };
}

const HOUR = 3600;

function byHour(real: readonly Real[]): { at: number; alerts: number }[] {
  const hours = Map.groupBy(real, ({ opened_at }) => opened_at - (opened_at % HOUR));
  return [...hours].map(([at, all]) => ({ at, alerts: all.length })).sort((a, b) => a.at - b.at);
}

function atOnce(a: DryAlert, b: Real, until: number): boolean {
  return a.opened_at <= (b.resolved_at ?? until) && b.opened_at <= (a.ended_at ?? until);
}
