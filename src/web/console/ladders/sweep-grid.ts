import {
  type SweepCells,
  sweepWrite,
  type VerdictLevel,
} from "../../../core/alerts/simulate/shape.ts";
import { verdictParts } from "../../../core/alerts/simulate/verdict.ts";
import { sweep } from "../../../core/alerts/simulate.ts";
import { html, type Markup } from "../../../ground/kit/html.ts";
import { dated, wallTime } from "../../../ground/kit/wall-time.ts";
import type { PageCall } from "../screen.ts";
import { icon } from "../ui/icon.ts";
import { counted } from "../ui/pieces.ts";
import { clockIn } from "./clock-in.ts";
import { type LadderQuestion, questionAddress, ruleAsked } from "./question.ts";

const [WEEK, TWO_WEEKS] = [7, 14];

/** The verdict of each hour of a week, or of two: how a rota is checked before a holiday. */
export async function sweepGrid(call: PageCall, question: LadderQuestion): Promise<Markup> {
  const { base, now, tenant } = call;
  const { project, rule, level, silent, zone, isSwept } = question;
  const from = dated(wallTime(now, zone).slice(0, 10), zone) ?? now;
  const asked = sweepWrite.parse({
    rule: rule.name,
    from,
    days: isSwept ? TWO_WEEKS : WEEK,
    silent: [...silent],
    ...(level === null ? {} : { level }),
  });
  const { cells } = await tenant.slices.run(
    sweep(tenant.store, {
      projectId: project.id,
      input: { ...asked, rule: ruleAsked(question) },
      now,
    }),
  );
  const placed = placedCells(cells, zone);
  const other = html`<a href="${base}${questionAddress(question, { isSwept: !isSwept })}#sweep">${isSwept ? "One week" : "Two weeks"}</a>`;
  return html`<div class="card-head"><h2>Every hour of ${isSwept ? "two weeks" : "this week"}</h2>${other}</div>
<p>${summary(cells)}</p>
${grid(placed, summary(cells))}
${legend}
${asList(call, question, placed)}
${asTable(call, question, placed)}`;
}

interface Placed {
  at: number;
  /** `2026-11-22` on the clocks of the rota. */
  day: string;
  hour: number;
  verdict: VerdictLevel;
  why: string;
}

function placedCells(cells: SweepCells["cells"], zone: string): Placed[] {
  return cells.map((cell) => {
    const wall = wallTime(cell.at, zone);
    return { ...cell, day: wall.slice(0, 10), hour: Number(wall.slice(11, 13)) };
  });
}

function summary(cells: SweepCells["cells"]): string {
  const count = (level: VerdictLevel) => cells.filter(({ verdict }) => verdict === level).length;
  const [bad, weak] = [count("error"), count("warn")];
  if (bad === 0 && weak === 0) return "Good in every hour.";
  const parts = [
    ...(bad > 0 ? [`bad in ${counted(bad, "hour")}`] : []),
    ...(weak > 0 ? [`weak in ${counted(weak, "hour")}`] : []),
  ].join(", ");
  return `${parts[0]?.toUpperCase()}${parts.slice(1)}, of ${cells.length}.`;
}

/** Of a square, in units of the drawing. */
const [CELL, LEFT, BELOW] = [14, 76, 16];

const dayName = new Intl.DateTimeFormat("en-GB", {
  weekday: "short",
  day: "numeric",
  month: "short",
  timeZone: "UTC",
});
const nameOfDay = (day: string): string =>
  dayName.format(new Date(`${day}T00:00:00Z`)).replace(",", "");

const NAME: Readonly<Record<VerdictLevel, string>> = { good: "good", warn: "weak", error: "bad" };

/** Told apart by shape: a cross is bad, a bar is weak, nothing is good. */
const SHAPE: Readonly<Record<VerdictLevel, string>> = {
  good: "",
  warn: "M3.5 6.5h6",
  error: "M4 4l5 5M9 4l-5 5",
};

const square = (verdict: VerdictLevel, said: Markup | null = null) =>
  html`${said}<rect width="13" height="13" rx="2.5"/>${SHAPE[verdict] !== "" && html`<path class="sweep-mark" d="${SHAPE[verdict]}"/>`}`;

function grid(cells: readonly Placed[], said: string): Markup {
  const days = [...new Set(cells.map(({ day }) => day))];
  const rows = new Map(days.map((day, i) => [day, i]));
  const height = days.length * CELL + BELOW;
  return html`<svg class="plot sweep" viewBox="0 0 ${LEFT + 24 * CELL} ${height}" role="img" aria-label="Verdict by day and hour. ${said}">${days.map(
    (day, i) => html`<text class="plot-label" x="0" y="${i * CELL + 11}">${nameOfDay(day)}</text>`,
  )}${cells.map(({ day, hour, verdict, why }) => {
    const place = `translate(${LEFT + hour * CELL} ${(rows.get(day) ?? 0) * CELL})`;
    const title = html`<title>${nameOfDay(day)} ${hour}:00, ${NAME[verdict]}: ${why}</title>`;
    return html`<g class="sweep-${verdict}" transform="${place}">${square(verdict, verdict === "good" ? null : title)}</g>`;
  })}${[0, 6, 12, 18].map((hour) => html`<text class="plot-label" x="${LEFT + hour * CELL}" y="${height - 3}">${hour}:00</text>`)}</svg>`;
}

const legend = html`<ul class="legend small soft">${(["good", "warn", "error"] as const).map(
  (verdict) =>
    html`<li><svg class="plot sweep-key sweep-${verdict}" viewBox="0 0 13 13" aria-hidden="true">${square(verdict)}</svg> ${NAME[verdict]}</li>`,
)}</ul>`;

/** Without who is rung first. */
const causeOf = ({ why }: Placed) => verdictParts(why).cause;

const MOST_LISTED = 12;
const HOUR = 3600;

/** Hours in turn that are as bad for the same reason, each with the way to its first. */
function asList(call: PageCall, question: LadderQuestion, cells: readonly Placed[]): Markup {
  const spans: { first: Placed; last: Placed }[] = [];
  for (const cell of cells) {
    const { first, last } = spans.at(-1) ?? {};
    const isNext = last !== undefined && last.at + HOUR === cell.at;
    if (isNext && first?.verdict === cell.verdict && causeOf(first) === causeOf(cell))
      spans[spans.length - 1] = { first, last: cell };
    else if (cell.verdict !== "good") spans.push({ first: cell, last: cell });
  }
  if (spans.length === 0) return html``;
  const { base } = call;
  const more = spans.length - MOST_LISTED;
  return html`<ul class="list" id="sweep-list">${spans
    .slice(0, MOST_LISTED)
    .map(({ first, last }) => {
      const { verdict, at } = first;
      return html`<li><a href="${base}${questionAddress(question, { at })}"><span><b>${clockIn(at, question.zone)} – ${clockIn(last.at + HOUR, question.zone, at)}</b> <span class="soft">${NAME[verdict]}: ${causeOf(first)}</span></span>${icon("next", "small")}</a></li>`;
    })}</ul>${more > 0 && html`<p class="soft small">and ${more} more, in the table</p>`}`;
}

/** The same for whoever doesn't see the grid. */
function asTable(call: PageCall, question: LadderQuestion, cells: readonly Placed[]): Markup {
  const days = [...new Set(cells.map(({ day }) => day))];
  const hours = Array.from({ length: 24 }, (_, hour) => hour);
  const cellsAt = (day: string, hour: number) =>
    cells.filter((cell) => cell.day === day && cell.hour === hour);
  return html`<details id="sweep-table"><summary>As a table</summary><div class="table-wrap"><table class="table"><thead><tr><th scope="col">Day</th>${hours.map(
    (hour) => html`<th scope="col">${hour}</th>`,
  )}</tr></thead><tbody>${days.map(
    (day) =>
      html`<tr><th scope="row">${nameOfDay(day)}</th>${hours.map(
        (hour) =>
          html`<td>${cellsAt(day, hour).map(({ at, verdict }) =>
            verdict === "good"
              ? "good"
              : html`<a href="${call.base}${questionAddress(question, { at })}">${NAME[verdict]}</a>`,
          )}</td>`,
      )}</tr>`,
  )}</tbody></table></div></details>`;
}
