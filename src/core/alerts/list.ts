import type { SqlValue } from "../../ground/store/database.ts";
import type { Reader } from "../../ground/store/store.ts";
import { type Alert, type AlertRow, getAlertRow, SELECT_ALERT } from "./alert.ts";
import { type NewestFilter, newestIds } from "./newest.ts";
import { toAlerts } from "./shown.ts";

export interface AlertFilter extends NewestFilter {
  /** Alerts changed after this sequence number, in rising order of it. */
  sinceSeq?: number | undefined;
}

export interface AlertPage {
  alerts: Alert[];
  /** What to go on with: an id for `before`, or a sequence number for `since_seq`; null at the end. */
  next: string | null;
}

/** A page of alerts, newest first, or by rising `updated_seq` with `sinceSeq` (contract §3). */
export function listAlerts(reader: Reader, filter: AlertFilter): AlertPage {
  return filter.sinceSeq === undefined
    ? newestFirst(reader, filter)
    : changedSince(reader, { ...filter, sinceSeq: filter.sinceSeq });
}

function newestFirst(reader: Reader, filter: AlertFilter): AlertPage {
  const ids = newestIds(reader, { ...filter, limit: filter.limit + 1 });
  const shown = ids.slice(0, filter.limit);
  const alerts = toAlerts(
    reader,
    shown.map((id) => getAlertRow(reader, id)),
  );
  return { alerts, next: ids.length > filter.limit ? String(shown.at(-1)) : null };
}

/** Changes that one page looks at: where few of them match it is short, or empty, and `next` goes on. */
const LOOKED_AT = 10_000;

const LAST_LOOKED_AT = `SELECT updated_seq FROM alerts WHERE updated_seq > ?
  ORDER BY updated_seq LIMIT 1 OFFSET ${LOOKED_AT - 1}`;

function changedSince(reader: Reader, filter: AlertFilter & { sinceSeq: number }): AlertPage {
  const { sinceSeq, limit } = filter;
  const until = reader.sql<[sinceSeq: number], number>(LAST_LOOKED_AT).pluck().get(sinceSeq);
  // The plus keeps SQLite on the index by change, whose order is the answer's.
  const terms: [string, ...(string | number)[]][] = [["a.updated_seq > ?", sinceSeq]];
  if (until !== undefined) terms.push(["a.updated_seq <= ?", until]);
  if (filter.projectId !== undefined) terms.push(["+a.project_id = ?", filter.projectId]);
  if (filter.states !== undefined)
    terms.push([`+a.state IN (${filter.states.map(() => "?").join(", ")})`, ...filter.states]);
  if (filter.rule !== undefined) terms.push(["+a.rule = ?", filter.rule]);
  if (filter.before !== undefined) terms.push(["+a.id < ?", filter.before]);
  const where = terms.map(([term]) => term).join(" AND ");
  const rows = reader
    .sql<SqlValue[], AlertRow>(`${SELECT_ALERT} WHERE ${where} ORDER BY a.updated_seq LIMIT ?`)
    .all(...terms.flatMap(([, ...values]) => values), limit + 1);
  const shown = rows.slice(0, limit);
  const next = rows.length > limit ? shown.at(-1)?.updated_seq : until;
  return { alerts: toAlerts(reader, shown), next: next === undefined ? null : String(next) };
}

const PULL_LIMIT = 500;

/** Alerts with an id above `cursor`, in id order, and the cursor to send next (contract §15, Alerts). */
export function pullAlerts(reader: Reader, cursor: number): { alerts: Alert[]; cursor: number } {
  const rows = reader
    .sql<[number, number], AlertRow>(`${SELECT_ALERT} WHERE a.id > ? ORDER BY a.id LIMIT ?`)
    .all(cursor, PULL_LIMIT);
  const last = rows.at(-1);
  if (last !== undefined) return { alerts: toAlerts(reader, rows), cursor: last.id };
  const newest =
    reader.sql<[], number>("SELECT seq FROM sqlite_sequence WHERE name = 'alerts'").pluck().get() ??
    0;
  // A cursor from before a restore lies past every alert: it starts again from what is here.
  return { alerts: [], cursor: Math.min(cursor, newest) };
}
