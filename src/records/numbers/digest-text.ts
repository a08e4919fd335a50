import type { Asking } from "../../core/oncall/answers.ts";
import { gridOnCall } from "../../core/oncall/grid.ts";
import type { GridAnswer } from "../../core/oncall/schedule.ts";
import { Zone } from "../../core/oncall/zone.ts";
import { cut } from "../../ground/kit/text.ts";
import { type ReaderClock, shortTime } from "../../ground/kit/wall-time.ts";
import { duration } from "../../out/outbox/message.ts";
import { listAccounts } from "../../people/accounts.ts";
import { tenantZone } from "../../people/reader-clock.ts";
import { dateText } from "./days.ts";
import { weeksToTell } from "./digest.ts";
import { numbersOf } from "./numbers.ts";
import type { NumbersRow } from "./shape.ts";

const WEEK = 7 * 86_400;
const MOST_RULES = 3;
const MOST_ADVICE = 3;
const MOST_SCHEDULES = 10;
const MOST_SHIFTS = 4;
const LONGEST = 300;

type Figure = readonly [name: string, of: (row: NumbersRow) => number, isAlwaysTold: boolean];

const FIGURES: readonly Figure[] = [
  ["Alerts", (row) => row.opened, true],
  ["Pages", (row) => row.pages, true],
  ["Interruptions", (row) => row.interruptions, true],
  ["At night", (row) => row.night_interruptions, true],
  ["Nights broken", (row) => row.nights_broken, true],
  ["Acknowledged", (row) => row.acknowledged, true],
  ["Ended by themselves", (row) => row.ended_by_themselves, false],
  ["Reached nobody", (row) => row.reached_nobody, false],
];

/**
 * What a digest says: the week before `at` against the four before it, its noisiest rules, what could be changed, and
 * who is on call in the next seven days. `clock`: whose times it says.
 */
export async function digestText(
  asking: Asking,
  { at, clock, advice }: { at: number; clock: ReaderClock; advice: readonly { text: string }[] },
) {
  const { reader } = asking;
  const weeks = weeksToTell(new Zone(tenantZone(reader)), at);
  const { from, last: since, to } = weeks;
  const whose = { now: at, viewer: "" };
  const byWeek = await numbersOf(asking, { from, to, by: "week", project: null }, whose);
  const byRule = await numbersOf(asking, { from: since, to, by: "rule", project: null }, whose);
  const grid = await gridOnCall(asking, { from: at, until: at + WEEK });
  const names = new Map(listAccounts(reader).map((one) => [one.id, one.display_name || one.email]));
  const row = (monday: number) => byWeek.rows.find(({ key }) => key === dateText(monday));
  const told = weeks.mondays.map(row);
  const last = told.at(-1);
  const monday = dateText(weeks.mondays.at(-1) ?? 0);
  const count = (n: number, what: string) => `${n} ${what}${n === 1 ? "" : "s"}`;
  return {
    title: `The week from ${monday}: ${count(last?.opened ?? 0, "alert")}, ${count(last?.pages ?? 0, "page")}`,
    lines: [
      ...figureLines(last, told.slice(0, -1)),
      ...noisiest(byRule.rows),
      ...advice.slice(0, MOST_ADVICE).map(({ text }) => `To change: ${text}`),
      ...shiftLines(grid, { clock, names, now: at }),
    ].map((line) => cut(line, LONGEST)),
  };
}

/** `Pages = 12 (before: 31 a week)`, in the four weeks before. */
function figureLines(
  last: NumbersRow | undefined,
  before: readonly (NumbersRow | undefined)[],
): string[] {
  const lines = FIGURES.flatMap(([name, of, isAlwaysTold]) => {
    const now = last === undefined ? 0 : of(last);
    const sum = before.reduce((all, row) => all + (row === undefined ? 0 : of(row)), 0);
    if (!isAlwaysTold && now === 0 && sum === 0) return [];
    return [`${name} = ${now} (before: ${Math.round((sum / before.length) * 10) / 10} a week)`];
  });
  const half = last?.opened_to_acknowledged_p50 ?? null;
  if (half !== null) lines.push(`Half acknowledged within = ${duration(half)}`);
  return [...lines, "Before: the average of the four weeks before."];
}

function noisiest(rules: readonly NumbersRow[]): string[] {
  const most = rules
    .filter(({ opened }) => opened > 0)
    .toSorted((a, b) => b.opened - a.opened || a.key.localeCompare(b.key))
    .slice(0, MOST_RULES);
  if (most.length === 0) return [];
  const told = most.map(({ name, opened, pages }) => `${name} (${opened}, ${pages} paged)`);
  return [`Most alerts: ${told.join(", ")}.`];
}

function shiftLines(
  { schedules, left_out }: GridAnswer,
  { clock, names, now }: { clock: ReaderClock; names: ReadonlyMap<string, string>; now: number },
): string[] {
  const time = (at: number) => shortTime(at, clock.zone, now);
  const lines = schedules
    .slice(0, MOST_SCHEDULES)
    .flatMap(({ project, schedule, shifts, gaps }) => {
      const turns = shifts.slice(0, MOST_SHIFTS).map(({ account_id, email, ends_at }, i) => {
        const isLast = i === shifts.length - 1;
        return `${names.get(account_id) ?? email}${isLast ? "" : ` until ${time(ends_at)}`}`;
      });
      const more = shifts.length - turns.length;
      const rest = more > 0 ? ` and ${more} more` : "";
      const gap = gaps
        .slice(0, MOST_SHIFTS)
        .map((one) => `${time(one.starts_at)} to ${time(one.ends_at)}`);
      return [
        ...(turns.length === 0
          ? []
          : [`On call for ${project} / ${schedule}: ${turns.join(", ")}${rest}.`]),
        ...(gap.length === 0
          ? []
          : [`Nobody on call for ${project} / ${schedule}: ${gap.join(", ")}.`]),
      ];
    });
  const unseen = schedules.length - MOST_SCHEDULES + left_out;
  return [
    ...lines,
    ...(unseen > 0 ? [`and ${unseen} more schedules`] : []),
    ...(lines.length > 0 && clock.label !== "" ? [`Times are those of${clock.label}.`] : []),
  ];
}
