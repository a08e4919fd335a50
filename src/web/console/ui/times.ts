import { html, type Markup } from "../../../ground/kit/html.ts";
import { zoneOrUtc } from "../../../ground/kit/wall-time.ts";
import type { PageCall } from "../screen.ts";

type Seen = Pick<PageCall, "now" | "look">;

const DAY = 86_400;
const UNITS: readonly [seconds: number, one: string, many: string][] = [
  [DAY, "day", "days"],
  [3600, "h", "h"],
  [60, "min", "min"],
  [1, "s", "s"],
];

/** "4 min", "3 h", "5 days": the largest unit, rounded down; days to the nearest, since nearly five are no four. */
export function span(seconds: number): string {
  const of = Math.max(0, Math.floor(seconds));
  const [unit, one, many] = UNITS.find(([each]) => of >= each) ?? [1, "s", "s"];
  const n = unit === DAY ? Math.round(of / unit) : Math.floor(of / unit);
  return `${n} ${n === 1 ? one : many}`;
}

/** "4 min ago"; kept fresh by the page's script, exact in its title. */
export function ago({ now, look }: Seen, at: number): Markup {
  const text = now - at < 5 ? "now" : `${span(now - at)} ago`;
  return html`<time datetime="${iso(at)}" data-ago title="${exact(at, look.zone)}">${text}</time>`;
}

/** "4 min": how long it lasts by now. */
export function since({ now, look }: Seen, at: number): Markup {
  return html`<time datetime="${iso(at)}" data-ago="bare" title="${exact(at, look.zone)}">${span(now - at)}</time>`;
}

/** "9 s", "3:12", "12 min", "1 h 3 min", "2 days": counts down to it. */
export function until({ now, look }: Seen, at: number): Markup {
  const left = Math.max(0, at - now);
  const two = (n: number) => String(n).padStart(2, "0");
  const hours = Math.floor(left / 3600);
  const minutes = Math.floor(left / 60) % 60;
  const text =
    left >= 2 * DAY
      ? span(left)
      : hours > 0
        ? `${hours} h${minutes > 0 ? ` ${minutes} min` : ""}`
        : minutes >= 10
          ? `${minutes} min`
          : minutes > 0
            ? `${minutes}:${two(left % 60)}`
            : `${left} s`;
  return html`<time datetime="${iso(at)}" data-until role="timer" title="${exact(at, look.zone)}">${text}</time>`;
}

/** On the reader's clock: "02:14", with the day where it isn't today's: "Mon 16 Nov 02:14". */
export function clockTime({ now, look }: Seen, at: number): Markup {
  return html`<time datetime="${iso(at)}" title="${exact(at, look.zone)}">${timeOnClock({ now, look }, at)}</time>`;
}

/** "02:14:05", for what comes many times a minute. */
export function clockSeconds({ look }: Pick<Seen, "look">, at: number): Markup {
  return html`<time datetime="${iso(at)}" title="${exact(at, look.zone)}">${format(look.zone, "seconds").format(new Date(at * 1000))}</time>`;
}

export function timeOnClock({ now, look: { zone } }: Seen, at: number): string {
  const day = format(zone, "day");
  const on = (seconds: number) => day.format(new Date(seconds * 1000));
  const time = format(zone, "time").format(new Date(at * 1000));
  return on(at) === on(now) ? time : `${on(at)} ${time}`;
}

/** "Mon 16 Nov", wherever today is. */
export function dayOf(at: number, zone: string): string {
  return format(zone, "day").format(new Date(at * 1000));
}

/** "09:00". */
export function hourOf(at: number, zone: string): string {
  return format(zone, "time").format(new Date(at * 1000));
}

/** What `exact` said last, by zone and time: an open page is drawn again and again, and has three of them in each row. */
const exactly = new Map<string, string>();
const MOST_EXACT = 2_000;

/** "Mon, 16 Nov 2026, 02:14:05 CET". */
export function exact(at: number, zone: string): string {
  const key = `${at} ${zone}`;
  const known = exactly.get(key);
  if (known !== undefined) return known;
  if (exactly.size >= MOST_EXACT) exactly.clear();
  const text = format(zone, "exact").format(new Date(at * 1000));
  exactly.set(key, text);
  return text;
}

function iso(at: number): string {
  return new Date(at * 1000).toISOString().replace(".000Z", "Z");
}

const SHAPES = {
  time: { hour: "2-digit", minute: "2-digit", hourCycle: "h23" },
  seconds: { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" },
  day: { weekday: "short", day: "numeric", month: "short" },
  exact: {
    weekday: "short",
    day: "numeric",
    month: "short",
    year: "numeric",
    hourCycle: "h23",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    timeZoneName: "short",
  },
} as const satisfies Record<string, Intl.DateTimeFormatOptions>;

const formats = new Map<string, Intl.DateTimeFormat>();

/** Made once for each zone: to make one costs far more than to use it. */
function format(zone: string, shape: keyof typeof SHAPES): Intl.DateTimeFormat {
  const key = `${shape} ${zone}`;
  const known = formats.get(key);
  if (known !== undefined) return known;
  if (formats.size > 200) formats.clear();
  const made = new Intl.DateTimeFormat("en-GB", {
    ...SHAPES[shape],
    timeZone: zoneOrUtc(zone),
  });
  formats.set(key, made);
  return made;
}
