import { html, type Markup } from "../../../ground/kit/html.ts";

/** Plots as SVG whose geometry stands in attributes: the policy forbids styles. */

/** Twenty pixels of bars, newest at the right: a hint, which the count beside it says in words. */
export function sparkline(counts: readonly number[]): Markup {
  const most = Math.max(1, ...counts);
  const width = 96 / Math.max(1, counts.length);
  const at = (i: number) => Math.round(i * width * 100) / 100;
  return html`<svg class="plot spark" width="96" height="20" viewBox="0 0 96 20" aria-hidden="true"><path class="plot-bar" d="${counts
    .map((n, i) => {
      if (n === 0) return "";
      const height = Math.max(2, Math.round((n / most) * 20));
      return `M${at(i)} 20v-${height}h${Math.round(width * 90) / 100}V20z`;
    })
    .join("")}"/></svg>`;
}

const THREE_MINUTES = 3;

/** Sixty counts by the minute, newest last: twenty bars and the sum in words. */
export function hourPlot(minutes: readonly number[]): Markup {
  const bars = Array.from({ length: minutes.length / THREE_MINUTES }, (_, i) =>
    minutes.slice(i * THREE_MINUTES, (i + 1) * THREE_MINUTES).reduce((sum, n) => sum + n, 0),
  );
  const sum = bars.reduce((all, n) => all + n, 0);
  return html`<span class="hour">${sparkline(bars)} <span class="num">${sum.toLocaleString("en-US")}</span></span>`;
}

export interface Bar {
  n: number;
  title: string;
  href: string | null;
}

export interface PlotMark {
  glyph: "opened" | "paged" | "acked" | "resolved";
  /** Which bar it stands below. */
  slot: number;
}

const WIDTH = 720;
const HEIGHT = 120;

/** Told apart by shape. */
const GLYPHS: Readonly<Record<PlotMark["glyph"], string>> = {
  opened: "M0 10L5 0L10 10Z",
  paged: "M0 0L5 10L10 0Z",
  acked: "M0 5L4 9L10 1",
  resolved: "M0 5a5 5 0 1 0 10 0a5 5 0 1 0-10 0",
};

/** Bars over an axis, marks below it. `label` says in words what is seen. */
export function barPlot(bars: readonly Bar[], marks: readonly PlotMark[], label: string): Markup {
  const most = Math.max(1, ...bars.map(({ n }) => n));
  const width = WIDTH / Math.max(1, bars.length);
  const x = (slot: number) => Math.round(slot * width * 100) / 100;
  return html`<svg class="plot" viewBox="0 0 ${WIDTH} ${HEIGHT + 16}" role="group" aria-label="${label}">${bars.map(
    ({ n, title, href }, slot) => {
      if (n === 0) return "";
      const height = Math.max(3, Math.round((n / most) * HEIGHT));
      const bar = html`<rect class="plot-bar" x="${x(slot)}" y="${HEIGHT - height}" width="${Math.max(1, Math.round(width * 85) / 100)}" height="${height}"><title>${title}</title></rect>`;
      return href === null ? bar : html`<a href="${href}" aria-label="${title}">${bar}</a>`;
    },
  )}<path class="plot-axis" d="M0 ${HEIGHT}.5H${WIDTH}"/>${marks.map(
    ({ glyph, slot }) =>
      html`<path class="plot-mark" transform="translate(${Math.min(WIDTH - 10, x(slot))} ${HEIGHT + 4})" d="${GLYPHS[glyph]}"><title>${glyph}</title></path>`,
  )}</svg>`;
}
