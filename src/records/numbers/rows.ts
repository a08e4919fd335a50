import type { Reader, Tx } from "../../ground/store/store.ts";
import type { DayShare } from "./alert-facts.ts";
import { firstDayOf, monthOf } from "./days.ts";
import {
  addFigures,
  addWritten,
  type DayFigures,
  isNothing,
  noFigures,
  readFigures,
  writtenFigures,
} from "./figures.ts";

/** The rows of days and months: every fact stands in each sum that somebody may ask for. */

/** Of which thing a sum is. Of a rule: its id; a level; a person: the account's id; of all: "". */
export type SumOf = "all" | "rule" | "level" | "person";

interface Cell {
  by: SumOf;
  span: "day" | "month";
  at: number;
  /** 0: all projects. */
  projectId: number;
  key: string;
}

export type Sums = Map<string, { cell: Cell; figures: DayFigures }>;

/** All projects. */
export const EVERY_PROJECT = 0;

interface Place {
  projectId: number;
  ruleId: number;
  level: number;
}

/** Adds one day's figures to every sum that they belong to. */
export function cellsOf(
  sums: Sums,
  { projectId, ruleId, level }: Place,
  { day, account, figures }: DayShare,
  sign: 1 | -1,
): void {
  const of: [SumOf, number, string][] = [["rule", projectId, String(ruleId)]];
  for (const project of [EVERY_PROJECT, projectId]) {
    of.push(["all", project, ""], ["level", project, String(level)]);
    if (account !== null) of.push(["person", project, account]);
  }
  for (const [by, project, key] of of) {
    const cell = { by, projectId: project, key };
    add(sums, { ...cell, span: "day", at: day }, figures, sign);
    add(sums, { ...cell, span: "month", at: monthOf(day) }, figures, sign);
  }
}

function add(sums: Sums, cell: Cell, figures: DayFigures, sign: 1 | -1): void {
  const id = `${cell.by} ${cell.span} ${cell.at} ${cell.projectId} ${cell.key}`;
  const sum = sums.getOrInsertComputed(id, () => ({ cell, figures: noFigures() }));
  addFigures(sum.figures, figures, sign);
}

type Key = [by: string, span: string, at: number, projectId: number, key: string];

const ONE =
  "SELECT figures FROM number_days WHERE by = ? AND span = ? AND at = ? AND project_id = ? AND key = ?";
const KEEP = `INSERT INTO number_days (by, span, at, project_id, key, figures) VALUES (?, ?, ?, ?, ?, ?)
  ON CONFLICT DO UPDATE SET figures = excluded.figures`;

const PERSON = "SELECT 1 FROM accounts WHERE id = ?";

/** Adds these sums to the rows. Of a person who was removed there are none. */
export function keepCells(tx: Tx, sums: Sums): void {
  for (const { cell, figures } of sums.values()) {
    if (isNothing(figures)) continue;
    const { by, span, at, projectId, key } = cell;
    if (by === "person" && tx.sql<[string]>(PERSON).get(key) === undefined) continue;
    const kept = tx.sql<Key, string>(ONE).pluck().get(by, span, at, projectId, key);
    if (kept !== undefined) addFigures(figures, readFigures(kept));
    tx.sql<[...Key, string]>(KEEP).run(by, span, at, projectId, key, writtenFigures(figures));
  }
}

/** Which rows are read: of [from, to], days or months. */
export interface Wanted {
  by: SumOf;
  span: "day" | "month";
  from: number;
  to: number;
  /** 0: the sums of all; null: those of each. */
  projectId: number | null;
}

type Row = { at: number; projectId: number; key: string; figures: string };
const ROWS = "SELECT at, project_id AS projectId, key, figures FROM number_days";
const OF_EACH = `${ROWS} WHERE by = ? AND span = ? AND at BETWEEN ? AND ? AND project_id <> ?`;
/** Day by day: a span of days would be read with the rows of every other project. */
const OF_ONE = `${ROWS} WHERE by = ? AND span = ? AND at IN (SELECT value FROM json_each(?)) AND project_id = ?`;

/** The rows, and what was reckoned since. */
export function readRows(
  reader: Reader,
  sums: Sums,
  { by, span, from, to, projectId }: Wanted,
): { at: number; projectId: number; key: string; addTo(sum: DayFigures): void }[] {
  const isWanted = (project: number) =>
    projectId === null ? project !== EVERY_PROJECT : project === projectId;
  const all = Array.from({ length: Math.max(0, to - from + 1) }, (_, i) => from + i);
  const found =
    projectId === null
      ? reader
          .sql<[string, string, number, number, number], Row>(OF_EACH)
          .all(by, span, from, to, EVERY_PROJECT)
      : reader
          .sql<[string, string, string, number], Row>(OF_ONE)
          .all(by, span, JSON.stringify(all), projectId);
  const kept = found.map(({ figures, ...row }) => ({
    ...row,
    addTo: (sum: DayFigures) => addWritten(sum, figures),
  }));
  const since = [...sums.values()].flatMap(({ cell, figures }) =>
    cell.by === by &&
    cell.span === span &&
    cell.at >= from &&
    cell.at <= to &&
    isWanted(cell.projectId)
      ? [{ ...cell, addTo: (sum: DayFigures) => addFigures(sum, figures) }]
      : [],
  );
  return [...kept, ...since];
}

const OLD = `DELETE FROM number_days WHERE (by, span, at, project_id, key) IN
  (SELECT by, span, at, project_id, key FROM number_days WHERE by = ? AND span = ? AND at < ? LIMIT ?)`;
const OLD_DUTY = `DELETE FROM number_duty WHERE (day, project_id, account_id) IN
  (SELECT day, project_id, account_id FROM number_duty WHERE day < ? LIMIT ?)`;

const OLD_RINGS = "DELETE FROM number_people WHERE rang_at < ?";
/** A night that was broken is known for longer than it lasts. */
const RINGS_KEPT = 3 * 86_400;

/** Deletes months that ended before the month of `day`, with their days: what is kept of a month is all of it. */
export function sweepDays(tx: Tx, { day, most }: { day: number; most: number }): boolean {
  const month = monthOf(day);
  let gone = 0;
  for (const by of ["all", "rule", "level", "person"])
    for (const [span, at] of [
      ["day", firstDayOf(month)],
      ["month", month],
    ] as const)
      gone += tx.sql<[string, string, number, number]>(OLD).run(by, span, at, most).changes;
  tx.sql<[number]>(OLD_RINGS).run(tx.at - RINGS_KEPT);
  gone += tx.sql<[number, number]>(OLD_DUTY).run(firstDayOf(month), most).changes;
  return gone >= most;
}
