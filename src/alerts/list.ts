import type { Reader } from "../store/store.ts";
import { type Alert, type AlertRow, type AlertState, SELECT_ALERT, toAlert } from "./alert.ts";

export interface AlertFilter {
  projectId?: number;
  state?: AlertState;
  rule?: string;
  /** Alerts changed after this sequence number, in rising order of it. */
  sinceSeq?: number;
  /** Alerts with an id below this. */
  before?: number;
  limit: number;
}

/** A page of alerts, newest first, or by rising `updated_seq` with `sinceSeq` (decisions §3). */
export function listAlerts(
  reader: Reader,
  filter: AlertFilter,
): { alerts: Alert[]; next: string | null } {
  const terms: [string, string | number][] = [];
  if (filter.projectId !== undefined) terms.push(["a.project_id = ?", filter.projectId]);
  if (filter.state !== undefined) terms.push(["a.state = ?", filter.state]);
  if (filter.rule !== undefined) terms.push(["a.rule = ?", filter.rule]);
  if (filter.sinceSeq !== undefined) terms.push(["a.updated_seq > ?", filter.sinceSeq]);
  if (filter.before !== undefined) terms.push(["a.id < ?", filter.before]);
  const where = terms.length === 0 ? "" : ` WHERE ${terms.map(([term]) => term).join(" AND ")}`;
  const bySeq = filter.sinceSeq !== undefined;
  const order = bySeq ? "a.updated_seq" : "a.id DESC";
  const rows = reader
    .sql(`${SELECT_ALERT}${where} ORDER BY ${order} LIMIT ?`)
    .all(...terms.map(([, value]) => value), filter.limit + 1) as AlertRow[];
  const shown = rows.slice(0, filter.limit);
  const last = rows.length > filter.limit ? shown.at(-1) : undefined;
  return {
    alerts: shown.map(toAlert),
    next: last === undefined ? null : String(bySeq ? last.updated_seq : last.id),
  };
}

const PULL_LIMIT = 500;

/** Alerts with an id above `cursor`, in id order, and the cursor to send next (api §4, Alerts). */
export function pullAlerts(reader: Reader, cursor: number): { alerts: Alert[]; cursor: number } {
  const rows = reader
    .sql(`${SELECT_ALERT} WHERE a.id > ? ORDER BY a.id LIMIT ?`)
    .all(cursor, PULL_LIMIT) as AlertRow[];
  const last = rows.at(-1);
  if (last !== undefined) return { alerts: rows.map(toAlert), cursor: last.id };
  const newest =
    (reader.sql("SELECT seq FROM sqlite_sequence WHERE name = 'alerts'").pluck().get() as
      | number
      | undefined) ?? 0;
  // A cursor from before a restore lies past every alert: it starts again from what is here.
  return { alerts: [], cursor: Math.min(cursor, newest) };
}
