import {
  type SweepCells,
  sweepWrite,
  type VerdictLevel,
} from "../../../core/alerts/simulate/shape.ts";
import { sweep } from "../../../core/alerts/simulate.ts";
import { html, type Markup } from "../../../ground/kit/html.ts";
import { dated, wallTime } from "../../../ground/kit/wall-time.ts";
import type { PageCall } from "../screen.ts";
import { counted } from "../ui/pieces.ts";
import { type LadderQuestion, questionAddress, ruleAsked } from "./question.ts";

const DAYS = 14;

/** The verdict of each hour of a fortnight: how a rota is checked before a holiday. Asked for by its own link. */
export async function sweepGrid(call: PageCall, question: LadderQuestion): Promise<Markup> {
  const { base, now, tenant } = call;
  if (!question.isSwept)
    return html`<h2>Each hour of two weeks</h2><a class="button second" href="${base}${questionAddress(question, { isSwept: true })}#sweep">Check every hour of 14 days</a>`;
  const { project, rule, level, silent, zone } = question;
  const from = dated(wallTime(now, zone).slice(0, 10), zone) ?? now;
  const asked = sweepWrite.parse({
    rule: rule.name,
    from,
    days: DAYS,
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
  return html`<h2>Each hour of two weeks</h2>
<p>${summary(cells)}</p>
${grid(call, question, placed)}
${legend}
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
  return `${parts[0]?.toUpperCase()}${parts.slice(1)}, of ${cells.length}. Such a cell leads to its time.`;
}

const CELL = 26;
const LEFT = 76;
const TOP = 18;

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
const SHAPE: Readonly<Record<VerdictLevel, Markup>> = {
  good: html``,
  warn: html`<path class="sweep-mark" d="M7 12h10"/>`,
  error: html`<path class="sweep-mark" d="M7 7l10 10M17 7l-10 10"/>`,
};

function grid(call: PageCall, question: LadderQuestion, cells: readonly Placed[]): Markup {
  const days = [...new Set(cells.map(({ day }) => day))];
  const rows = new Map(days.map((day, i) => [day, i]));
  const height = TOP + days.length * CELL;
  return html`<div class="table-wrap"><svg class="plot sweep" viewBox="0 0 ${LEFT + 24 * CELL} ${height}" width="${LEFT + 24 * CELL}" height="${height}" role="group" aria-label="Verdict by day and hour">${Array.from(
    { length: 8 },
    (_, i) => html`<text class="plot-label" x="${LEFT + i * 3 * CELL + 4}" y="12">${i * 3}</text>`,
  )}${days.map(
    (day, i) =>
      html`<text class="plot-label" x="0" y="${TOP + i * CELL + 17}">${nameOfDay(day)}</text>`,
  )}${cells.map(({ at, day, hour, verdict, why }) => {
    const place = `translate(${LEFT + hour * CELL} ${TOP + (rows.get(day) ?? 0) * CELL})`;
    const said = `${nameOfDay(day)} ${hour}:00, ${NAME[verdict]}: ${why}`;
    const drawn = html`<g class="sweep-${verdict}" transform="${place}"><title>${said}</title><rect x="1" y="1" width="24" height="24" rx="3"/>${SHAPE[verdict]}</g>`;
    if (verdict === "good") return drawn;
    return html`<a href="${call.base}${questionAddress(question, { at })}" aria-label="${said}">${drawn}</a>`;
  })}</svg></div>`;
}

const legend = html`<p class="soft small">Plain: good. A bar: weak. A cross: bad. Rows are days, columns hours.</p>`;

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
