/** What is counted of one day, project, rule or person: sums, and spans of time in buckets. Pure. */

/** Sums, in the order in which they are stored: a new one goes to the end. */
export const counters = [
  "opened",
  "events",
  "pages",
  "rings",
  "interruptions",
  "night_rings",
  "night_interruptions",
  "nights_broken",
  "acknowledged",
  "ended_by_themselves",
  "reopened",
  "reached_nobody",
  "steps",
] as const;
export type Counter = (typeof counters)[number];

/** Seconds in buckets; `rang`: rings by the hour of the week, 0 is Monday 00:00. */
const sketches = ["opened_to_acknowledged", "opened_to_resolved", "told_to_shown", "rang"] as const;
type Sketch = (typeof sketches)[number];

/** How many there are in each bucket. */
export type SpanBuckets = Record<number, number>;

export interface DayFigures {
  counts: Record<Counter, number>;
  spans: Record<Sketch, SpanBuckets>;
}

const each = <K extends string, V>(names: readonly K[], make: (at: number) => V) =>
  Object.fromEntries(names.map((name, at) => [name, make(at)])) as Record<K, V>;

export const noFigures = (): DayFigures => ({
  counts: each(counters, () => 0),
  spans: each(sketches, () => ({})),
});

/** Adds these figures, or takes them away. */
export function addFigures(
  into: DayFigures,
  { counts, spans }: DayFigures,
  sign: 1 | -1 = 1,
): void {
  for (const name of counters) into.counts[name] += sign * counts[name];
  for (const name of sketches)
    for (const [bucket, n] of Object.entries(spans[name]))
      count(into.spans[name], Number(bucket), sign * n);
}

/** Counts one more in a bucket. */
export function count(buckets: SpanBuckets, bucket: number, n = 1): void {
  const sum = (buckets[bucket] ?? 0) + n;
  if (sum === 0) delete buckets[bucket];
  else buckets[bucket] = sum;
}

export const isNothing = ({ counts, spans }: DayFigures): boolean =>
  counters.every((name) => counts[name] === 0) &&
  sketches.every((name) => Object.keys(spans[name]).length === 0);

/** Each bucket is a tenth wider than the one before: what is read from it is at most 5 % off, or half a second. */
const WIDTH = Math.log(1.1);

/** The bucket of so many seconds; less than one, and a clock that was set back meanwhile, is 0. */
export const bucketOf = (seconds: number): number =>
  seconds < 1 ? 0 : 1 + Math.floor(Math.log(seconds) / WIDTH + 1e-9);

const secondsOf = (bucket: number): number =>
  bucket === 0 ? 0 : Math.round(Math.exp((bucket - 0.5) * WIDTH));

/** The seconds that a part of them, as 0.9, didn't exceed; null where there are none. */
export function quantile(buckets: SpanBuckets, part: number): number | null {
  const all = Object.entries(buckets)
    .map(([bucket, n]) => [Number(bucket), n] as const)
    .sort(([a], [b]) => a - b);
  const rank = Math.ceil(all.reduce((sum, [, n]) => sum + n, 0) * part);
  let seen = 0;
  for (const [bucket, n] of all) {
    seen += n;
    if (seen >= rank) return secondsOf(bucket);
  }
  return null;
}

/** As text of few bytes, for the store. */
export const writtenFigures = ({ counts, spans }: DayFigures): string =>
  JSON.stringify([counters.map((name) => counts[name]), ...sketches.map((name) => spans[name])]);

export function readFigures(text: string): DayFigures {
  const figures = noFigures();
  addWritten(figures, text);
  return figures;
}

/** Adds figures as they are stored: an answer reads thousands. */
export function addWritten({ counts, spans }: DayFigures, text: string): void {
  const [sums, ...kept] = JSON.parse(text) as [number[], ...SpanBuckets[]];
  for (let at = 0; at < counters.length; at++) counts[counters[at] as Counter] += sums[at] ?? 0;
  for (let at = 0; at < sketches.length; at++) {
    const buckets = spans[sketches[at] as Sketch];
    for (const bucket in kept[at]) count(buckets, Number(bucket), kept[at]?.[Number(bucket)] ?? 0);
  }
}
