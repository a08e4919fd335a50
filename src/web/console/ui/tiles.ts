import { html, type Markup } from "../../../ground/kit/html.ts";
import { type DayFigures, quantile } from "../../../records/numbers/figures.ts";
import { counted } from "./pieces.ts";
import { span } from "./times.ts";

/** How long it took to take an alert: "4 min"; no time at all is no figure. */
export const took = (seconds: number): string => (seconds < 1 ? "< 1 s" : span(seconds));

/** The four figures that a week is judged by, beside those of the time before. Pure. */
export function tiles({ counts, spans }: DayFigures, before: DayFigures): Markup {
  const half = quantile(spans.opened_to_acknowledged, 0.5);
  const most = quantile(spans.opened_to_acknowledged, 0.9);
  const fewer = before.counts.pages - counts.pages;
  const than =
    fewer === 0
      ? "as many as before"
      : `${Math.abs(fewer)} ${fewer > 0 ? "fewer" : "more"} than before`;
  const all: [name: string, value: string, more: string][] = [
    ["Pages", String(counts.pages), than],
    [
      "Rings at night, 22–07, and weekends",
      String(counts.night_rings),
      `${counted(counts.nights_broken, "night")} broken`,
    ],
    [
      "Time to acknowledge",
      half === null ? "–" : took(half),
      most === null
        ? "nobody acknowledged any"
        : `half within this, nine in ten within ${took(most)}`,
    ],
    [
      "A rung reached nobody",
      String(counts.reached_nobody),
      `of ${counted(counts.opened, "alert")}; ${counts.ended_by_themselves} ended by themselves`,
    ],
  ];
  return html`<dl class="tiles">${all.map(
    ([name, value, more]) =>
      html`<div><dt>${name}</dt><dd><strong class="num">${value}</strong><br><span class="soft small">${more}</span></dd></div>
`,
  )}</dl>`;
}
