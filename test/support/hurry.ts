/**
 * Time that goes faster, for processes that are started and killed on one data directory: a minute of the box is a few seconds.
 * All processes with one beginning agree on what time it is. Loaded before a program (`--import`, with `?from&times`) it sets
 * what kit/clock.ts asks of the machine.
 */
export interface Hurry {
  /** Where it began, in milliseconds of both times. */
  from: number;
  times: number;
}

const dateNow = Date.now;

export const hurried = ({ from, times }: Hurry): number =>
  Math.round(from + (dateNow() - from) * times);

/** What Node is told, before the name of the program. */
export const hurryWords = ({ from, times }: Hurry): string[] => [
  "--import",
  `${import.meta.url.replace(/\?.*/, "")}?from=${from}&times=${times}`,
];

const asked = new URL(import.meta.url).searchParams;
if (asked.has("times")) {
  const hurry = { from: Number(asked.get("from")), times: Number(asked.get("times")) };
  const { setTimeout: timeout, performance } = globalThis;
  const mono = performance.now.bind(performance);
  Date.now = () => hurried(hurry);
  performance.now = () => mono() * hurry.times;
  globalThis.setTimeout = Object.assign(
    (fn: () => void, ms = 0, ...more: []) => timeout(fn, ms / hurry.times, ...more),
    timeout,
  );
}
