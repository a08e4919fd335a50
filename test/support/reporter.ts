import { relative } from "node:path";
import { dot, type TestEvent } from "node:test/reporters";

const TOTAL = /^(tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) /;
/** What a test set going and didn't wait for: it fails the process, not the test. */
const LATE = /generated asynchronous activity after the test ended/;
const SEED = /^SEED=\d+$/m;
/** See `endStuck` in `preload.ts`. */
const STUCK = /^Its tests are over.+$/m;

/** A suite that is a file: see `together.ts`. */
const FILE = /^test\/.+\.test\.ts$/;

/**
 * A dot a test and the failures in full, then what the dot reporter leaves out: the ten files that took
 * longest, the totals, one a line, as the longer reporters write them, the random seeds that were taken, and what kept
 * a process from ending.
 */
export default async function* reporter(source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const totals: string[] = [];
  const times = new Map<string, number>();
  async function* watched(): AsyncGenerator<TestEvent> {
    for await (const event of source) {
      const told = event.type === "test:diagnostic" ? event.data.message : "";
      if (TOTAL.test(told) || LATE.test(told)) totals.push(`ℹ ${told}\n`);
      const seed = event.type === "test:stdout" && SEED.exec(event.data.message)?.[0];
      if (seed) totals.push(`ℹ ${seed} ${event.data.file ?? ""}\n`);
      const stuck = event.type === "test:stderr" && STUCK.exec(event.data.message)?.[0];
      if (stuck) totals.push(`ℹ ${relative(process.cwd(), event.data.file ?? "")}: ${stuck}\n`);
      for (const [file, ms] of timesIn(event)) times.set(file, ms);
      yield event;
    }
  }
  yield* dot(watched());
  yield* slowest(times);
  yield* totals;
}

/** What an event says of how long a file took, in milliseconds: a process's own, or one of many in a process. */
function timesIn({ type, data }: TestEvent): [file: string, ms: number][] {
  if (type === "test:complete" && data.nesting === 0 && FILE.test(data.name))
    return [[data.name, data.details.duration_ms]];
  if (type !== "test:summary" || data.file === undefined) return [];
  const file = relative(process.cwd(), data.file);
  return FILE.test(file) ? [[file, data.duration_ms]] : [];
}

function slowest(times: ReadonlyMap<string, number>): string[] {
  const first = [...times].sort(([, a], [, b]) => b - a).slice(0, 10);
  return first.map(([file, ms]) => `${(ms / 1000).toFixed(1).padStart(6)} s ${file}\n`);
}
