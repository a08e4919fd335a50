import type * as z from "zod";
import type { Asking } from "../../core/oncall/answers.ts";
import { Zone } from "../../core/oncall/zone.ts";
import type { Project } from "../../core/projects/projects.ts";
import { ServiceError } from "../../ground/kit/errors.ts";
import type { Reader } from "../../ground/store/store.ts";
import { getAccount } from "../../people/accounts.ts";
import { tenantZone } from "../../people/reader-clock.ts";
import { isManager } from "../../people/roles.ts";
import { beginOf, type Days, dateText, firstDayOf, localDay, mondayOf, monthOf } from "./days.ts";
import { type DutySeconds, dutiesKept, dutyOf } from "./duty.ts";
import { addFigures, type Counter, type DayFigures, noFigures, quantile } from "./figures.ts";
import { startReckoning } from "./reckon.ts";
import { cellsOf, EVERY_PROJECT, readRows, type SumOf, type Sums } from "./rows.ts";
import { readSettings } from "./settings.ts";
import type { NumbersAnswer, NumbersBy, NumbersRow, numbersQuery } from "./shape.ts";

/** DayFigures of a span of days, as somebody asks for them. */

/** Days that one answer may span. */
const MOST_DAYS = 800;
const USUAL_DAYS = 56;

export type NumbersQuery = Omit<z.output<typeof numbersQuery>, "project"> & {
  project: Project | null;
};

/** What a look at the rows has in hand. */
export type Looking = ReturnType<typeof startLooking>;

/** Slices of history that an answer reads on by itself; the job does the rest. */
const MOST_SLICES = 10;

/** The days asked for. Throws 400. */
export function daysOf(zone: Zone, now: number, asked: Pick<NumbersQuery, "from" | "to">): Days {
  const last = asked.to === undefined ? localDay(zone, now) : localDay(zone, asked.to - 1);
  const first =
    asked.from === undefined ? mondayOf(last - USUAL_DAYS + 7) : localDay(zone, asked.from);
  const fault = (field: string, reason: string) =>
    new ServiceError("invalid_request", `${field} ${reason}.`, {
      details: [{ field: `?${field}`, reason }],
    });
  if (last < first) throw fault("to", "must be later than from");
  if (last - first >= MOST_DAYS) throw fault("from", `must be at most ${MOST_DAYS} days before to`);
  return { from: first, to: last };
}

/** Reads on where the rows end, without writing. */
export function startLooking(
  reader: Reader,
  now: number,
  query: Pick<NumbersQuery, "from" | "to" | "project">,
) {
  const zone = new Zone(tenantZone(reader));
  const days = daysOf(zone, now, query);
  const reckoning = startReckoning(reader);
  let [more, slices] = [true, 0];
  for (; more && slices < MOST_SLICES; slices += 1) more = reckoning.more();
  addStanding(reader, reckoning.sums, zone, days);
  const projectId = query.project?.id ?? EVERY_PROJECT;
  return { reader, zone, days, projectId, reckoning, complete: !more };
}

/** Sums by key, of whole months where the days have them. */
export function sumsOf(looking: Looking, by: NumbersBy): Map<string, DayFigures> {
  const { reader, days, reckoning } = looking;
  const sums = new Map<string, DayFigures>();
  const isByTime = by === "day" || by === "week";
  const of: SumOf = isByTime || by === "project" ? "all" : by;
  const isEach = by === "project" || by === "rule";
  const projectId = isEach && looking.projectId === EVERY_PROJECT ? null : looking.projectId;
  for (const part of isByTime ? [{ span: "day" as const, ...days }] : monthsAnd(days))
    for (const row of readRows(reader, reckoning.sums, { by: of, projectId, ...part })) {
      const key = keyOf(by, row);
      const sum = sums.getOrInsertComputed(key, () => noFigures());
      row.addTo(sum);
    }
  return sums;
}

/** The figures of all of it. Throws 400. */
export function lookTotal(
  reader: Reader,
  now: number,
  query: Pick<NumbersQuery, "from" | "to" | "project">,
): DayFigures {
  const total = noFigures();
  for (const sum of sumsOf(startLooking(reader, now, query), "week").values())
    addFigures(total, sum);
  return total;
}

/** When the day begins that is so many days before the one that `to` (excluded) is the end of. */
export function daysBefore(reader: Reader, to: number, days: number): number {
  const zone = new Zone(tenantZone(reader));
  return beginOf(zone, localDay(zone, to - 1) - days);
}

function keyOf(by: NumbersBy, row: { at: number; projectId: number; key: string }): string {
  if (by === "day") return String(row.at);
  if (by === "week") return String(mondayOf(row.at));
  return by === "project" ? String(row.projectId) : row.key;
}

/** The months that lie in these days, and the days beside them. */
function monthsAnd({ from, to }: Days): { span: "day" | "month"; from: number; to: number }[] {
  const first = firstDayOf(monthOf(from)) === from ? monthOf(from) : monthOf(from) + 1;
  const last = monthOf(to + 1) - 1;
  if (last < first) return [{ span: "day", from, to }];
  return [
    { span: "day", from, to: firstDayOf(first) - 1 },
    { span: "month", from: first, to: last },
    { span: "day", from: firstDayOf(last + 1), to },
  ];
}

/**
 * The figures. `viewer`: whose eyes they are for: a member sees no other person's, unless the tenant's settings say so.
 * Throws 400.
 */
export async function numbersOf(
  asking: Asking,
  query: NumbersQuery,
  { now, viewer }: { now: number; viewer: string },
): Promise<NumbersAnswer> {
  const { reader } = asking;
  const looking = startLooking(reader, now, query);
  const { zone, days, complete } = looking;
  const duties = isOnDuty(query.by) ? await dutiesIn(asking, looking, { by: query.by, now }) : null;
  const sums = sumsOf(looking, query.by);
  const held = duties === null ? null : hoursOf(duties, query.by);
  const seen = mayRead(reader, viewer, query.by);
  const names = rowNames(reader, query.by);
  const keys = new Set([...timesOf(query.by, days), ...sums.keys(), ...(held?.keys() ?? [])]);
  const rows = [...keys].flatMap((id) => {
    const named = names(id);
    if (named === null || !seen(id)) return [];
    const of = held === null ? null : (held.get(id) ?? NO_HOURS);
    return [rowOf(named, sums.get(id) ?? noFigures(), of)];
  });
  return {
    from: beginOf(zone, days.from),
    to: beginOf(zone, days.to + 1),
    timezone: tenantZone(reader),
    by: query.by,
    rows: rows.sort(orders[query.by]),
    complete,
  };
}

/** A day or week in which nothing happened has a row as well. */
function timesOf(by: NumbersBy, { from, to }: Days): string[] {
  if (by !== "day" && by !== "week") return [];
  const step = by === "day" ? 1 : 7;
  const first = by === "day" ? from : mondayOf(from);
  return Array.from({ length: Math.floor((to - first) / step) + 1 }, (_, i) =>
    String(first + i * step),
  );
}

const isOnDuty = (by: NumbersBy): boolean => by !== "rule" && by !== "level";

/** Days that are over, and the one that runs. */
async function dutiesIn(
  asking: Asking,
  looking: Looking,
  { by, now }: { by: NumbersBy; now: number },
): Promise<DutySeconds[]> {
  const { zone, days } = looking;
  const today = localDay(zone, now);
  const isEach = by === "project" && looking.projectId === EVERY_PROJECT;
  const over = { from: days.from, to: Math.min(days.to, today - 1) };
  const kept = dutiesKept(looking.reader, over, {
    by: by === "person" ? "account_id" : by === "project" ? "project_id" : "day",
    projectId: isEach ? null : looking.projectId,
  });
  if (today < days.from || today > days.to) return kept;
  const running = (await dutyOf(asking, today, now)).filter(({ projectId }) =>
    isEach ? projectId !== EVERY_PROJECT : projectId === looking.projectId,
  );
  return [...kept, ...running];
}

interface Hours {
  seconds: number;
  night: number;
}

const NO_HOURS: Hours = { seconds: 0, night: 0 };

function hoursOf(duties: readonly DutySeconds[], by: NumbersBy): Map<string, Hours> {
  const hours = new Map<string, Hours>();
  for (const { day, account, projectId, seconds: all, night } of duties) {
    const key = by === "person" ? account : keyOf(by, { at: day, projectId, key: "" });
    const sum = hours.getOrInsertComputed(key, () => ({ ...NO_HOURS }));
    sum.seconds += all;
    sum.night += night;
  }
  return hours;
}

/** Whose figures this person may read. */
function mayRead(reader: Reader, viewer: string, by: NumbersBy): (key: string) => boolean {
  if (by !== "person" || readSettings(reader).numbers_open) return () => true;
  const sees = isManager(getAccount(reader, viewer).role);
  return (account) => sees || account === viewer;
}

const hoursFrom = (all: number): number => Math.round(all / 36) / 100;

function rowOf(
  named: { key: string; name: string },
  { counts, spans }: DayFigures,
  hours: Hours | null,
): NumbersRow {
  const { steps, ...sums } = counts;
  const at = (what: "opened_to_acknowledged" | "opened_to_resolved" | "told_to_shown") => ({
    [`${what}_p50`]: quantile(spans[what], 0.5),
    [`${what}_p90`]: quantile(spans[what], 0.9),
  });
  return {
    ...named,
    ...sums,
    steps_to_acknowledge:
      sums.acknowledged === 0 ? null : Math.round((steps / sums.acknowledged) * 10) / 10,
    on_call_hours: hours === null ? null : hoursFrom(hours.seconds),
    on_call_night_hours: hours === null ? null : hoursFrom(hours.night),
    ...at("opened_to_acknowledged"),
    ...at("opened_to_resolved"),
    ...at("told_to_shown"),
  } as NumbersRow;
}

const byKey = (a: NumbersRow, b: NumbersRow) => (a.key < b.key ? -1 : 1);
const most =
  (what: Counter & keyof NumbersRow) =>
  (a: NumbersRow, b: NumbersRow): number =>
    Number(b[what]) - Number(a[what]) || byKey(a, b);

/** Time from its begin, levels from the worst, people and rules as they weigh. */
const orders: Record<NumbersBy, (a: NumbersRow, b: NumbersRow) => number> = {
  day: byKey,
  week: byKey,
  level: (a, b) => Number(b.key) - Number(a.key),
  person: most("interruptions"),
  rule: most("opened"),
  project: most("opened"),
};

interface Named {
  key: string;
  name: string;
}

const PEOPLE =
  "SELECT id, id AS key, coalesce(nullif(display_name, ''), email) AS name FROM accounts";
const PROJECTS = "SELECT CAST(id AS TEXT) AS id, name AS key, name FROM projects";
const RULES = `SELECT CAST(r.id AS TEXT) AS id, p.name || '/' || r.name AS key, r.name FROM rules r
  JOIN projects p ON p.id = r.project_id`;

/** How rows are called, by what the sums are kept under; null: of who is gone, and of what, nothing is shown. */
function rowNames(reader: Reader, by: NumbersBy): (id: string) => Named | null {
  if (by === "day" || by === "week")
    return (id) => ({ key: dateText(Number(id)), name: dateText(Number(id)) });
  if (by === "level") return (id) => ({ key: id, name: id });
  const sql = { person: PEOPLE, project: PROJECTS, rule: RULES }[by];
  const known = new Map(
    reader
      .sql<[], Named & { id: string }>(sql)
      .all()
      .map(({ id, key, name }) => [id, { key, name }]),
  );
  if (by !== "rule") return (id) => known.get(id) ?? null;
  return (id) => known.get(id) ?? { key: `#${id}`, name: `a deleted rule (${id})` };
}

const STANDING = `SELECT a.project_id AS projectId, a.rule_id AS ruleId, a.opened_at AS openedAt, a.count AS events,
    coalesce((SELECT json_extract(t.detail, '$.level') FROM timeline t WHERE t.alert_id = a.id AND t.kind = 'opened'
      ORDER BY t.id LIMIT 1), a.level) AS level
  FROM alerts a WHERE a.state <> 'resolved' AND a.drill = 0 AND a.opened_at >= ? AND a.opened_at < ? LIMIT 20000`;

interface Standing {
  projectId: number;
  ruleId: number;
  level: number;
  openedAt: number;
  events: number;
}

/** Events of alerts that stand: their history says how many once they end. */
function addStanding(reader: Reader, sums: Sums, zone: Zone, { from, to }: Days): void {
  const rows = reader
    .sql<[number, number], Standing>(STANDING)
    .all(beginOf(zone, from), beginOf(zone, to + 1));
  for (const { openedAt, events, ...place } of rows) {
    const figures = noFigures();
    figures.counts.events = events;
    cellsOf(sums, place, { day: localDay(zone, openedAt), account: null, figures }, 1);
  }
}
