import { gridOnCall } from "../../../core/oncall/grid.ts";
import type { GridAnswer } from "../../../core/oncall/schedule.ts";
import { html, type Markup } from "../../../ground/kit/html.ts";
import type { PageCall } from "../screen.ts";
import { calendarPlot } from "../ui/calendar-plot.ts";
import { blocksOf, type CalendarRow } from "../ui/calendar-rows.ts";
import { keyed } from "../ui/form.ts";
import { icon } from "../ui/icon.ts";
import { askedRange, type CalendarRange, dateAfter, rangeWords } from "../ui/local-time.ts";
import { peopleHues, peopleNames } from "../ui/people-names.ts";
import { asked, schedulePage, stretchWords } from "../ui/schedule.ts";

/** One week of all schedules on the reader's clock, and the same as a list. */

const DAYS = 7;
/** Blocks of one schedule's week: more nobody can tell apart. */
const MOST_BLOCKS = 100;

export interface ShownWeek {
  range: CalendarRange;
  grid: GridAnswer;
}

export async function readWeek(call: PageCall): Promise<ShownWeek> {
  const query = new URLSearchParams({ days: String(DAYS) });
  const from = call.query.get("from");
  if (from !== null) query.set("from", from);
  const range = askedRange(call.look.zone, query, call.now);
  const { from: since, until } = range;
  return { range, grid: await gridOnCall(asked(call), { from: since, until }) };
}

export function weekGrid(call: PageCall, { range, grid }: ShownWeek): Markup {
  const { base, look, now, who } = call;
  const names = peopleNames(call.tenant.store);
  const pages = new Map<string, string>();
  const rows = grid.schedules.map((one): CalendarRow => {
    const name = `${one.project} / ${one.schedule}`;
    pages.set(name, schedulePage({ project: one.project, name: one.schedule }));
    const blocks = blocksOf(one).slice(0, MOST_BLOCKS);
    return { kind: "final", name, index: 0, blocks };
  });
  const zone = look.zone;
  const label = `All schedules, ${stretchWords({ starts_at: range.from, ends_at: range.until }, zone)}`;
  const link = (count: number, words: string, key: string, sign: "back" | "next") =>
    html`<a class="icon-button" href="${base}/oncall?from=${dateAfter(range, count)}#week"${keyed(key, words)} aria-label="${words}">${icon(sign, "small")}</a>`;
  const today =
    call.query.get("from") !== null &&
    html`<a href="${base}/oncall#week"${keyed("t", "This week")}>This week</a>`;
  const listed = rows.flatMap(({ name, blocks }) =>
    blocks.map(
      (block) =>
        html`<tr${block.account_id === null && html` class="agenda-gap"`}><td><a href="${base}${pages.get(name)}">${name}</a></td><td>${block.account_id === null ? "Nobody" : names(block.account_id)}${block.away && " (away)"}</td><td>${stretchWords(block, zone)}</td></tr>
`,
    ),
  );
  return html`<div class="week-head">${link(-DAYS, "The week before", "ArrowLeft", "back")}<h2>${rangeWords(range)}</h2>${link(DAYS, "The week after", "ArrowRight", "next")}${today}</div>
${calendarPlot({
  rows,
  range,
  timezone: zone,
  now,
  me: who.accountId,
  names,
  hues: peopleHues(call.tenant.store),
  label,
  head: (row) =>
    row === null ? html`<span class="soft">Your time, ${zone}</span>` : html`<b>${row.name}</b>`,
  href: ({ starts_at }, { name }) => `${base}${pages.get(name)}?shift=${starts_at}`,
})}<details id="week-list"><summary>As a list</summary><div class="table-wrap"><table class="table stacked"><thead><tr><th scope="col">Schedule</th><th scope="col">On call</th><th scope="col">When</th></tr></thead><tbody>${listed}</tbody></table></div></details>${
    grid.left_out > 0 && html`<p class="soft">${grid.left_out} more schedules are not shown.</p>`
  }`;
}
