import { test as nodes } from "node:test";

/**
 * Which tests this run is of: "short" is `npm test`, "long" is `npm run test:long`, which has what the other leaves out.
 * A file that is run by itself has all of its tests.
 */
const suite = process.env["BOX_TEST_SUITE"];

const leftOut: typeof nodes = Object.assign(() => Promise.resolve(), nodes);

/**
 * A test that costs seconds of CPU, and whose promise a shorter one guards already in daily work. A file that has one takes
 * its other tests from here, too. A file without a short one stands in LONG of `groups.ts` instead.
 */
export const long = suite === "short" ? leftOut : nodes;

export const test = suite === "long" ? leftOut : nodes;

/** One test in two lengths: with few rounds in daily work, with as many as it takes in the long suite. */
export const inBoth = (few: number, many: number) =>
  [
    [test, few],
    [long, many],
  ] as const;
