import type { RuleBody } from "./rule.ts";

/** Whether something comes more often than in the same hours of the weeks before. Pure; times are Unix seconds. */

export const AN_HOUR = 3600;
const WEEK = 168 * AN_HOUR;
const WEEKS = 4;
/** Weeks that there have to be at least. */
export const LEAST_WEEKS = 2;

/** Hours of the longest window. */
const MOST_HOURS = 168;

/** What a rule asks for: more than so many times as often, and so often at least. */
export interface Unusual {
  factor: number;
  atLeast: number;
  /** Of the window: whole hours. */
  hours: number;
}

export function unusualOf({
  match,
  fire_after,
}: Pick<RuleBody, "match" | "fire_after">): Unusual | null {
  const { unusual } = match;
  if (unusual === null) return null;
  const hours = Math.min(MOST_HOURS, Math.ceil(fire_after.window_minutes / 60));
  return { factor: unusual.factor, atLeast: unusual.at_least, hours };
}

/** Counts of a window that ends within an hour: of the hour that is cut at its beginning, those between, and the last. */
interface Parts {
  cut: number;
  between: number;
  last: number;
}

/** The day of Unix time. */
export const unixDay = (at: number): number => Math.floor(at / (24 * AN_HOUR));

/** What is compared within one hour. The present one's `last` is what came of it so far. */
export interface ComparedWeeks {
  present: Omit<Parts, "last">;
  /** Of the weeks that were counted throughout. */
  weeks: Parts[];
}

type HoursOf = (day: number) => readonly number[] | null;

/** Counts of hours: reads those of each day once. */
function countsBy(hoursOf: HoursOf): (hour: number) => number {
  const days = new Map<number, readonly number[] | null>();
  return (hour) => {
    const day = unixDay(hour * AN_HOUR);
    if (!days.has(day)) days.set(day, hoursOf(day));
    return days.get(day)?.[hour % 24] ?? 0;
  };
}

/** Of the window that ends in hour `last` what came before that hour. */
function beforeHour(
  last: number,
  hours: number,
  countOf: (hour: number) => number,
): ComparedWeeks["present"] {
  let between = 0;
  for (let hour = last - hours + 1; hour < last; hour++) between += countOf(hour);
  return { cut: countOf(last - hours), between };
}

/** Up to how many of the present hour there are too few to ask how many usually come. */
export function fewUpTo(
  at: number,
  { atLeast, hours }: Unusual,
  { hoursOf }: { hoursOf: HoursOf },
): number {
  const { cut, between } = beforeHour(Math.floor(at / AN_HOUR), hours, countsBy(hoursOf));
  return atLeast - 1 - cut - between;
}

/** Of the hour of `at`. */
export function comparedAt(
  at: number,
  { hours }: Pick<Unusual, "hours">,
  from: {
    since: number;
    /** Seconds in which the box was off, of stretches that touch the span. */
    off(from: number, until: number): number;
    hoursOf: HoursOf;
  },
): ComparedWeeks {
  const now = Math.floor(at / AN_HOUR);
  const countOf = countsBy(from.hoursOf);
  const until = (last: number) => beforeHour(last, hours, countOf);
  const weeks: Parts[] = [];
  for (let week = 1; week <= WEEKS; week++) {
    const last = now - (week * WEEK) / AN_HOUR;
    const begins = (last - hours) * AN_HOUR;
    if (begins < from.since || from.off(begins, (last + 1) * AN_HOUR) > 0) continue;
    weeks.push({ ...until(last), last: countOf(last) });
  }
  return { present: until(now), weeks };
}

/** How many came in the window that ends at `at`, and how many usually did; null where fewer than two weeks are known. */
export function countsAt(at: number, { present, weeks }: ComparedWeeks, soFar: number) {
  const passed = (at % AN_HOUR) / AN_HOUR;
  const count = present.cut * (1 - passed) + present.between + soFar;
  if (weeks.length < LEAST_WEEKS) return { count, usual: null };
  const counts = weeks.map(
    ({ cut, between, last }) => cut * (1 - passed) + between + last * passed,
  );
  return { count, usual: medianOf(counts) };
}

function medianOf(counts: number[]): number {
  counts.sort((a, b) => a - b);
  const middle = counts.length / 2;
  const [low = 0, high = 0] = [counts[Math.ceil(middle) - 1], counts[Math.floor(middle)]];
  return (low + high) / 2;
}

/** Up to how many of the present hour it is surely not unusual, whenever in it they came. */
export function usualUpTo({ factor, atLeast }: Unusual, { present, weeks }: ComparedWeeks): number {
  if (weeks.length < LEAST_WEEKS) return Number.POSITIVE_INFINITY;
  const least = medianOf(weeks.map(({ cut, between, last }) => between + Math.min(cut, last)));
  const before = present.cut + present.between;
  return Math.max(atLeast - 1 - before, Math.floor(factor * least) - before);
}

export function isUnusual(
  { factor, atLeast }: Unusual,
  { count, usual }: { count: number; usual: number | null },
): boolean {
  return usual !== null && count >= atLeast && count > factor * usual;
}

/** From when on a series that counts since then can be compared with two weeks. */
export function firstCompared(
  { since }: { since: number },
  { hours }: Pick<Unusual, "hours">,
): number {
  return Math.ceil(since / AN_HOUR) * AN_HOUR + hours * AN_HOUR + LEAST_WEEKS * WEEK;
}
