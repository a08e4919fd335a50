import { ForgetfulMap } from "../../ground/kit/forgetful-map.ts";
import { othersFirst } from "../../ground/kit/slices.ts";
import type { SqlValue } from "../../ground/store/database.ts";
import type { Reader, Store } from "../../ground/store/store.ts";
import type { AlertRow, AlertState } from "./alert.ts";
import { type AlertQuery, readAlertQuery, type TriageFilter } from "./query.ts";
import { letsThrough } from "./triage.ts";
import {
  columnsOfLabels,
  type FilteredRow,
  isOwn,
  NO_TEXTS,
  ownIds,
  projectsOf,
  readsTexts,
  TEXTS,
} from "./triage-runs.ts";
import { alertsVersion, type Version } from "./unchanged.ts";

/** All unresolved alerts that match, remembered and followed. */

/** What stands first where several things stand. */
const URGENCY = { pages: 0, pagesNobody: 1, taken: 2, silenced: 3 } as const;

/** An alert as far as groups look at it. */
export interface GroupedAlert
  extends Pick<
    AlertRow,
    "id" | "rule_id" | "state" | "level" | "silenced_by" | "opened_at" | "acked_by" | "template_id"
  > {
  /** 1 where it paged somebody, or somebody was given it. */
  pages: number;
  /** Of `URGENCY`. */
  urgency: number;
}

/** What is asked for; what is resolved is in no group. */
export interface Matching extends Omit<TriageFilter, "order" | "looked" | "after" | "limit"> {
  states: readonly ("open" | "acknowledged")[];
}

/** Milliseconds of work, and alerts, that one look may cost. */
const MOST = { ms: 250, looked: 100_000 };
/** Work between two turns of others. */
const TURN_MS = 8;
const SLICE = 1000;

/** All that match, by rule, of each the most urgent first. */
interface Matched {
  ofRule: ReadonlyMap<number, readonly GroupedAlert[]>;
  complete: boolean;
}

/** As of a change, looked up at a moment of the monotonic clock. */
interface Known extends Matched, Version {
  ofRule: Map<number, readonly GroupedAlert[]>;
  at: number;
}

/** Lists in the order of need, each with whether its rule had a ladder: of ten thousand alerts few have changed since the last look. */
const ordered = new WeakMap<readonly GroupedAlert[], boolean>();

/** What the latest filters found, each by itself. */
const known = new WeakMap<Store, Map<string, Known>>();
/** Filters, alerts of one, and milliseconds that they are followed: an alert that is over may be deleted, which is no change. */
export const MOST_KNOWN = { filters: 4, alerts: 20_000, ms: 60_000 };

/** All that match, as urgent as their ladders make them now. */
export async function matching(store: Store, filter: Matching): Promise<Matched> {
  const { projectId, states, rule, min_level, silenced, mine, q } = filter;
  const key = JSON.stringify([projectId, states, rule, min_level, silenced, mine, q]);
  const ofStore = known.getOrInsertComputed(store, () => new ForgetfulMap(MOST_KNOWN.filters));
  const all = follow(store, filter, ofStore.get(key)) ?? (await lookUp(store, filter));
  let count = 0;
  const withLadder = rulesWithLadder(store, [...all.ofRule.keys()]);
  for (const [rule, alerts] of all.ofRule) {
    count += alerts.length;
    const has = withLadder.has(rule);
    if (ordered.get(alerts) !== has) all.ofRule.set(rule, inNeed(alerts, has));
  }
  if (count <= MOST_KNOWN.alerts) ofStore.set(key, all);
  else ofStore.delete(key);
  return all;
}

/** Another list, since what is known of the one before goes by it. What hasn't changed is the same object in both. */
function inNeed(alerts: readonly GroupedAlert[], hasLadder: boolean): readonly GroupedAlert[] {
  const placed = (one: GroupedAlert) => {
    const urgency = urgencyOf(one, hasLadder);
    return urgency === one.urgency ? one : { ...one, urgency };
  };
  const all = alerts.map(placed).sort(byNeed);
  ordered.set(all, hasLadder);
  return all;
}

const byNeed = (a: GroupedAlert, b: GroupedAlert): number =>
  a.urgency - b.urgency || b.level - a.level || b.id - a.id;

const CHANGED = `SELECT id FROM alerts WHERE updated_seq > ? LIMIT ${SLICE + 1}`;
/** `+`: by what changed, not by all that the projects have. */
const READ_CHANGED =
  "updated_seq > ? AND state <> 'resolved' AND +project_id IN (SELECT value FROM json_each(?))";

/** What changed after a look, and what of it matches now; null where that doesn't tell all. */
export function changedSince(
  store: Store,
  filter: Omit<Matching, "states"> & { states: readonly AlertState[] },
  before: Version & { at: number },
  { withLabels = false } = {},
): (Version & { ids: ReadonlySet<number>; rows: Row[] }) | null {
  const version = alertsVersion(store);
  const isOld = store.clock.mono() - before.at > MOST_KNOWN.ms;
  if (isOld || before.projects !== version.projects) return null;
  if (before.seq === version.seq) return { ...version, ids: new Set(), rows: [] };
  const query = readAlertQuery(filter.q ?? "");
  if (query.id !== null || filter.mine !== undefined) return null;
  const ids = new Set(store.sql<[seq: number], number>(CHANGED).pluck().all(before.seq));
  if (ids.size > SLICE) return null;
  const projects = JSON.stringify(projectsOf(store, filter, query));
  const rows = reading(store, query, withLabels)(READ_CHANGED, before.seq, projects);
  return { ...version, ids, rows: rows.filter(letsThrough(filter, query)) };
}

/** What was found before, with what changed since. Rules of which nothing changed keep their lists. */
function follow(store: Store, filter: Matching, before: Known | undefined): Known | null {
  const since = before?.complete === true ? changedSince(store, filter, before) : null;
  if (since === null || before === undefined) return null;
  const { ids, rows, ...version } = since;
  if (ids.size === 0) return before;
  const ofRule: Known["ofRule"] = Map.groupBy(rows.map(grouped), ({ rule_id }) => rule_id);
  for (const [rule, alerts] of before.ofRule) {
    const news = ofRule.get(rule);
    const isSame = news === undefined && !alerts.some(({ id }) => ids.has(id));
    const all = isSame ? alerts : [...(news ?? []), ...alerts.filter(({ id }) => !ids.has(id))];
    if (all.length > 0) ofRule.set(rule, all);
  }
  return { ...version, at: before.at, ofRule, complete: true };
}

/** Others work in between; what moves on meanwhile is here once. */
async function lookUp(store: Store, filter: Matching): Promise<Known> {
  const query = readAlertQuery(filter.q ?? "");
  const lets = letsThrough(filter, query);
  const { clock } = store;
  const since = { ...alertsVersion(store), at: clock.mono() };
  const found = new Map<number, GroupedAlert>();
  const byRule = () => Map.groupBy(found.values(), ({ rule_id }) => rule_id);
  const spent = { ms: 0, looked: 0, since: clock.mono() };
  for (const slice of slices(store, filter, query)) {
    for (const one of slice) {
      if (lets(one)) found.set(one.id, grouped(one));
    }
    spent.looked += slice.length;
    const turn = clock.mono() - spent.since;
    if (spent.ms + turn > MOST.ms || spent.looked >= MOST.looked)
      return { ...since, ofRule: byRule(), complete: false };
    if (turn < TURN_MS) continue;
    spent.ms += turn;
    await othersFirst();
    spent.since = clock.mono();
  }
  return { ...since, ofRule: byRule(), complete: true };
}

const WITH_LADDER = `SELECT r.id FROM rules r LEFT JOIN ladders l ON l.id = r.ladder_id
  WHERE r.id IN (SELECT value FROM json_each(?))
    AND coalesce(json_array_length(l.body, '$.steps'), json_array_length(r.body, '$.escalations')) > 0`;

function rulesWithLadder(reader: Reader, rules: readonly number[]): ReadonlySet<number> {
  const read = reader.sql<[ids: string], number>(WITH_LADDER).pluck();
  return new Set(read.all(JSON.stringify(rules)));
}

function urgencyOf({ state, silenced_by, pages }: GroupedAlert, hasLadder: boolean): number {
  if (state !== "open") return URGENCY.taken;
  if (silenced_by !== null) return URGENCY.silenced;
  return pages === 1 || hasLadder ? URGENCY.pages : URGENCY.pagesNobody;
}

interface Row extends GroupedAlert, FilteredRow {}

/** Without its texts, which may be long. */
function grouped({
  rule: _rule,
  template: _template,
  last_message: _message,
  identifiers: _identifiers,
  labels: _labels,
  varied: _varied,
  varied_more: _more,
  ...one
}: Row): GroupedAlert {
  return one;
}

/** As arrays: to make objects of ten thousand rows takes SQLite's binding longer than to read them. */
type Read = [
  ...[number, number, string, AlertState, number, string | null, number, string | null],
  ...[string, number, string, string, string, string | null, string | null, string | null],
];

const PLAIN =
  "id, rule_id, rule, state, level, silenced_by, opened_at, acked_by, template_id, page_accounts <> '[]'";

function rowOf(read: Read): Row {
  const [id, rule_id, rule, state, level, silenced_by, opened_at, acked_by, ...more] = read;
  const [template_id, pages, template, last_message, identifiers, labels, varied, varied_more] =
    more;
  return {
    id,
    rule_id,
    rule,
    state,
    level,
    silenced_by,
    opened_at,
    acked_by,
    template_id,
    pages,
    template,
    last_message,
    identifiers,
    labels,
    varied,
    varied_more,
    urgency: 0,
  };
}

/** Reads rows with what the query looks at. */
function reading(reader: Reader, query: AlertQuery, withLabels = false) {
  const columns = [
    PLAIN,
    readsTexts(query) ? TEXTS : NO_TEXTS,
    columnsOfLabels(withLabels || query.labels.length > 0),
  ];
  const from = `SELECT ${columns.join()} FROM alerts WHERE`;
  return (where: string, ...values: SqlValue[]): Row[] =>
    reader
      .sql<SqlValue[], Read>(`${from} ${where}`)
      .raw()
      .all(...values)
      .map(rowOf);
}

/** Unresolved alerts that the filter may let through, the newest of each state and project first. */
export function* slices(
  reader: Reader,
  filter: Omit<Matching, "states"> & { states: readonly AlertState[] },
  query: AlertQuery,
  { withLabels = false } = {},
): Generator<Row[]> {
  const { mine, rule, states } = filter;
  const projects = projectsOf(reader, filter, query);
  const read = reading(reader, query, withLabels);
  if (query.id !== null || mine !== undefined) {
    const ids =
      query.id === null
        ? ownIds(reader, filter, states)
        : [query.id].filter((id) => isOwn(reader, filter, id));
    const one = "id = ? AND project_id IN (SELECT value FROM json_each(?))";
    for (let at = 0; at < ids.length; at += SLICE)
      yield ids.slice(at, at + SLICE).flatMap((id) => read(one, id, JSON.stringify(projects)));
    return;
  }
  const ofRule = rule === undefined ? [] : [rule];
  const where = `project_id = ?${rule === undefined ? "" : " AND rule = ?"} AND state = ? AND id < ? ORDER BY id DESC LIMIT ${SLICE}`;
  for (const state of states)
    for (const project of projects)
      for (let before: number | undefined = Number.MAX_SAFE_INTEGER; before !== undefined; ) {
        const slice: Row[] = read(where, project, ...ofRule, state, before);
        yield slice;
        before = slice.length < SLICE ? undefined : slice.at(-1)?.id;
      }
}
