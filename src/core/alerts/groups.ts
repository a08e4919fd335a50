import { ServiceError } from "../../ground/kit/errors.ts";
import { othersFirst } from "../../ground/kit/slices.ts";
import type { SqlValue } from "../../ground/store/database.ts";
import type { Reader, Store } from "../../ground/store/store.ts";
import type { AlertState } from "./alert.ts";
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
import { whileUnchanged } from "./unchanged.ts";

/** Alerts by rule, all that match counted before a page is cut. */

/** What stands first where several things stand. */
const URGENCY = { pages: 0, pagesNobody: 1, taken: 2, silenced: 3 } as const;

/** An alert as far as groups look at it. */
export interface GroupedAlert {
  id: number;
  rule_id: number;
  state: AlertState;
  level: number;
  silenced_by: string | null;
  opened_at: number;
  acked_by: string | null;
  template_id: string;
  /** 1 where it paged somebody, or somebody was given it. */
  pages: number;
  /** Of `URGENCY`. */
  urgency: number;
}

/** A row of the list: one alert, or all of a rule that match, the most urgent first. */
export interface AlertGroup {
  /** One at least. */
  alerts: readonly GroupedAlert[];
  isGroup: boolean;
}

/** What is asked for; what is resolved is in no group. */
export interface Matching extends Omit<TriageFilter, "order" | "looked" | "after" | "limit"> {
  states: readonly ("open" | "acknowledged")[];
}

export interface GroupFilter extends Matching, Pick<TriageFilter, "after" | "limit"> {
  /** Whether the alerts of a rule of which so many match are one row. */
  isGroup(ruleId: number, count: number): boolean;
}

export interface GroupPage {
  groups: AlertGroup[];
  /** What to go on with; null at the end. */
  next: string | null;
  /** false: more match than one look takes, and the rest is in no count. */
  complete: boolean;
}

/** Milliseconds of work, and alerts, that one look may cost. */
const MOST = { ms: 250, looked: 100_000 };
/** Work between two turns of others. */
const TURN_MS = 8;
const SLICE = 1000;

/**
 * First what is open and pages somebody, then what pages nobody, what somebody has, and what is silenced; of each by level,
 * of a level single alerts before groups, then the newest. A group stands where the most urgent of its alerts would.
 */
export async function groupAlerts(store: Store, filter: GroupFilter): Promise<GroupPage> {
  const behind = filter.after === undefined ? null : placeOf(filter.after);
  const { ofRule, complete } = await matching(store, filter);
  const rows = [...ofRule].flatMap(([rule, of]) =>
    filter.isGroup(rule, of.length) ? [groupRow(of)] : of.map(aloneRow),
  );
  const rest = behind === null ? rows : rows.filter(({ place }) => inOrder(behind, place) < 0);
  rest.sort((a, b) => inOrder(a.place, b.place));
  const shown = rest.slice(0, filter.limit);
  const last = rest.length > shown.length ? shown.at(-1) : undefined;
  return {
    groups: shown.map(({ alerts, isGroup }) => ({ alerts: alerts.sort(byNeed), isGroup })),
    next: last === undefined ? null : last.place.join("."),
    complete,
  };
}

/** All that match, by rule. */
interface Matched {
  ofRule: ReadonlyMap<number, GroupedAlert[]>;
  complete: boolean;
}

const matched = whileUnchanged<Promise<Matched>>(4);

/** All that match, as urgent as their ladders make them now. */
export async function matching(store: Store, filter: Matching): Promise<Matched> {
  const { projectId, states, rule, minLevel, silenced, mine, q } = filter;
  const key = JSON.stringify([projectId, states, rule, minLevel, silenced, mine, q]);
  const all = await matched(store, key, () => lookUp(store, filter));
  for (const [rule, alerts] of all.ofRule) {
    const has = hasLadder(store, rule);
    for (const one of alerts) one.urgency = urgencyOf(one, has);
  }
  return all;
}

/** Others work in between; what moves on meanwhile is here once. */
async function lookUp(store: Store, filter: Matching): Promise<Matched> {
  const query = readAlertQuery(filter.q ?? "");
  const lets = letsThrough(filter, query);
  const { clock } = store;
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
      return { ofRule: byRule(), complete: false };
    if (turn < TURN_MS) continue;
    spent.ms += turn;
    await othersFirst();
    spent.since = clock.mono();
  }
  return { ofRule: byRule(), complete: true };
}

const HAS_LADDER = `SELECT coalesce(json_array_length(l.body, '$.steps'), json_array_length(r.body, '$.escalations')) > 0
  FROM rules r LEFT JOIN ladders l ON l.id = r.ladder_id WHERE r.id = ?`;

function hasLadder(reader: Reader, rule: number): boolean {
  return reader.sql<[id: number], number>(HAS_LADDER).pluck().get(rule) === 1;
}

function urgencyOf({ state, silenced_by, pages }: GroupedAlert, hasLadder: boolean): number {
  if (state !== "open") return URGENCY.taken;
  if (silenced_by !== null) return URGENCY.silenced;
  return pages === 1 || hasLadder ? URGENCY.pages : URGENCY.pagesNobody;
}

/** Most urgent first. */
type Place = readonly [urgency: number, level: number, isGroup: number, id: number];

interface PlacedRow {
  alerts: GroupedAlert[];
  isGroup: boolean;
  place: Place;
}

function aloneRow(one: GroupedAlert): PlacedRow {
  return { alerts: [one], isGroup: false, place: [one.urgency, one.level, 0, one.id] };
}

function groupRow(alerts: GroupedAlert[]): PlacedRow {
  const { urgency, level, id } = alerts.reduce((a, b) => (byNeed(b, a) < 0 ? b : a));
  return { alerts, isGroup: true, place: [urgency, level, 1, id] };
}

const inOrder = (a: Place, b: Place): number =>
  a[0] - b[0] || b[1] - a[1] || a[2] - b[2] || b[3] - a[3];

const byNeed = (a: GroupedAlert, b: GroupedAlert): number =>
  a.urgency - b.urgency || b.level - a.level || b.id - a.id;

function placeOf(cursor: string): Place {
  const found = /^([0-3])\.(\d{1,16})\.([01])\.(\d{1,16})$/.exec(cursor)?.slice(1).map(Number);
  if (found !== undefined) return found as unknown as Place;
  const reason = "is not the next of a page";
  throw new ServiceError("invalid_request", `/after: ${reason}`, {
    details: [{ field: "/after", reason }],
  });
}

interface Row extends GroupedAlert, FilteredRow {}

/** Without its texts, which may be long. */
function grouped(row: Row): GroupedAlert {
  const { id, rule_id, state, level, silenced_by, opened_at, acked_by, template_id, pages } = row;
  const urgency = URGENCY.pagesNobody;
  return {
    id,
    rule_id,
    state,
    level,
    silenced_by,
    opened_at,
    acked_by,
    template_id,
    pages,
    urgency,
  };
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

/** Unresolved alerts that the filter may let through, the newest of each state and project first. */
export function* slices(
  reader: Reader,
  filter: Omit<Matching, "states"> & { states: readonly AlertState[] },
  query: AlertQuery,
  { withLabels = false } = {},
): Generator<Row[]> {
  const { mine, rule, states } = filter;
  const projects = projectsOf(reader, filter, query);
  const columns = [
    PLAIN,
    readsTexts(query) ? TEXTS : NO_TEXTS,
    columnsOfLabels(withLabels || query.labels.length > 0),
  ];
  const from = `SELECT ${columns.join()} FROM alerts WHERE`;
  const read = (where: string, ...values: SqlValue[]): Row[] =>
    reader
      .sql<SqlValue[], Read>(`${from} ${where}`)
      .raw()
      .all(...values)
      .map(rowOf);
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
