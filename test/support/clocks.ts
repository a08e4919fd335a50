/** A time of day; the zone behind it, or behind the end of its span. */
const CLOCK =
  /(?<![\d:])\d\d:\d\d(?::\d\d)?(?![\d:])(?! to (?:\d{4}-\d\d-\d\d )?\d\d:\d\d)(?! until (?:\w+ )*\d\d:\d\d)(?! (?:UTC|[A-Z]\w+\/\w+|[+-]\d{4})\b)/g;

/** The times of day in a text for people that name no zone, each with what is around it. */
export function clocksWithoutZone(text: string): string[] {
  return [...text.matchAll(CLOCK)].map(({ index }) =>
    text.slice(Math.max(0, index - 30), index + 30),
  );
}
