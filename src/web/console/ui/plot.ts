import { html, type Markup } from "../../../ground/kit/html.ts";

/** Plots as SVG whose geometry stands in attributes: the policy forbids styles. */

const SPARK = { width: 56, height: 16, bars: 12 };
const HOUR = 60;

/** Bars of the last hour by five minutes, newest at the right: a hint, which the count beside it says in words. */
export function sparkline(minutes: readonly number[]): Markup {
  const { width, height, bars } = SPARK;
  const each = HOUR / bars;
  const padded = [...Array<number>(Math.max(0, HOUR - minutes.length)).fill(0), ...minutes];
  const sums = Array.from({ length: bars }, (_, i) =>
    padded.slice(i * each, (i + 1) * each).reduce((sum, n) => sum + n, 0),
  );
  const most = Math.max(1, ...sums);
  const at = (i: number) => Math.round((i * width * 10) / bars) / 10;
  return html`<svg class="plot spark" viewBox="0 0 ${width} ${height}" aria-hidden="true"><path class="plot-bar" d="${sums
    .map((n, i) => {
      const tall = n === 0 ? 1.5 : Math.max(3, Math.round((n / most) * height));
      return `M${at(i)} ${height}v-${tall}h3.1V${height}z`;
    })
    .join("")}"/></svg>`;
}

/** Sixty counts by the minute, newest last: twelve bars and the sum in words. */
export function hourPlot(minutes: readonly number[]): Markup {
  const sum = minutes.reduce((all, n) => all + n, 0);
  return html`<span class="hour">${sparkline(minutes)} <span class="num">${sum.toLocaleString("en-US")}</span></span>`;
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

/** So wide is a mark, with what parts it from the next. */
const MARK = 14;

/** Marks of one time stand one after another, and all of them on the plot. `at`: ascending. */
function besideEachOther(at: readonly number[]): number[] {
  const step = Math.min(MARK, WIDTH / at.length);
  let free = 0;
  return at.map((wanted, i) => {
    const place = Math.min(Math.max(wanted, free), WIDTH - step * (at.length - i));
    free = place + step;
    return Math.round(place * 100) / 100;
  });
}

/** Bars over an axis, marks below it in the order of time. `label` says in words what is seen. */
export function barPlot(bars: readonly Bar[], marks: readonly PlotMark[], label: string): Markup {
  const most = Math.max(1, ...bars.map(({ n }) => n));
  const width = WIDTH / Math.max(1, bars.length);
  const x = (slot: number) => Math.round(slot * width * 100) / 100;
  const places = besideEachOther(marks.map(({ slot }) => x(slot)));
  return html`<svg class="plot" viewBox="0 0 ${WIDTH} ${HEIGHT + 16}" role="group" aria-label="${label}">${bars.map(
    ({ n, title, href }, slot) => {
      if (n === 0) return "";
      const height = Math.max(3, Math.round((n / most) * HEIGHT));
      const bar = html`<rect class="plot-bar" x="${x(slot)}" y="${HEIGHT - height}" width="${Math.max(1, Math.round(width * 85) / 100)}" height="${height}"><title>${title}</title></rect>`;
      return href === null ? bar : html`<a href="${href}" aria-label="${title}">${bar}</a>`;
    },
  )}<path class="plot-axis" d="M0 ${HEIGHT}.5H${WIDTH}"/>${marks.map(
    ({ glyph }, i) =>
      html`<path class="plot-mark" transform="translate(${places[i]} ${HEIGHT + 4})" d="${GLYPHS[glyph]}"><title>${glyph}</title></path>`,
  )}</svg>`;
}
