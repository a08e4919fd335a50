import { LRUCache } from "lru-cache";
import type { Reader, Tx } from "../../ground/store/store.ts";
import { matcherOf, type ReadySilence } from "./decide.ts";
import type { SilenceBody, SilenceRow } from "./silence.ts";
import { type Timing, windowAt } from "./windows.ts";

/** The rows of silences. */

/** Those that aren't over are at most so many (contract §21). */
export const MOST_SILENCES = 500;

/** What a body takes, by its text: it is asked for at every alert that opens. */
const ready = new LRUCache<
  string,
  Pick<ReadySilence, "kind" | "reason" | "takes" | "byLabels"> & Zoned
>({
  max: 4 * MOST_SILENCES,
});
interface Zoned {
  timezone: string;
}

const BEGUN = "SELECT * FROM silences WHERE over_at > ? AND starts_at <= ?";

/** Silences that have begun and aren't over, made ready; of repeating ones also those between two windows. */
export const begunSilences = (reader: Reader, at: number): ReadySilence[] =>
  silencesWithin(reader, { from: at, until: at });

/** Those that may hold at any time of these, both included. */
export function silencesWithin(
  reader: Reader,
  { from, until }: { from: number; until: number },
): ReadySilence[] {
  return reader
    .sql<[over: number, begun: number], SilenceRow>(BEGUN)
    .all(from, until)
    .map((row) => {
      const { timezone, ...body } = readyOf(row.body);
      return { id: row.id, projectId: row.project_id, ...body, timing: timingOf(row, timezone) };
    });
}

function readyOf(text: string) {
  let known = ready.get(text);
  if (known === undefined) {
    const body = JSON.parse(text) as SilenceBody;
    const { kind, reason, timezone, name } = body;
    known = {
      kind,
      timezone,
      takes: matcherOf(body),
      byLabels: body.labels !== undefined,
      reason: name === "" ? reason : `${name}: ${reason}`,
    };
    ready.set(text, known);
  }
  return known;
}

export function timingOf(row: SilenceRow, timezone: string): Timing {
  return {
    startsAt: row.starts_at,
    endsAt: row.ends_at,
    overAt: row.over_at,
    repeats: row.repeats,
    timezone,
  };
}

/** When, after `at`, one of them begins or ends next, Unix seconds; null: none does. */
export function nextTurnOfSilences(reader: Reader, at: number): number | null {
  const rows = reader
    .sql<[at: number], SilenceRow>("SELECT * FROM silences WHERE over_at > ?")
    .all(at);
  const turns = rows.flatMap((row) => {
    const window = windowAt(timingOf(row, readyOf(row.body).timezone), at);
    return window === null ? [] : [window.from > at ? window.from : window.until];
  });
  return turns.length === 0 ? null : Math.min(...turns);
}

const TO_TELL = `SELECT * FROM silences WHERE over_at <= ? AND json_extract(body, '$.tell_author') = 1
  ORDER BY over_at LIMIT 100`;

/** Those that ended by themselves, of whose end the author is still to be told. */
export function silencesToAnnounce(reader: Reader, at: number): SilenceRow[] {
  return reader.sql<[at: number], SilenceRow>(TO_TELL).all(at);
}

export function findSilence(reader: Reader, id: string): SilenceRow | null {
  return (
    reader.sql<[id: string], SilenceRow>("SELECT * FROM silences WHERE id = ?").get(id) ?? null
  );
}

/** Those that weren't over at `since`, the latest first, at most `most`. */
export function silencesSince(
  reader: Reader,
  { since, most }: { since: number; most: number },
): SilenceRow[] {
  return reader
    .sql<[since: number, most: number], SilenceRow>(
      "SELECT * FROM silences WHERE over_at > ? ORDER BY created_at DESC, id LIMIT ?",
    )
    .all(since, most);
}

/** A project's own that aren't over, oldest first. */
export function standingSilences(reader: Reader, projectId: number, at: number): SilenceRow[] {
  return reader
    .sql<[projectId: number, at: number], SilenceRow>(
      "SELECT * FROM silences WHERE project_id = ? AND over_at > ? ORDER BY created_at, id",
    )
    .all(projectId, at);
}

export function countStanding(reader: Reader, at: number): number {
  return (
    reader
      .sql<[at: number], number>("SELECT count(*) FROM silences WHERE over_at > ?")
      .pluck()
      .get(at) ?? 0
  );
}

const INSERT = `INSERT INTO silences (id, project_id, repeats, starts_at, ends_at, over_at, body, created_by, created_at)
  VALUES (@id, @project_id, @repeats, @starts_at, @ends_at, @over_at, @body, @created_by, @created_at)`;
const WRITE =
  "UPDATE silences SET ends_at = @ends_at, over_at = @over_at, body = @body WHERE id = @id";

export function insertSilence(tx: Tx, row: SilenceRow): void {
  tx.sql<[SilenceRow]>(INSERT).run(row);
  tx.note({ topic: "silences" });
}

export function writeSilence(tx: Tx, row: SilenceRow): void {
  tx.sql<[SilenceRow]>(WRITE).run(row);
  tx.note({ topic: "silences" });
}

/** A source or a rule has another name now: silences of its project that aren't over go on taking its alerts. */
export function renameInSilences(
  tx: Tx,
  projectId: number,
  { kind, from, to }: { kind: "source" | "rule"; from: string; to: string },
): void {
  for (const row of standingSilences(tx, projectId, tx.at)) {
    const body = JSON.parse(row.body) as SilenceBody;
    const { sources, rule } = body.match;
    const match =
      kind === "rule"
        ? { ...body.match, rule: rule === from ? to : rule }
        : { ...body.match, sources: sources.map((one) => (one === from ? to : one)) };
    const renamed = JSON.stringify({ ...body, match });
    if (renamed !== row.body) writeSilence(tx, { ...row, body: renamed });
  }
}

export function dropSilence(tx: Tx, id: string): void {
  tx.sql<[id: string]>("DELETE FROM silences WHERE id = ?").run(id);
  tx.note({ topic: "silences" });
}

const SHIFT = `UPDATE silences SET starts_at = starts_at + :by, ends_at = ends_at + :by, over_at = over_at + :by
  WHERE repeats = 'none' AND starts_at <= :before AND over_at > min(:before, :at)`;
const STAYS_OVER = `UPDATE silences SET over_at = over_at + :by
  WHERE repeats <> 'none' AND over_at <= :before AND over_at > :at`;

/**
 * Moves a silence that has begun by a jump of the clock: it lasts as long as was meant. One that is planned, or comes
 * again, begins when the clocks say so; one that is over stays so.
 */
export function shiftSilences(tx: Tx, { seconds, at }: { seconds: number; at: number }): void {
  const jump = { by: seconds, before: at - seconds, at };
  tx.sql<[typeof jump]>(SHIFT).run(jump);
  tx.sql<[typeof jump]>(STAYS_OVER).run(jump);
  tx.note({ topic: "silences" });
}

const SWEEP = `DELETE FROM silences WHERE id IN (SELECT id FROM silences WHERE over_at < ? LIMIT ?)`;

/** Deletes silences that were over before `before`. Whether there may be more. */
export function sweepSilences(tx: Tx, { before, most }: { before: number; most: number }): boolean {
  return tx.sql<[before: number, most: number]>(SWEEP).run(before, most).changes === most;
}

/** A silence of everything that holds now: where, why and until when. */
export interface QuietProject {
  id: string;
  /** null = every project. */
  project: string | null;
  reason: string;
  until: number;
}

const NAME = "SELECT name FROM projects WHERE id = ?";

/** Silences that cover a whole project, or all of them, and hold now. */
export function quietProjects(reader: Reader, at: number): QuietProject[] {
  return reader
    .sql<[at: number, at: number], SilenceRow>(
      `${BEGUN} AND json_extract(body, '$.all') = 1 ORDER BY id`,
    )
    .all(at, at)
    .flatMap((row) => {
      const { timezone, reason } = JSON.parse(row.body) as SilenceBody;
      const window = windowAt(timingOf(row, timezone), at);
      if (window === null || window.from > at) return [];
      const project =
        row.project_id === null
          ? null
          : (reader.sql<[id: number], string>(NAME).pluck().get(row.project_id) ?? null);
      return [{ id: row.id, project, reason, until: window.until }];
    });
}
