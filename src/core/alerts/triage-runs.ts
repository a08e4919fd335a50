import { ServiceError } from "../../ground/kit/errors.ts";
import type { SqlValue } from "../../ground/store/database.ts";
import type { Reader } from "../../ground/store/store.ts";
import type { AlertRow, AlertState } from "./alert.ts";
import type { LabelColumns } from "./labels.ts";
import { newestIds } from "./newest.ts";
import type { AlertQuery, TriageFilter } from "./query.ts";

/** An alert as far as filters look at it. */
export type FilteredRow = LabelColumns &
  Pick<
    AlertRow,
    "id" | "state" | "rule" | "level" | "template" | "last_message" | "identifiers" | "silenced_by"
  >;

export interface TriageRow extends FilteredRow {
  /** Where it stands in its run: falling, of one rank by falling `tie`. */
  rank: number;
  tie: number;
  /** What goes on behind it. */
  cursor: string;
}

/** Alerts that one index holds in order. */
export interface Run {
  /** The next one; null at the end. */
  head(): TriageRow | null;
  /** Takes it. */
  take(): TriageRow;
}

/** Where a page goes on: its last alert. */
interface Place {
  rank: number;
  tie: number;
}

const START = { group: 0, rank: Number.MAX_SAFE_INTEGER, tie: Number.MAX_SAFE_INTEGER };
const GROUPS: readonly AlertState[] = ["open", "acknowledged", "resolved"];
const PLAIN = "id, state, rule, level, silenced_by, updated_seq";
/** Of a text so many characters are searched. */
const SAID = ["title", "substr(labels, 1, 4096)", "substr(varied, 1, 4096)"]
  .map((text) => ` || coalesce(char(10) || ${text}, '')`)
  .join("");
export const TEXTS = `substr(template, 1, 4096) AS template, substr(last_message, 1, 4096)${SAID} AS last_message, identifiers`;
/** Texts may be long, and are read where something in them is looked for. */
export const readsTexts = ({ words, keys }: AlertQuery): boolean => words.length + keys.length > 0;
export const NO_TEXTS = "'' AS template, '' AS last_message, '{}' AS identifiers";
/** As texts, where something in them is looked for. */
export const columnsOfLabels = (areRead: boolean): string =>
  areRead ? "labels, varied, varied_more" : "NULL AS labels, NULL AS varied, NULL AS varied_more";

/** What is in order, group by group: within a group the runs are to be merged. Throws 400 for a cursor that is none. */
export function runsOf(reader: Reader, filter: TriageFilter, query: AlertQuery): Run[][] {
  const from = filter.after === undefined ? START : placeOf(filter.after);
  const of: Of = {
    reader,
    filter,
    columns: [
      PLAIN,
      readsTexts(query) ? TEXTS : NO_TEXTS,
      columnsOfLabels(query.labels.length > 0),
    ].join(),
    projects: projectsOf(reader, filter, query),
  };
  const states = GROUPS.filter((state) => filter.states?.includes(state) ?? true);
  if (of.projects.length === 0) return [];
  if (query.id !== null)
    return [[listed(of, isOwn(reader, filter, query.id) ? [query.id] : [], { group: 0, from })]];
  if (filter.order === "newest") {
    if (filter.mine !== undefined)
      return [[listed(of, ownIds(reader, filter, states), { group: 0, from })]];
    const isAll = filter.projectId === undefined && query.project === null;
    return [(isAll ? [undefined] : of.projects).map((project) => newest(of, project, from))];
  }
  return GROUPS.flatMap((state, group) => {
    if (!states.includes(state) || group < from.group) return [];
    const at = { group, from: group === from.group ? from : START };
    const ids = filter.mine === undefined ? ofRule(of, state) : ownIds(reader, filter, [state]);
    if (ids !== null) return [[listed(of, ids, { ...at, byNeed: true })]];
    return [of.projects.map((project) => needed(of, state, { project, ...at }))];
  });
}

/** What runs are made of. */
interface Of {
  reader: Reader;
  filter: TriageFilter;
  columns: string;
  /** Their row ids. */
  projects: readonly number[];
}

function placeOf(cursor: string): Place & { group: number } {
  const [group, rank, tie] = /^([0-2])\.(\d{1,16})\.(\d{1,16})$/.exec(cursor)?.slice(1) ?? [];
  if (group === undefined) {
    const reason = "is not the next of a page";
    throw new ServiceError("invalid_request", `/after: ${reason}`, {
      details: [{ field: "/after", reason }],
    });
  }
  return { group: Number(group), rank: Number(rank), tie: Number(tie) };
}

export function projectsOf(
  reader: Reader,
  { projectId }: Pick<TriageFilter, "projectId">,
  { project }: AlertQuery,
): number[] {
  const all = reader
    .sql<[], { id: number; name: string }>("SELECT id, name FROM projects ORDER BY id")
    .all();
  return all
    .filter(({ id }) => projectId === undefined || id === projectId)
    .filter(({ name }) => project === null || name.toLowerCase() === project)
    .map(({ id }) => id);
}

type Row = Omit<TriageRow, "rank" | "tie" | "cursor"> & { updated_seq: number };

/** Reads more of a run, behind `from`. */
type Read = (from: Place, limit: number) => TriageRow[];

/** Slices that a run is read in: a small one first, since most runs of many are only looked at. */
const FIRST = 8;
const LARGEST = 512;

function lazily(read: Read, from: Place): Run {
  let [slice, i, size, isOver]: [TriageRow[], number, number, boolean] = [[], 0, FIRST, false];
  let behind = from;
  const head = () => {
    if (i < slice.length || isOver) return slice[i] ?? null;
    slice = read(behind, size);
    i = 0;
    isOver = slice.length < size;
    size = Math.min(LARGEST, size * 4);
    behind = slice.at(-1) ?? behind;
    return slice[0] ?? null;
  };
  return {
    head,
    take() {
      const taken = head();
      if (taken === null) throw new Error("a run that is over");
      i++;
      return taken;
    },
  };
}

const ordered = (row: Row, group: number, { rank, tie }: Pick<Place, "rank" | "tie">) => ({
  ...row,
  group,
  rank,
  tie,
  cursor: `${group}.${rank}.${tie}`,
});

const needOf = ({ state, level, id, updated_seq }: Row) =>
  state === "open" ? { rank: level, tie: id } : { rank: updated_seq, tie: 0 };

const CHANGED = `state <> 'open' AND updated_seq < :rank ORDER BY updated_seq DESC`;
const LEVELS = "(level, id) < (:rank, :tie) ORDER BY level DESC, id DESC";
/** Each has an index that holds its order. */
const BY_NEED: Readonly<Record<AlertState | "held", string>> = {
  open: `state = 'open' AND ${LEVELS}`,
  acknowledged: `state = 'acknowledged' AND ${CHANGED}`,
  resolved: `state = 'resolved' AND ${CHANGED}`,
  held: `silenced_by IS NOT NULL AND ${LEVELS}`,
};

function needed(
  { reader, columns, filter }: Of,
  state: AlertState,
  { project, group, from }: { project: number; group: number; from: Place },
): Run {
  const where = BY_NEED[filter.silenced === true && state === "open" ? "held" : state];
  const rows = reader.sql<[{ project: number; rank: number; tie: number; limit: number }], Row>(
    `SELECT ${columns} FROM alerts WHERE project_id = :project AND ${where} LIMIT :limit`,
  );
  const read: Read = ({ rank, tie }, limit) =>
    rows.all({ project, rank, tie, limit }).map((row) => ordered(row, group, needOf(row)));
  return lazily(read, from);
}

function newest(
  { reader, columns, filter: { states, rule } }: Of,
  projectId: number | undefined,
  from: Place,
): Run {
  const read: Read = ({ rank: before }, limit) =>
    rowsOf({ reader, columns }, newestIds(reader, { projectId, states, rule, before, limit })).map(
      (row) => ordered(row, 0, { rank: row.id, tie: 0 }),
    );
  return lazily(read, from);
}

function rowsOf(
  { reader, columns }: Pick<Of, "reader" | "columns">,
  ids: readonly number[],
): (Row & { project_id: number })[] {
  const one = reader.sql<[id: number], Row & { project_id: number }>(
    `SELECT ${columns}, project_id FROM alerts WHERE id = ?`,
  );
  return ids.map((id) => one.get(id)).filter((row) => row !== undefined);
}

/** Of one's own alerts the newest of each state are looked at. */
const MOST_OWN = 2000;
const OWN =
  "SELECT alert_id FROM alert_people WHERE account_id = ? AND state = ? ORDER BY alert_id DESC LIMIT ?";

export function ownIds(
  reader: Reader,
  { mine = "" }: Pick<TriageFilter, "mine">,
  states: readonly AlertState[],
): number[] {
  return states.flatMap((state) =>
    reader.sql<SqlValue[], number>(OWN).pluck().all(mine, state, MOST_OWN),
  );
}

const IS_OWN = "SELECT 1 FROM alert_people WHERE alert_id = ? AND account_id = ?";

export function isOwn(reader: Reader, { mine }: Pick<TriageFilter, "mine">, id: number): boolean {
  return mine === undefined || reader.sql<SqlValue[]>(IS_OWN).get(id, mine) !== undefined;
}

const MOST_OF_RULE = 1000;
const OF_RULE = "SELECT id FROM alerts WHERE project_id = ? AND rule = ? AND state = ? LIMIT ?";

/** All alerts of the rule that is asked for; null where they are too many to be put in order here, or none is. */
function ofRule({ reader, projects, filter: { rule } }: Of, state: AlertState): number[] | null {
  if (rule === undefined) return null;
  const ids = projects.flatMap((project) =>
    reader.sql<SqlValue[], number>(OF_RULE).pluck().all(project, rule, state, MOST_OF_RULE),
  );
  return ids.length < MOST_OF_RULE ? ids : null;
}

/** A run of alerts that are known by their ids, put in order here. */
function listed(
  of: Of,
  ids: readonly number[],
  { group, from, byNeed = false }: { group: number; from: Place; byNeed?: boolean },
): Run {
  const rows = rowsOf(of, ids)
    .filter(({ project_id }) => of.projects.includes(project_id))
    .map((row) => ordered(row, group, byNeed ? needOf(row) : { rank: row.id, tie: 0 }))
    .sort((a, b) => b.rank - a.rank || b.tie - a.tie)
    .filter(({ rank, tie }) => rank < from.rank || (rank === from.rank && tie < from.tie));
  return lazily(() => rows.splice(0, LARGEST), from);
}
