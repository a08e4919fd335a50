import { UNWRITTEN_SECONDS } from "../../core/projects/missing.ts";
import { LEARNING_SECONDS } from "../../core/projects/rule-actions.ts";
import type { Reader, Tx } from "../../ground/store/store.ts";

/** When templates come, and what counts as new. Times are Unix seconds. */

const DAY = 86_400;

/** The latest time that a template came after a day or more without it, all its shapes together. */
export interface Sight {
  since: number;
  /** Seconds of pause before: Infinity where it never came; 0 where it came while its source was learning. */
  after: number;
}

/** With the source that it came from. */
interface SightFrom extends Sight {
  sourceId: number;
}

/**
 * Whether an event counts as new to a rule that asks for it: its template wasn't heard of for the rule's days and a minute until
 * `since`, which is less than the rule's window ago, at most a day.
 */
export function isNewTo(
  rule: { firstSeenSeconds: number; windowSeconds: number },
  { since, after }: Sight,
  at: number,
): boolean {
  return isLongFor(rule, after) && at >= since && at - since < Math.min(rule.windowSeconds, DAY);
}

/** Whether something was silent for so long that it counts as new to the rule. */
export function isLongFor(rule: { firstSeenSeconds: number }, after: number): boolean {
  return after >= rule.firstSeenSeconds + UNWRITTEN_SECONDS;
}

export function isLearning(heardSince: number | null, at: number): boolean {
  return heardSince !== null && at - heardSince < LEARNING_SECONDS;
}

interface Heard extends Sight {
  lastAt: number;
}

/** When the templates of a project came. */
export type HeardBook = ReturnType<typeof readHeard>;

const LAST = `SELECT t.id, c.last_seen AS lastAt FROM templates t
  LEFT JOIN template_counts c ON c.project_id = t.project_id AND c.id = t.id WHERE t.project_id = ?`;
const LATELY =
  "SELECT id, at, after, learning FROM template_returns WHERE at > ? AND project_id = ?";
const SOURCES = "SELECT id, heard_since AS since FROM sources WHERE project_id = ?";
const DOWN = "SELECT until, seconds FROM downtimes";

interface StoredReturn {
  id: string;
  at: number;
  after: number | null;
  learning: number;
}

function sightOf({ at, after, learning }: StoredReturn): Sight {
  return { since: at, after: learning === 1 ? 0 : (after ?? Infinity) };
}

/** When the box was off. */
export type Downtimes = ReturnType<typeof readDowntimes>;

export function readDowntimes(reader: Reader) {
  const downs = reader.sql<[], { until: number; seconds: number }>(DOWN).all();
  const sum = (some: typeof downs) => some.reduce((all, { seconds }) => all + seconds, 0);
  const setBack = downs.filter(({ seconds }) => seconds === 0).map(({ until }) => until);
  const begun = (last: number, at: number) => Math.max(last, ...setBack.filter((one) => one <= at));
  /** Seconds between the two in which it ran. */
  const without = (from: number, at: number) =>
    at - from - sum(downs.filter(({ until }) => until > from && until <= at));
  return {
    without,
    /** Seconds in which it ran since something was heard `last`; since its clock was set back, if that was later. */
    pause: (last: number, at: number) => without(begun(last, at), at),
    /** When that pause has lasted so long. */
    pausedFor(last: number, seconds: number, at: number): number {
      const from = begun(last, at);
      const after = downs.filter(({ until }) => until > from);
      return after
        .toSorted((a, b) => a.until - b.until)
        .reduce(
          (due, down) => (down.until - down.seconds < due ? due + down.seconds : due),
          from + seconds,
        );
    },
    /** Seconds in which it was off, of stretches that touch the span. */
    within: (from: number, end: number) =>
      sum(downs.filter(({ until, seconds }) => until > from && until - seconds < end)),
  };
}

/** Reads a project's book. A template that was never counted counts as heard `now`. */
export function readHeard(
  reader: Reader,
  projectId: number,
  { rootOf, now }: { rootOf(id: string): string; now: number },
) {
  const byRoot = new Map<string, Heard>();
  const join = (root: string, more: Heard) => {
    const heard = byRoot.get(root);
    if (heard === undefined) {
      byRoot.set(root, more);
      return;
    }
    heard.lastAt = Math.max(heard.lastAt, more.lastAt);
    if (more.since > heard.since) Object.assign(heard, { since: more.since, after: more.after });
  };
  const rows = reader.sql<[project: number], { id: string; lastAt: number | null }>(LAST);
  for (const { id, lastAt } of rows.all(projectId))
    join(rootOf(id), { lastAt: lastAt ?? now, since: Number.NEGATIVE_INFINITY, after: 0 });
  const lately = reader.sql<[since: number, project: number], StoredReturn>(LATELY);
  for (const row of lately.all(now - DAY, projectId))
    join(rootOf(row.id), { lastAt: row.at, ...sightOf(row) });
  const sources = heardSince(reader, projectId);
  const downs = readDowntimes(reader);
  /** Pause since then, without the time in which the box was off. */
  const pause = (from: number, at: number) => (at - from < DAY ? 0 : downs.without(from, at));
  return {
    /** Notes an event of a template (a root), from a source that learns or not. `isReturn`: it hadn't come for a day or longer. */
    hear(
      root: string,
      { at, isLearning: learns }: { at: number; isLearning: boolean },
    ): Sight & { isReturn: boolean } {
      const heard = byRoot.get(root);
      const after = heard === undefined ? Infinity : pause(heard.lastAt, at);
      const isReturn = after >= DAY;
      if (heard !== undefined && !isReturn) {
        heard.lastAt = at;
        return { since: heard.since, after: heard.after, isReturn };
      }
      byRoot.set(root, { lastAt: at, since: at, after: learns ? 0 : after });
      return { since: at, after, isReturn };
    },
    /** The younger template is part of the older now. */
    merge(younger: string, older: string) {
      const heard = byRoot.get(younger);
      byRoot.delete(younger);
      if (heard !== undefined) join(older, heard);
    },
    forget: (root: string) => void byRoot.delete(root),
    /** Since when the source is heard; null: not yet. */
    since: (sourceId: number) => sources.get(sourceId) ?? null,
    /** The source's first event came. */
    begin: (sourceId: number, at: number) => void sources.set(sourceId, at),
  };
}

/** Since when the project's sources are heard, by id; those that weren't yet are missing. */
export function heardSince(reader: Reader, projectId: number): Map<number, number> {
  const rows = reader.sql<[project: number], { id: number; since: number | null }>(SOURCES);
  return new Map(
    rows.all(projectId).flatMap(({ id, since }) => (since === null ? [] : [[id, since] as const])),
  );
}

const BEGIN = "UPDATE sources SET heard_since = ? WHERE id = ? AND heard_since IS NULL";
const RETURN = `INSERT INTO template_returns (project_id, id, at, after, learning, source_id) VALUES (?, ?, ?, ?, ?, ?)
  ON CONFLICT DO NOTHING`;

/** What is known of an event's template and source, for rules that ask for new ones. */
export interface Novelty extends Sight {
  isLearning: boolean;
}

/** Notes an event, in its own transaction. */
export function hearEvent(
  tx: Tx,
  book: HeardBook,
  { source, root }: { source: { id: number; projectId: number }; root: string },
): Novelty {
  let begun = book.since(source.id);
  if (begun === null) {
    begun = tx.at;
    book.begin(source.id, begun);
    tx.sql<[at: number, id: number]>(BEGIN).run(begun, source.id);
  }
  const learns = isLearning(begun, tx.at);
  const { since, after, isReturn } = book.hear(root, { at: tx.at, isLearning: learns });
  if (isReturn) {
    const silent = after === Infinity ? null : after;
    tx.sql<[number, string, number, number | null, number, number]>(RETURN).run(
      source.projectId,
      root,
      tx.at,
      silent,
      learns ? 1 : 0,
      source.id,
    );
  }
  return { since, after, isLearning: learns };
}

const RETURNS =
  "SELECT id, at, after, learning, source_id AS sourceId FROM template_returns WHERE project_id = ? ORDER BY at";

/** The returns of a project's templates in the last weeks, by the root that each has now, the oldest first. */
export function returnsByRoot(
  reader: Reader,
  projectId: number,
  rootOf: (id: string) => string,
): Map<string, SightFrom[]> {
  type Row = StoredReturn & { sourceId: number };
  const rows = reader.sql<[project: number], Row>(RETURNS).all(projectId);
  const byRoot = Map.groupBy(rows, ({ id }) => rootOf(id));
  const sightFrom = (row: Row) => ({ ...sightOf(row), sourceId: row.sourceId });
  return new Map([...byRoot].map(([root, all]) => [root, all.map(sightFrom)]));
}

const LONGER = `UPDATE downtimes SET until = :until, seconds = seconds + :seconds
  WHERE until = :until - :seconds AND seconds > 0`;
/** A shorter time without the box is no pause that anybody asks for. */
const SHORTEST_DOWN = 60;

/**
 * The box was off or took nothing, or its clock jumped ahead, by so many seconds: no template was silent then. Of a clock that
 * was set back only the time is kept.
 */
export function noteDowntime(tx: Tx, { until, seconds }: { until: number; seconds: number }): void {
  if (Math.abs(seconds) < SHORTEST_DOWN) return;
  const down = { until, seconds: Math.max(0, seconds) };
  // What follows on another is one with it: events may be refused for days.
  if (down.seconds === 0 || tx.sql<[typeof down]>(LONGER).run(down).changes === 0)
    tx.sql<[typeof down]>("INSERT INTO downtimes (until, seconds) VALUES (:until, :seconds)").run(
      down,
    );
  tx.note({ topic: "downtime" });
}

const KEPT_SECONDS = 35 * DAY;
/** As long as the longest pause that a rule can ask for. */
const DOWN_KEPT_SECONDS = 100 * DAY;
const OLD_RETURNS = `DELETE FROM template_returns WHERE (project_id, id, at) IN
  (SELECT project_id, id, at FROM template_returns WHERE at < ? ORDER BY at LIMIT ?)`;

/** Deletes returns of more than five weeks ago, a few at a time. Returns whether there may be more. */
export function sweepReturns(tx: Tx, most: number): boolean {
  tx.sql<[before: number]>("DELETE FROM downtimes WHERE until < ?").run(tx.at - DOWN_KEPT_SECONDS);
  const old = tx.sql<[before: number, most: number]>(OLD_RETURNS);
  return old.run(tx.at - KEPT_SECONDS, most).changes === most;
}
