/** Clock times and when they come, read off the system's own calendar a quarter of an hour at a time. Unix seconds. */

const QUARTER = 900;
const FIRST = Date.UTC(2025, 11, 1) / 1000;
const LAST = Date.UTC(2028, 0, 1) / 1000;
const COARSE = 6 * 3600;

interface Stretch {
  from: number;
  offset: number;
}

const known = new Map<string, Stretch[]>();

/** The stretches between clock changes, the first from before every story. */
function stretchesOf(zone: string): Stretch[] {
  let stretches = known.get(zone);
  if (stretches === undefined) {
    stretches = read(zone);
    known.set(zone, stretches);
  }
  return stretches;
}

function read(zone: string): Stretch[] {
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone: zone,
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    second: "numeric",
  });
  const offsetAt = (at: number) => {
    const part = Object.fromEntries(
      format.formatToParts(at * 1000).map(({ type, value }) => [type, Number(value)]),
    ) as Record<"year" | "month" | "day" | "hour" | "minute" | "second", number>;
    const { year, month, day, hour, minute, second } = part;
    return Date.UTC(year, month - 1, day, hour, minute, second) / 1000 - at;
  };
  const stretches = [{ from: FIRST, offset: offsetAt(FIRST) }];
  for (let at = FIRST + COARSE; at < LAST; at += COARSE) {
    if (offsetAt(at) === stretches.at(-1)?.offset) continue;
    let from = at - COARSE;
    while (offsetAt(from) === stretches.at(-1)?.offset) from += QUARTER;
    stretches.push({ from, offset: offsetAt(from) });
  }
  return stretches;
}

function offsetOf(zone: string, at: number): number {
  return (stretchesOf(zone).findLast(({ from }) => from <= at) as Stretch).offset;
}

/** What the clock on the wall shows then, as if it stood in UTC. */
export function shownAt(zone: string, at: number): number {
  return at + offsetOf(zone, at);
}

/** When the clock on the wall shows this. One that it leaves out comes by the clock of before the change. */
export function comesAt(zone: string, shown: number, which: "first" | "last"): number {
  const offsets = new Set(stretchesOf(zone).map(({ offset }) => offset));
  const times = [...offsets]
    .map((offset) => shown - offset)
    .filter((at) => at >= FIRST && shownAt(zone, at) === shown)
    .toSorted((a, b) => a - b);
  const found = which === "first" ? times[0] : times.at(-1);
  return found ?? shown - offsetOf(zone, shown - 86_400);
}

/** Seconds at which a clock of these zones changes. */
export function changesOf(zones: readonly string[]): number[] {
  return zones
    .flatMap((zone) => stretchesOf(zone).slice(1))
    .map(({ from }) => from)
    .toSorted((a, b) => a - b);
}
