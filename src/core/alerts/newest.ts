import type { SqlValue } from "../../ground/store/database.ts";
import type { Reader } from "../../ground/store/store.ts";
import type { AlertState } from "./alert.ts";

export interface NewestFilter {
  projectId?: number | undefined;
  /** Left out: all. */
  states?: readonly AlertState[] | undefined;
  rule?: string | undefined;
  /** Ids below this. */
  before?: number | undefined;
  limit: number;
}

/** Ids in falling order that one index holds together: what the filter asks for is one or more of these. */
interface Run {
  /** Ids below `before` and above `after`, falling, at most `limit`. */
  read(range: { before: number; after: number; limit: number }): number[];
}

const STATES: readonly AlertState[] = ["open", "acknowledged", "resolved"];

/**
 * The newest ids that the filter lets through. However rare they are, no others are read: each project,
 * state and rule has its ids in order in an index, and what is asked for is merged from those.
 */
export function newestIds(reader: Reader, filter: NewestFilter): number[] {
  const { before = Number.MAX_SAFE_INTEGER, limit } = filter;
  const runs = runsOf(reader, filter);
  const [only] = runs;
  if (runs.length === 1 && only !== undefined) return only.read({ before, after: -1, limit });
  const heads = runs
    .flatMap((run) => run.read({ before, after: -1, limit: 1 }).map((head) => ({ run, head })))
    .sort((a, b) => b.head - a.head);
  let newest: number[] = [];
  for (const { run, head } of heads) {
    // The rest begin below all that a page has room for.
    const after = newest.length === limit ? (newest.at(-1) ?? -1) : -1;
    if (head < after) break;
    const more = run.read({ before, after, limit });
    newest = [...newest, ...more].sort((a, b) => b - a).slice(0, limit);
  }
  return newest;
}

const END = "id < ? AND id > ? ORDER BY id DESC LIMIT ?";
const BY_RULE = `SELECT id FROM alerts WHERE project_id = ? AND rule = ? AND state = ? AND ${END}`;
const BY_STATE = `SELECT id FROM alerts WHERE project_id = ? AND state = ? AND ${END}`;
const BY_PROJECT = `SELECT id FROM alerts WHERE project_id = ? AND ${END}`;
const ALL = `SELECT id FROM alerts WHERE ${END}`;

function runsOf(reader: Reader, { projectId, states, rule }: NewestFilter): Run[] {
  const run = (sql: string, ...values: (string | number)[]): Run => ({
    read: ({ before, after, limit }) =>
      reader
        .sql<SqlValue[], number>(sql)
        .pluck()
        .all(...values, before, after, limit),
  });
  if (rule === undefined && states === undefined)
    return [projectId === undefined ? run(ALL) : run(BY_PROJECT, projectId)];
  const projects =
    projectId === undefined
      ? reader.sql<[], number>("SELECT id FROM projects").pluck().all()
      : [projectId];
  return projects.flatMap((project) =>
    (states ?? STATES).map((state) =>
      rule === undefined ? run(BY_STATE, project, state) : run(BY_RULE, project, rule, state),
    ),
  );
}
