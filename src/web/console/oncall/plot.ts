import { html, type Markup } from "../../../ground/kit/html.ts";
import type { CalendarBlock, CalendarRow } from "../ui/calendar-rows.ts";
import { initials } from "../ui/faces.ts";
import type { CalendarRange } from "../ui/local-time.ts";
import type { PeopleNames } from "../ui/people-names.ts";
import { dayOf, hourOf } from "../ui/times.ts";

/** A calendar as one SVG: x in per cent of its width, so that it needs no script to fit. */

export interface CalendarPlot {
  rows: readonly CalendarRow[];
  range: CalendarRange;
  timezone: string;
  now: number;
  /** Whose blocks are filled. */
  me: string;
  names: PeopleNames;
  /** What it is, in words. */
  label: string;
  /** Of its own on a page. */
  id: string;
  /** Per cent of the width that the rows' names take; 0 draws none. */
  left: number;
  /** Where a block leads. */
  href(block: CalendarBlock, row: CalendarRow): string;
  /** Where a stretch that is chosen in the first row leads: its two instants follow. */
  pickTo?: string;
  /** Stretches below all rows in which it is quiet on purpose. */
  quiet?: readonly QuietStretch[];
  /** A stretch as long as it is, where a block is cut at the edge of the range. */
  whole?(block: CalendarBlock): CalendarBlock;
}

/** A maintenance as a calendar draws it. */
export interface QuietStretch {
  name: string;
  starts_at: number;
  ends_at: number;
  href: string;
}

const HEAD = 26;
const ROW = 42;
const BLOCK = 34;
/** Below these widths, in per cent, a name and hours don't fit. */
const FITS = { initials: 2, name: 5, hours: 13 };

/** Each layer has its own line below its blocks. */
const DASHES = ["", "8 4", "2 3", "12 3 2 3", "4 8", "1 6"];

const rounded = (n: number): number => Math.round(n * 1e4) / 1e4;

/** Where an instant stands, in per cent. */
export function placeAt(
  { range: { from, until }, left }: { range: Pick<CalendarRange, "from" | "until">; left: number },
  at: number,
): number {
  return rounded(left + ((at - from) / (until - from)) * (100 - left));
}

/** "Ann, Mon 16 Nov 09:00 to Mon 23 Nov 09:00, weekly". */
export function blockWords(
  { account_id, starts_at, ends_at, layer, override_id, away }: CalendarBlock,
  { names, timezone }: Pick<CalendarPlot, "names" | "timezone">,
): string {
  const on = (at: number) => `${dayOf(at, timezone)} ${hourOf(at, timezone)}`;
  const by = override_id !== null ? ", override" : layer === null ? "" : `, ${layer}`;
  return `${names(account_id)}, ${on(starts_at)} to ${on(ends_at)}${by}${away ? ", away" : ""}`;
}

export function calendarPlot(plot: CalendarPlot): Markup {
  const { rows, range, timezone, now, label, left } = plot;
  const past = `${plot.id}-past`;
  const { quiet = [] } = plot;
  const below = HEAD + rows.length * ROW;
  const height = below + (quiet.length > 0 ? ROW : 0);
  const x = (at: number) => placeAt(plot, at);
  const days = range.days.map(
    ({ date, since, until }) =>
      html`<svg x="${x(since)}%" y="0" width="${rounded(x(until) - x(since))}%" height="${HEAD}" data-day="${date}"><text class="plot-label${
        now >= since && now < until && " cal-today"
      }" x="4" y="17">${range.days.length > 16 ? date.slice(8) : dayOf(since, timezone).replace(/ \w+$/, "")}</text></svg><line class="cal-midnight" x1="${x(since)}%" x2="${x(since)}%" y1="4" y2="${height}"/>`,
  );
  const isNow = now > range.from && now < range.until;
  return html`<svg class="plot cal" width="100%" height="${height}" role="group" aria-label="${label}"${
    plot.pickTo !== undefined &&
    html` data-pick-to="${plot.pickTo}" data-from="${range.from}" data-until="${range.until}" data-left="${left}" data-top="${HEAD}" data-row="${ROW}"`
  }><defs><pattern id="${past}" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><line class="cal-hatch" x1="0" x2="0" y1="0" y2="6"/></pattern></defs>
${days}${rows.map((row, index) => drawnRow(plot, row, HEAD + index * ROW))}${
  quiet.length > 0 && quietRow(plot, quiet, below)
}${
  now > range.from &&
  html`<rect class="cal-past" x="${left}%" y="${HEAD}" width="${rounded(Math.min(x(now), 100) - left)}%" height="${height - HEAD}" fill="url(#${past})"/>`
}${isNow && html`<line class="cal-now" x1="${x(now)}%" x2="${x(now)}%" y1="${HEAD}" y2="${height}"/>`}</svg>`;
}

function drawnRow(plot: CalendarPlot, row: CalendarRow, y: number): Markup {
  return html`${
    plot.left > 0 &&
    html`<svg x="0" y="${y}" width="${plot.left}%" height="${ROW}"><text class="plot-label" x="0" y="24">${row.name}<title>${row.name}</title></text></svg>`
  }${row.blocks.map((block) => drawnBlock(plot, row, { block, y: y + 4 }))}
`;
}

function drawnBlock(
  plot: CalendarPlot,
  row: CalendarRow,
  { block, y }: { block: CalendarBlock; y: number },
): Markup {
  const { names, timezone, me, now, whole = (cut: CalendarBlock) => cut } = plot;
  const { account_id, starts_at, ends_at } = block;
  const x = placeAt(plot, starts_at);
  const width = rounded(placeAt(plot, ends_at) - x);
  const name = names(account_id);
  const full = row.kind === "final" ? whole(block) : block;
  const words = blockWords(full, plot);
  const look = account_id === null ? "cal-gap" : account_id === me ? "cal-mine" : "cal-other";
  const text = width < FITS.initials ? "" : width < FITS.name ? initials(name) : name;
  // Where the range cuts it, and nobody says how long it is, no hour stands.
  const edges = full === block ? [plot.range.from, plot.range.until] : [];
  const hour = (at: number) => (edges.includes(at) ? "…" : hourOf(at, timezone));
  const hours = `${hour(full.starts_at)} – ${hour(full.ends_at)}`;
  // What stands left of the line of today is over: the name stands right of it where there is room.
  const over = now > starts_at && now < ends_at ? placeAt(plot, now) - x : 0;
  const left = width - over >= FITS.hours ? rounded((over / width) * 100) : 0;
  return html`<a class="cal-block ${look}" href="${plot.href(block, row)}" data-row-kind="${row.kind}" data-from="${starts_at}" data-until="${ends_at}"><title>${words}</title><svg aria-hidden="true" x="${x}%" y="${y}" width="${width}%" height="${BLOCK}"><rect class="cal-box" x="1" y="1" width="100%" height="${BLOCK - 2}" rx="3"/><text class="cal-name" x="${left}%" dx="6" y="${width < FITS.hours ? 21 : 15}">${text}${block.away && text !== "" && " (away)"}</text>${
    width >= FITS.hours && html`<text class="cal-hours" x="${left}%" dx="6" y="28">${hours}</text>`
  }${
    row.kind === "layer" &&
    html`<line class="cal-line" x1="2" x2="100%" y1="${BLOCK - 2}" y2="${BLOCK - 2}" stroke-dasharray="${DASHES[row.index % DASHES.length] ?? ""}"/>`
  }</svg></a>`;
}

/** Where it is quiet on purpose: dashed, below whom that leaves alone. */
function quietRow(plot: CalendarPlot, quiet: readonly QuietStretch[], y: number): Markup {
  const { range, timezone } = plot;
  return html`${
    plot.left > 0 &&
    html`<svg x="0" y="${y}" width="${plot.left}%" height="${ROW}"><text class="plot-label" x="0" y="24">maintenance</text></svg>`
  }${quiet.map(({ name, starts_at, ends_at, href }) => {
    const x = placeAt(plot, Math.max(starts_at, range.from));
    const width = rounded(placeAt(plot, Math.min(ends_at, range.until)) - x);
    const on = (at: number) => `${dayOf(at, timezone)} ${hourOf(at, timezone)}`;
    return html`<a class="cal-block cal-quiet" href="${href}"><title>Maintenance ${name}, ${on(starts_at)} to ${on(ends_at)}</title><svg aria-hidden="true" x="${x}%" y="${y + 4}" width="${width}%" height="${BLOCK}"><rect class="cal-box" x="1" y="1" width="100%" height="${BLOCK - 2}" rx="3"/><text class="cal-name" x="0" dx="6" y="21">${width < FITS.name ? "" : name}</text></svg></a>`;
  })}`;
}
