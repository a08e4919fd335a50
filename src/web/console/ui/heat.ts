import { html, type Markup } from "../../../ground/kit/html.ts";
import type { SpanBuckets } from "../../../records/numbers/figures.ts";
import { counted } from "./pieces.ts";

const DAYS = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
const HOURS = Array.from({ length: 24 }, (_, hour) => hour);
const [LEFT, WIDE, HIGH] = [36, 13, 15];

/** Rings by the hour of the week, as squares and as a table. */
export function heat(rang: SpanBuckets): Markup {
  const at = (day: number, hour: number) => rang[day * 24 + hour] ?? 0;
  const [worst, most] = Object.entries(rang).reduce<[number, number]>(
    (best, [hour, n]) => (n > best[1] ? [Number(hour), n] : best),
    [0, 0],
  );
  const said =
    most === 0
      ? "Nothing rang."
      : `Worst hour: ${DAYS[Math.floor(worst / 24)]} ${worst % 24}:00, ${counted(most, "ring")}.`;
  const square = (day: number, hour: number) => {
    const n = at(day, hour);
    const shade = n === 0 ? 0 : Math.ceil((n / most) * 4);
    return html`<rect class="heat-${shade}" x="${LEFT + hour * WIDE}" y="${day * HIGH}" width="12" height="13" rx="2.5"/>`;
  };
  return html`<h2>When it rang</h2><svg class="plot heat" viewBox="0 0 350 124" role="img" aria-label="Rings by hour of the week. ${said}">${DAYS.map(
    (name, day) =>
      html`<text class="plot-label" x="0" y="${day * HIGH + 11}">${name}</text>${HOURS.map((hour) => square(day, hour))}`,
  )}${[0, 6, 12, 18].map((hour) => html`<text class="plot-label" x="${LEFT + hour * WIDE}" y="120">${hour}:00</text>`)}</svg>
<p class="small">${said}</p>
<details id="heat-table"><summary>As numbers</summary><div class="table-wrap"><table class="table"><thead><tr><th scope="col">Day</th>${HOURS.map((hour) => html`<th scope="col">${hour}</th>`)}</tr></thead><tbody>${DAYS.map(
    (name, day) =>
      html`<tr><th scope="row">${name}</th>${HOURS.map((hour) => html`<td data-label="${hour}:00" class="num">${at(day, hour)}</td>`)}</tr>
`,
  )}</tbody></table></div></details>`;
}
