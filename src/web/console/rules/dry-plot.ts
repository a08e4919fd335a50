import { html, type Markup } from "../../../ground/kit/html.ts";
import { wallTime } from "../../../ground/kit/wall-time.ts";
import type { DryRun } from "../../../in/ingest/dry-run/dry-run.ts";
import type { PageCall } from "../screen.ts";
import { clockTime, timeOnClock } from "../ui/times.ts";

const HOUR = 3600;
const WIDTH = 420;
const HEIGHT = 96;
/** Below the axis: alerts of the rule that is tried, those of the saved one, days. */
const NOW_AT = HEIGHT + 4;
const SAVED_AT = HEIGHT + 18;
const DAYS_AT = HEIGHT + 44;
/** More hours than this are put together. */
const MOST_BARS = 180;

interface Slot {
  at: number;
  matched: number;
  alerts: number;
  /** Alerts that the saved rule opened. */
  saved: number;
}

/** Matches and alerts over the time that was looked at, as bars and as a table with the same numbers. */
export function dryPlot(call: PageCall, run: DryRun): Markup {
  const { range, buckets, versus, matched, alert_count } = run;
  if (buckets.length === 0 && (versus?.alerts ?? 0) === 0) return html``;
  const slots = slotsOf(run);
  const each = (slots[1]?.at ?? slots[0]?.at ?? 0) - (slots[0]?.at ?? 0) || HOUR;
  const saved = versus === null ? "" : `, and ${versus.alerts} of the saved rule`;
  const label = `${matched} matches and ${alert_count} alerts${saved}, from ${timeOnClock(call, range.from)} to ${timeOnClock(call, range.until)}`;
  return html`<figure class="rule-plot">${picture(call, slots, label)}<figcaption class="soft small">Each bar is ${each === HOUR ? "an hour" : `${each / HOUR} hours`} of matches. A triangle: an alert${versus !== null && "; a circle: one of the saved rule"}. Shaded: 22–07 in ${call.look.zone}.</figcaption></figure>
${numbers(call, slots, versus !== null)}`;
}

function slotsOf({ range, buckets, versus }: DryRun): Slot[] {
  const begin = Math.min(range.from, ...buckets.slice(0, 1).map(({ at }) => at));
  const first = Math.floor(begin / HOUR) * HOUR;
  const hours = Math.max(1, Math.ceil((range.until - first) / HOUR));
  const each = Math.ceil(hours / MOST_BARS) * HOUR;
  const count = Math.max(1, Math.ceil((range.until - first) / each));
  const slots = Array.from({ length: count }, (_, i) => ({
    at: first + i * each,
    matched: 0,
    alerts: 0,
    saved: 0,
  }));
  const slotAt = (at: number) =>
    slots[Math.min(count - 1, Math.max(0, Math.floor((at - first) / each)))] as Slot;
  for (const { at, matched, alerts } of buckets) {
    slotAt(at).matched += matched;
    slotAt(at).alerts += alerts;
  }
  for (const { at, alerts } of versus?.buckets ?? []) slotAt(at).saved += alerts;
  return slots;
}

const round = (n: number): number => Math.round(n * 100) / 100;

function picture(call: PageCall, slots: readonly Slot[], label: string): Markup {
  const most = Math.max(1, ...slots.map(({ matched }) => matched));
  const width = WIDTH / slots.length;
  const x = (i: number) => round(i * width);
  const middle = (i: number) => Math.min(WIDTH - 5, Math.max(5, round((i + 0.5) * width)));
  return html`<svg class="plot" viewBox="0 0 ${WIDTH} ${DAYS_AT + 4}" role="img" aria-label="${label}">${nights(call, slots, width)}${slots.map(
    ({ at, matched, alerts, saved }, i) => {
      if (matched === 0) return "";
      const height = Math.max(3, Math.round((matched / most) * HEIGHT));
      return html`<rect class="plot-bar${alerts > 0 && " plot-now"}" x="${x(i)}" y="${HEIGHT - height}" width="${Math.max(1.5, round(width * 0.85))}" height="${height}"><title>${timeOnClock(call, at)}: ${matched} matches, ${alerts} alerts, ${saved} saved</title></rect>`;
    },
  )}<path class="plot-axis" d="M0 ${HEIGHT}.5H${WIDTH}"/>${slots.map(
    ({ alerts, saved }, i) =>
      html`${
        alerts > 0 &&
        html`<path class="plot-mark" transform="translate(${middle(i) - 4} ${NOW_AT})" d="M0 9L4 1L8 9Z"/>`
      }${
        saved > 0 &&
        html`<circle class="plot-mark" cx="${middle(i)}" cy="${SAVED_AT + 4}" r="3.5"/>`
      }`,
  )}${days(call, slots, width)}</svg>`;
}

function nights({ look: { zone } }: PageCall, slots: readonly Slot[], width: number): Markup[] {
  const each = (slots[1]?.at ?? 0) - (slots[0]?.at ?? 0);
  if (each > 3 * HOUR) return [];
  return slots.flatMap(({ at }, i) => {
    const hour = Number(wallTime(at, zone).slice(11, 13));
    if (hour >= 7 && hour < 22) return [];
    return [
      html`<rect class="plot-night" x="${round(i * width)}" y="0" width="${round(width + 0.3)}" height="${HEIGHT}"/>`,
    ];
  });
}

const dayName = new Intl.DateTimeFormat("en-GB", {
  weekday: "short",
  day: "numeric",
  timeZone: "UTC",
});

/** Where a day begins, as far as there is room for its name. */
function days({ look: { zone } }: PageCall, slots: readonly Slot[], width: number): Markup[] {
  const dayOf = (at: number) => wallTime(at, zone).slice(0, 10);
  let free = 0;
  return slots.flatMap(({ at }, i) => {
    const x = round(i * width);
    const isNew = i > 0 && dayOf(at) !== dayOf((slots[i - 1] as Slot).at);
    if (!isNew || x < free || x > WIDTH - 36) return [];
    free = x + 44;
    const name = dayName.format(new Date(`${dayOf(at)}T00:00:00Z`)).replace(",", "");
    return [html`<text class="plot-label" x="${x}" y="${DAYS_AT}">${name}</text>`];
  });
}

/** The same numbers, for whoever doesn't see the bars. */
function numbers(call: PageCall, slots: readonly Slot[], hasSaved: boolean): Markup {
  const rows = slots.filter(({ matched, alerts, saved }) => matched + alerts + saved > 0);
  return html`<details id="tried-numbers"><summary>As numbers</summary><div class="table-wrap"><table class="table"><thead><tr><th scope="col">From</th><th scope="col" class="num">Matches</th><th scope="col" class="num">Alerts</th>${
    hasSaved && html`<th scope="col" class="num">Saved rule</th>`
  }</tr></thead><tbody>${rows.map(
    ({ at, matched, alerts, saved }) =>
      html`<tr><td>${clockTime(call, at)}</td><td class="num">${matched}</td><td class="num">${alerts}</td>${hasSaved && html`<td class="num">${saved}</td>`}</tr>`,
  )}</tbody></table></div></details>`;
}
