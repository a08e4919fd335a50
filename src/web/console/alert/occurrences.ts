import { HOUR, type Occurrences, readOccurrences } from "../../../core/alerts/buckets.ts";
import { html, type Markup } from "../../../ground/kit/html.ts";
import type { PageCall } from "../screen.ts";
import { type Bar, barPlot, type PlotMark } from "../ui/plot.ts";
import { clockTime, timeOnClock } from "../ui/times.ts";
import type { ShownAlert } from "./shown-alert.ts";

const RANGES = { "1h": "1 h", "6h": "6 h", all: "All" } as const;
const HEADINGS = { "1h": "Last hour", "6h": "Last 6 hours", all: "Since it began" } as const;
type Range = keyof typeof RANGES;
const MOST_HOURS = 90 * 24;

/** How often, and when it was opened, paged, acknowledged and resolved; as bars and as numbers. */
export function occurrences(call: PageCall, shown: ShownAlert): Markup {
  const range = rangeOf(call.query.get("range"));
  const { base } = call;
  const { id } = shown.row;
  const read = readRange(call, shown, range);
  const { seconds, from, counts } = read;
  const lines = `/a/${id}/lines`;
  const hasLines = call.leads(lines);
  const bars = counts.map(
    (n, i): Bar => ({
      n,
      title: `${timeOnClock(call, from + i * seconds)}: ${n}`,
      // A bar leads to the lines of its minute.
      href: hasLines && n > 0 ? `${base}${lines}?at=${from + i * seconds}` : null,
    }),
  );
  const marks = marksOf(shown, read);
  const times = [0, counts.length / 2, counts.length].map((slot) => from + slot * seconds);
  const most = Math.max(0, ...counts);
  const total = counts.reduce((sum, n) => sum + n, 0);
  return html`<div class="card-head"><h2>${HEADINGS[range]}</h2><nav class="ranges" aria-label="Range of time">${Object.entries(
    RANGES,
  ).map(
    ([value, name]) =>
      html`<a href="${base}/a/${id}${value !== "1h" && `?range=${value}`}#occurrences"${value === range && html` aria-current="true"`}>${name}</a> `,
  )}</nav></div>
${
  total === 0
    ? html`<p class="soft">No matching events in this time.</p>`
    : html`${barPlot(bars, marks, `${total} events by the ${seconds === HOUR ? "hour" : "minute"}, at most ${most}`)}<p class="plot-times">${times.map((at) => html`<span>${timeOnClock(call, at)}</span>`)}</p>${asNumbers(call, read, marks)}`
}`;
}

function rangeOf(text: string | null): Range {
  return text === "6h" || text === "all" ? text : "1h";
}

function readRange({ tenant: { store }, now }: PageCall, { row }: ShownAlert, range: Range) {
  const until = row.state === "resolved" ? Math.min(now, row.last_seen + 300) : now;
  if (range === "1h")
    return readOccurrences(store, row.id, {
      seconds: 60,
      from: until - 59 * 60,
      until,
      most: 60,
    });
  if (range === "6h")
    return readOccurrences(store, row.id, {
      seconds: 60,
      from: until - 359 * 60,
      until,
      most: 360,
    });
  const isYoung = until - row.first_seen <= 6 * HOUR;
  return readOccurrences(store, row.id, {
    seconds: isYoung ? 60 : HOUR,
    from: row.first_seen,
    until,
    most: MOST_HOURS,
  });
}

const MARKS: Readonly<Record<string, PlotMark["glyph"]>> = {
  opened: "opened",
  escalated: "paged",
  fallback: "paged",
  assigned: "paged",
  acknowledged: "acked",
  resolved: "resolved",
};

/** In the order of time; what happens again in the same minute or hour has one. */
function marksOf({ entries }: ShownAlert, { seconds, from, counts }: Occurrences): PlotMark[] {
  const marks = new Map<string, PlotMark>();
  for (const { kind, at } of entries) {
    const glyph = MARKS[kind];
    const slot = Math.floor((at - from) / seconds);
    if (glyph !== undefined && slot >= 0 && slot < counts.length)
      marks.set(`${slot} ${glyph}`, { glyph, slot });
  }
  return [...marks.values()].sort((a, b) => a.slot - b.slot);
}

function asNumbers(
  call: PageCall,
  { seconds, from, counts }: Occurrences,
  marks: readonly PlotMark[],
): Markup {
  const rows = counts.flatMap((n, slot) => {
    const here = marks.filter((mark) => mark.slot === slot).map(({ glyph }) => glyph);
    return n === 0 && here.length === 0
      ? []
      : [
          html`<tr><td>${clockTime(call, from + slot * seconds)}</td><td class="num">${n}</td><td>${here.join(", ")}</td></tr>`,
        ];
  });
  return html`<details id="numbers"><summary>As numbers</summary><div class="table-wrap"><table class="table"><thead><tr><th scope="col">From</th><th scope="col" class="num">Events</th><th scope="col">What happened</th></tr></thead><tbody>${rows.slice(-400)}</tbody></table></div></details>`;
}
