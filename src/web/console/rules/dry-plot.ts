import { html, type Markup } from "../../../ground/kit/html.ts";
import { wallTime } from "../../../ground/kit/wall-time.ts";
import type { DryRun, Weeks } from "../../../in/ingest/dry-run/dry-run.ts";
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
/** Longer bars don't tell night from day. */
const MOST_NIGHT = 3 * HOUR;

/** One hour of what is drawn. */
interface PlottedHour {
  at: number;
  /** The bar. */
  events: number;
  /** The marks below it. */
  fired: number;
  /** Alerts that the saved rule opened. */
  saved?: number;
  /** What usually comes; null: it isn't known. */
  usual?: number | null;
}

interface Plotted {
  id: string;
  range: { from: number; until: number };
  hours: readonly PlottedHour[];
  hasSaved: boolean;
  hasUsual: boolean;
  /** What a bar and a mark count, as heads of the table. */
  names: { events: string; fired: string };
  /** What is seen. */
  label: string;
  /** What a mark is, in a sentence. */
  mark: string;
}

type Slot = Required<PlottedHour>;

/** Matches and alerts over the time that was looked at. */
export function dryPlot(call: PageCall, run: DryRun): Markup {
  const { range, buckets, versus, matched, alert_count } = run;
  const saved = versus === null ? "" : `, and ${versus.alerts} of the saved rule`;
  return hoursPlot(call, {
    id: "tried-numbers",
    range,
    hours: [
      ...buckets.map(({ at, matched, alerts }) => ({ at, events: matched, fired: alerts })),
      ...(versus?.buckets ?? []).map(({ at, alerts }) => ({
        at,
        events: 0,
        fired: 0,
        saved: alerts,
      })),
    ],
    hasSaved: versus !== null,
    hasUsual: false,
    names: { events: "Matches", fired: "Alerts" },
    label: `${matched} matches and ${alert_count} alerts${saved}, from ${timeOnClock(call, range.from)} to ${timeOnClock(call, range.until)}`,
    mark: `an alert${versus === null ? "" : "; a circle: one of the saved rule"}`,
  });
}

/** What came in four weeks of what the rule looks at, and where it would have fired. */
export function weeksPlot(call: PageCall, weeks: Weeks): Markup {
  const events = weeks.hours.reduce((sum, hour) => sum + hour.events, 0);
  const hasUsual = weeks.hours.some(({ usual }) => usual !== null);
  return hoursPlot(call, {
    id: "weeks-numbers",
    range: weeks,
    hours: weeks.hours,
    hasSaved: false,
    hasUsual,
    names: { events: "Events", fired: "Fired" },
    label: `${events} events, and ${weeks.fired_count} times it would have fired, from ${timeOnClock(call, weeks.from)} to ${timeOnClock(call, weeks.until)}`,
    mark: `it would have fired${hasUsual ? ". The line: what usually comes" : ""}`,
  });
}

/** Bars by the hour, marks below them, and a table with the same numbers. */
function hoursPlot(call: PageCall, plotted: Plotted): Markup {
  if (plotted.hours.length === 0) return html``;
  const slots = slotsOf(plotted);
  const each = (slots[1]?.at ?? slots[0]?.at ?? 0) - (slots[0]?.at ?? 0) || HOUR;
  return html`<figure class="rule-plot">${picture(call, slots, plotted)}<figcaption class="soft small">Each bar is ${each === HOUR ? "an hour" : `${each / HOUR} hours`} of ${plotted.names.events.toLowerCase()}. A triangle: ${plotted.mark}.${each <= MOST_NIGHT && ` Shaded: 22–07 in ${call.look.zone}.`}</figcaption></figure>
${numbers(call, slots, plotted)}`;
}

function slotsOf({ range, hours }: Plotted): Slot[] {
  const begin = Math.min(range.from, ...hours.slice(0, 1).map(({ at }) => at));
  const first = Math.floor(begin / HOUR) * HOUR;
  const span = Math.max(1, Math.ceil((range.until - first) / HOUR));
  const each = Math.ceil(span / MOST_BARS) * HOUR;
  const count = Math.max(1, Math.ceil((range.until - first) / each));
  const slots = Array.from({ length: count }, (_, i): Slot => {
    return { at: first + i * each, events: 0, fired: 0, saved: 0, usual: null };
  });
  for (const { at, events, fired, saved = 0, usual = null } of hours) {
    const i = Math.min(count - 1, Math.max(0, Math.floor((at - first) / each)));
    const slot = slots[i] as Slot;
    slot.events += events;
    slot.fired += fired;
    slot.saved += saved;
    if (usual !== null) slot.usual = (slot.usual ?? 0) + usual;
  }
  return slots;
}

const round = (n: number): number => Math.round(n * 100) / 100;

function picture(
  call: PageCall,
  slots: readonly Slot[],
  { label, names, hasSaved }: Plotted,
): Markup {
  const most = Math.max(1, ...slots.flatMap(({ events, usual }) => [events, usual ?? 0]));
  const words = (events: number, fired: number) =>
    `${events} ${names.events}, ${fired} ${names.fired}`.toLowerCase();
  const width = WIDTH / slots.length;
  const x = (i: number) => round(i * width);
  const middle = (i: number) => Math.min(WIDTH - 5, Math.max(5, round((i + 0.5) * width)));
  return html`<svg class="plot" viewBox="0 0 ${WIDTH} ${DAYS_AT + 4}" role="img" aria-label="${label}">${nights(call, slots, width)}${slots.map(
    ({ at, events, fired, saved }, i) => {
      if (events === 0) return "";
      const height = Math.max(3, Math.round((events / most) * HEIGHT));
      return html`<rect class="plot-bar${fired > 0 && " plot-now"}" x="${x(i)}" y="${HEIGHT - height}" width="${Math.max(1.5, round(width * 0.85))}" height="${height}"><title>${timeOnClock(call, at)}: ${words(events, fired)}${hasSaved && `, ${saved} saved`}</title></rect>`;
    },
  )}${usualLine(slots, { width, most })}<path class="plot-axis" d="M0 ${HEIGHT}.5H${WIDTH}"/>${slots.map(
    ({ fired, saved }, i) =>
      html`${
        fired > 0 &&
        html`<path class="plot-mark" transform="translate(${middle(i) - 4} ${NOW_AT})" d="M0 9L4 1L8 9Z"/>`
      }${
        saved > 0 &&
        html`<circle class="plot-mark" cx="${middle(i)}" cy="${SAVED_AT + 4}" r="3.5"/>`
      }`,
  )}${days(call, slots, width)}</svg>`;
}

/** A step for each slot of which it is known. */
function usualLine(
  slots: readonly Slot[],
  { width, most }: { width: number; most: number },
): Markup | false {
  const steps = slots.flatMap(({ usual }, i) => {
    if (usual === null) return [];
    const y = round(HEIGHT - (usual / most) * HEIGHT);
    const goesOn = (slots[i - 1]?.usual ?? null) !== null;
    return [`${goesOn ? "V" : `M${round(i * width)} `}${y}H${round((i + 1) * width)}`];
  });
  return steps.length > 0 && html`<path class="plot-usual" d="${steps.join("")}"/>`;
}

function nights({ look: { zone } }: PageCall, slots: readonly Slot[], width: number): Markup[] {
  const each = (slots[1]?.at ?? 0) - (slots[0]?.at ?? 0);
  if (each > MOST_NIGHT) return [];
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
    free = x + 56;
    const name = dayName.format(new Date(`${dayOf(at)}T00:00:00Z`)).replace(",", "");
    return [html`<text class="plot-label" x="${x}" y="${DAYS_AT}">${name}</text>`];
  });
}

/** The same numbers, for whoever doesn't see the bars. */
function numbers(
  call: PageCall,
  slots: readonly Slot[],
  { id, names, hasSaved, hasUsual }: Plotted,
): Markup {
  const rows = slots.filter(
    ({ events, fired, saved, usual }) => events + fired + saved + (usual ?? 0) > 0,
  );
  const head = (name: string) => html`<th scope="col" class="num">${name}</th>`;
  return html`<details id="${id}"><summary>As numbers</summary><div class="table-wrap"><table class="table"><thead><tr><th scope="col">From</th>${head(names.events)}${hasUsual && head("Usually")}${head(names.fired)}${hasSaved && head("Saved rule")}</tr></thead><tbody>${rows.map(
    ({ at, events, fired, saved, usual }) =>
      html`<tr><td>${clockTime(call, at)}</td><td class="num">${events}</td>${hasUsual && html`<td class="num">${usual === null ? "–" : Math.round(usual)}</td>`}<td class="num">${fired}</td>${hasSaved && html`<td class="num">${saved}</td>`}</tr>`,
  )}</tbody></table></div></details>`;
}
