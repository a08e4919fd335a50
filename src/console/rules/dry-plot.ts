import type { DryRun } from "../../ingest/dry-run/dry-run.ts";
import { html, type Markup } from "../../kit/html.ts";
import { wallTime } from "../../kit/wall-time.ts";
import type { PageCall } from "../screen.ts";
import { clockTime, timeOnClock } from "../ui/times.ts";

const HOUR = 3600;
const WIDTH = 720;
const HEIGHT = 96;
const FOOT = 18;
/** Bars are no thinner than this: hours are put together until they are. */
const MOST_BARS = 180;

interface Slot {
  at: number;
  matched: number;
  alerts: number;
}

/** Matches and alerts over the time that was looked at, as bars and as a table with the same numbers. */
export function dryPlot(call: PageCall, { range, buckets, matched, alert_count }: DryRun): Markup {
  if (buckets.length === 0) return html``;
  const first = Math.floor(Math.min(range.from, buckets[0]?.at ?? range.from) / HOUR) * HOUR;
  const hours = Math.max(1, Math.ceil((range.until - first) / HOUR));
  const each = Math.ceil(hours / MOST_BARS) * HOUR;
  const slots = slotsOf(buckets, { first, each, until: range.until });
  return html`<figure class="rule-plot">${picture(call, slots, {
    each,
    label: `${matched} matches and ${alert_count} alerts, from ${timeOnClock(call, first)} to ${timeOnClock(call, range.until)}`,
  })}<figcaption class="soft small">Each bar is ${each === HOUR ? "an hour" : `${each / HOUR} hours`}: matches; a triangle below: an alert. Shaded: 22–07, ${call.look.zone}.</figcaption></figure>
${numbers(call, slots)}`;
}

function slotsOf(
  buckets: DryRun["buckets"],
  { first, each, until }: { first: number; each: number; until: number },
): Slot[] {
  const count = Math.max(1, Math.ceil((until - first) / each));
  const slots = Array.from({ length: count }, (_, i) => ({
    ...{ at: first + i * each, matched: 0, alerts: 0 },
  }));
  for (const { at, matched, alerts } of buckets) {
    const slot = slots[Math.min(count - 1, Math.max(0, Math.floor((at - first) / each)))];
    if (slot === undefined) continue;
    slot.matched += matched;
    slot.alerts += alerts;
  }
  return slots;
}

function picture(
  call: PageCall,
  slots: readonly Slot[],
  { each, label }: { each: number; label: string },
): Markup {
  const most = Math.max(1, ...slots.map(({ matched }) => matched));
  const width = WIDTH / slots.length;
  const round = (n: number) => Math.round(n * 100) / 100;
  const x = (i: number) => round(i * width);
  const hourOf = (at: number) => Number(wallTime(at, call.look.zone).slice(11, 13));
  const isNight = (hour: number) => hour >= 22 || hour < 7;
  return html`<svg class="plot" viewBox="0 0 ${WIDTH} ${HEIGHT + FOOT + 14}" role="img" aria-label="${label}">${slots.map(
    ({ at }, i) =>
      each < 9 * HOUR &&
      isNight(hourOf(at)) &&
      html`<rect class="plot-night" x="${x(i)}" y="0" width="${round(width + 0.5)}" height="${HEIGHT}"/>`,
  )}${slots.map(({ at, matched, alerts }, i) => {
    if (matched === 0) return "";
    const height = Math.max(3, Math.round((matched / most) * HEIGHT));
    return html`<rect class="plot-bar${alerts > 0 && " plot-now"}" x="${x(i)}" y="${HEIGHT - height}" width="${Math.max(1, round(width * 0.85))}" height="${height}"><title>${timeOnClock(call, at)}: ${matched} matches, ${alerts} alerts</title></rect>`;
  })}<path class="plot-axis" d="M0 ${HEIGHT}.5H${WIDTH}"/>${slots.map(
    ({ alerts }, i) =>
      alerts > 0 &&
      html`<path class="plot-mark" transform="translate(${Math.min(WIDTH - 8, x(i))} ${HEIGHT + 4})" d="M0 8L4 0L8 8Z"/>`,
  )}${slots.map(({ at }, i) => {
    const isDay = i > 0 && hourOf(at) < hourOf((slots[i - 1] as Slot).at);
    return (
      isDay &&
      html`<text class="plot-label" x="${x(i)}" y="${HEIGHT + FOOT + 10}">${timeOnClock(
        { ...call, now: 0 },
        at,
      )
        .replace(/ \d\d:\d\d$/, "")
        .replace(/ \w+$/, "")}</text>`
    );
  })}</svg>`;
}

/** The same numbers, for whoever doesn't see the bars. */
function numbers(call: PageCall, slots: readonly Slot[]): Markup {
  return html`<details id="tried-numbers"><summary>As numbers</summary><div class="table-wrap"><table class="table"><thead><tr><th scope="col">From</th><th scope="col" class="num">Matches</th><th scope="col" class="num">Alerts</th></tr></thead><tbody>${slots
    .filter(({ matched, alerts }) => matched > 0 || alerts > 0)
    .map(
      ({ at, matched, alerts }) =>
        html`<tr><td>${clockTime(call, at)}</td><td class="num">${matched}</td><td class="num">${alerts}</td></tr>`,
    )}</tbody></table></div></details>`;
}
