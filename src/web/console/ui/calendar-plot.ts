import { html, type Markup } from "../../../ground/kit/html.ts";
import { cut } from "../../../ground/kit/text.ts";
import type { CalendarBlock, CalendarRow } from "./calendar-rows.ts";
import { initials } from "./faces.ts";
import type { CalendarDay, CalendarRange } from "./local-time.ts";
import type { PeopleNames } from "./people-names.ts";
import { dayOf, hourOf } from "./times.ts";

/** A calendar: a row each with its name and a strip, x in per cent of its width, so that it needs no script to fit. */

export interface CalendarPlot {
  rows: readonly CalendarRow[];
  range: CalendarRange;
  timezone: string;
  now: number;
  /** Whose blocks are outlined. */
  me: string;
  names: PeopleNames;
  /** 1 to 8. */
  hues(account: string): number;
  /** What it is, in words. */
  label: string;
  /** What stands before a row's strip, and before the days; without it strips alone are drawn. */
  head?(row: CalendarRow | null): Markup;
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
interface QuietStretch {
  name: string;
  starts_at: number;
  ends_at: number;
  href: string;
}

/** Below these shares of a strip, in per cent, that doesn't fit: at a desk, and on a phone. */
const FITS = { name: 100 / 9, hours: 12, days: 19, initials: 3.4, mark: 1.6, letter: 1 };
const FITS_PHONE = { name: 16, initials: 5.5, letter: 2.3 };

const rounded = (n: number): number => Math.round(n * 1e4) / 1e4;

/** Where an instant stands, in per cent. */
const placeAt = ({ from, until }: Pick<CalendarRange, "from" | "until">, at: number): number =>
  rounded(((at - from) / (until - from)) * 100);

/** "Ann, Mon 16 Nov 09:00 to Mon 23 Nov 09:00, weekly". */
function blockWords(
  { account_id, starts_at, ends_at, layer, override_id, away }: CalendarBlock,
  { names, timezone }: Pick<CalendarPlot, "names" | "timezone">,
): string {
  const on = (at: number) => `${dayOf(at, timezone)} ${hourOf(at, timezone)}`;
  const by = override_id !== null ? ", cover" : layer === null ? "" : `, ${layer}`;
  return `${names(account_id)}, ${on(starts_at)} to ${on(ends_at)}${by}${away ? ", away" : ""}`;
}

export function calendarPlot(plot: CalendarPlot): Markup {
  const { rows, label, quiet = [] } = plot;
  return html`<div class="cal${plot.head === undefined && " cal-bare"}" role="group" aria-label="${label}">${headRow(plot)}${rows.map((row, index) => drawnRow(plot, row, index))}${
    quiet.length > 0 && quietRow(plot, quiet)
  }</div>`;
}

/** One row: its name, and a strip with the midnights, what is drawn, and the line of now. */
function laidOut(
  { head, range, now }: CalendarPlot,
  row: CalendarRow,
  { drawn, more, lanes = 1 }: { drawn: readonly Markup[]; more: Markup | false; lanes?: number },
): Markup {
  const at = placeAt(range, now);
  return html`<div class="cal-row">${head !== undefined && html`<p class="cal-label">${head(row)}</p>`}<svg class="cal-strip${lanes > 1 && ` cal-lanes-${Math.min(5, lanes)}`}"${more}>${range.days
    .slice(1)
    .map(
      ({ since }) =>
        html`<line class="cal-midnight" x1="${placeAt(range, since)}%" x2="${placeAt(range, since)}%" y1="0" y2="100%"/>`,
    )}${at > 0 && at < 100 && html`<line class="cal-now" x1="${at}%" x2="${at}%" y1="0" y2="100%"/>`}${drawn}</svg></div>
`;
}

function headRow({ head, range, now, timezone }: CalendarPlot): Markup {
  const at = placeAt(range, now);
  const count = range.days.length;
  const days = range.days.map((day, index) => {
    const x = placeAt(range, day.since);
    const words = dayWords(day, { timezone, count, index });
    const isToday = now >= day.since && now < day.until;
    return html`<svg x="${x}%" y="0" width="${rounded(placeAt(range, day.until) - x)}%" height="26" data-day="${day.date}"><text class="cal-day cal-wide${isToday && " cal-today"}" x="6" y="60%">${words.wide}</text><text class="cal-day cal-slim${isToday && " cal-today"}" x="3" y="60%">${words.slim}</text></svg>`;
  });
  return html`<div class="cal-row cal-head${count > 8 && " cal-many"}">${head !== undefined && html`<p class="cal-label">${head(null)}</p>`}<svg class="cal-days" aria-hidden="true">${days}${
    at > 0 && at < 100 && html`<circle class="cal-now" cx="${at}%" cy="88%" r="3.5"/>`
  }</svg></div>
`;
}

/** "Mon 5", "M 5" or "5", as there is room. */
function dayWords(
  { since, date }: CalendarDay,
  { timezone, count, index }: { timezone: string; count: number; index: number },
): { wide: string; slim: string } {
  const weekday = dayOf(since, timezone).slice(0, 3);
  const day = String(Number(date.slice(8)));
  const slim = count <= 8 ? `${weekday.slice(0, 1)} ${day}` : day;
  return {
    wide: count <= 16 ? `${weekday} ${day}` : day,
    slim: count <= 16 || index % 7 === 0 ? slim : "",
  };
}

function drawnRow(plot: CalendarPlot, row: CalendarRow, index: number): Markup {
  const { range, pickTo } = plot;
  const picks = index === 0 && pickTo !== undefined;
  const { lanes, of } = lanesOf(row.blocks);
  return laidOut(plot, row, {
    lanes,
    drawn: row.blocks.map((block, i) => drawnBlock(plot, row, { block, lane: of[i] ?? WHOLE })),
    more:
      picks &&
      html` data-pick-to="${pickTo}" data-from="${range.from}" data-until="${range.until}"`,
  });
}

/** Which part of a strip's height a block has. */
interface Lane {
  top: number;
  height: number;
}

const WHOLE: Lane = { top: 0, height: 100 };

/** Blocks that lie over each other have a lane each, in the first that is free; the others all of the height. */
function lanesOf(blocks: readonly CalendarBlock[]): { lanes: number; of: Lane[] } {
  const ends: number[] = [];
  const places = blocks.map(({ starts_at, ends_at }) => {
    const free = ends.findIndex((end) => end <= starts_at);
    const place = free === -1 ? ends.length : free;
    ends[place] = ends_at;
    return place;
  });
  const lanes = Math.max(1, ends.length);
  const height = rounded(100 / lanes);
  const isAlone = (at: CalendarBlock) =>
    blocks.every((one) => one === at || one.ends_at <= at.starts_at || one.starts_at >= at.ends_at);
  const of = blocks.map((block, i) =>
    lanes === 1 || isAlone(block) ? WHOLE : { top: rounded((places[i] ?? 0) * height), height },
  );
  return { lanes, of };
}

function drawnBlock(
  plot: CalendarPlot,
  row: CalendarRow,
  { block, lane }: { block: CalendarBlock; lane: Lane },
): Markup {
  const { names, me, range, whole = (cut: CalendarBlock) => cut } = plot;
  const { account_id, starts_at, ends_at } = block;
  const x = placeAt(range, starts_at);
  const width = rounded(placeAt(range, ends_at) - x);
  const full = row.kind === "final" ? whole(block) : block;
  const look =
    account_id === null
      ? "cal-gap"
      : `hue-${plot.hues(account_id)}${account_id === me && row.kind === "final" ? " cal-mine" : ""}`;
  return html`<a class="cal-block ${look}" href="${plot.href(block, row)}" data-row-kind="${row.kind}" data-from="${starts_at}" data-until="${ends_at}"><title>${blockWords(full, plot)}</title><svg aria-hidden="true" x="${x}%" y="${lane.top}%" width="${width}%" height="${lane.height}%"><rect class="cal-box" width="100%" height="100%" rx="7"/>${
    account_id === null
      ? inGap(width)
      : inShift({
          width,
          name: account_id === me ? "You" : calledIn(names(account_id)),
          letters: initials(names(account_id)),
          hours: lane === WHOLE ? hoursIn(plot, full, width) : "",
          away: block.away === true,
        })
  }</svg></a>`;
}

const middle = (words: string, by: string): Markup =>
  html`<text class="cal-short${by}" x="50%" y="54%" text-anchor="middle">${words}</text>`;

const inGap = (width: number): Markup =>
  width >= FITS_PHONE.name
    ? html`<text class="cal-name" x="8" y="54%">Nobody</text>`
    : width >= FITS.mark
      ? middle("!", "")
      : html``;

const fitted = (text: string, most: number): string =>
  text.length > most ? `${cut(text, most - 1)}…` : text;

/** Of an address what stands before its @. */
const calledIn = (name: string): string => name.replace(/(?<=.)@.*/s, "");

interface InShift {
  width: number;
  name: string;
  letters: string;
  hours: string;
  away: boolean;
}

function inShift({ width, name, letters, hours, away }: InShift): Markup {
  const shown = fitted(`${name}${away ? " (away)" : ""}`, Math.floor(width / FITS.letter));
  const wide =
    width < FITS.name
      ? width >= FITS.initials && middle(letters, " cal-wide")
      : hours === ""
        ? html`<text class="cal-name cal-wide" x="9" y="54%">${shown}</text>`
        : html`<text class="cal-name cal-wide" x="9" y="34%">${shown}</text><text class="cal-hours cal-wide" x="9" y="72%">${hours}</text>`;
  const slim =
    width < FITS_PHONE.name
      ? width >= FITS_PHONE.initials && middle(letters, " cal-slim")
      : html`<text class="cal-name cal-slim" x="7" y="54%">${fitted(name.split(/\s/, 1)[0] ?? name, Math.floor(width / FITS_PHONE.letter))}</text>`;
  return html`${wide}${slim}`;
}

/** "Mon 10:00 – Fri 12:00", "until Mon 10:00" where the range cuts it and nobody says how long it is; empty where it doesn't fit. */
function hoursIn(
  { timezone, range }: CalendarPlot,
  { starts_at, ends_at }: CalendarBlock,
  width: number,
): string {
  const [first, last] = [dayOf(starts_at, timezone), dayOf(ends_at, timezone)];
  const on = (at: number) => `${dayOf(at, timezone).slice(0, 3)} ${hourOf(at, timezone)}`;
  const [begins, ends] = [starts_at !== range.from, ends_at !== range.until];
  if (begins && ends && first === last)
    return width < FITS.hours
      ? ""
      : `${hourOf(starts_at, timezone)} – ${hourOf(ends_at, timezone)}`;
  if (begins && ends) return width < FITS.days ? "" : `${on(starts_at)} – ${on(ends_at)}`;
  if (width < FITS.hours) return "";
  return begins ? `from ${on(starts_at)}` : ends ? `until ${on(ends_at)}` : "";
}

/** Where it is quiet on purpose: dashed, below whom that leaves alone. */
function quietRow(plot: CalendarPlot, quiet: readonly QuietStretch[]): Markup {
  const { range, timezone } = plot;
  const drawn = quiet.map(({ name, starts_at, ends_at, href }) => {
    const x = placeAt(range, Math.max(starts_at, range.from));
    const width = rounded(placeAt(range, Math.min(ends_at, range.until)) - x);
    const on = (at: number) => `${dayOf(at, timezone)} ${hourOf(at, timezone)}`;
    return html`<a class="cal-block cal-quiet" href="${href}"><title>Maintenance ${name}, ${on(starts_at)} to ${on(ends_at)}</title><svg aria-hidden="true" x="${x}%" y="0" width="${width}%" height="100%"><rect class="cal-box" width="100%" height="100%" rx="7"/><text class="cal-name" x="8" y="54%">${width < FITS_PHONE.name ? "" : name}</text></svg></a>`;
  });
  const row: CalendarRow = { kind: "layer", name: "Maintenance", index: 0, blocks: [] };
  return laidOut(plot, row, { drawn, more: false });
}
