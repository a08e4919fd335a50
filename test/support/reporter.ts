import type { TestEvent } from "node:test/reporters";
import { dot } from "node:test/reporters";

const TOTAL = /^(tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) /;
const SEED = /^SEED=\d+$/m;

/**
 * A dot a test and the failures in full, then what the dot reporter leaves out: the totals, one a line,
 * as the longer reporters write them, and the random seeds that were taken.
 */
export default async function* reporter(source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const totals: string[] = [];
  async function* watched(): AsyncGenerator<TestEvent> {
    for await (const event of source) {
      const isTotal = event.type === "test:diagnostic" && TOTAL.test(event.data.message);
      if (isTotal) totals.push(`ℹ ${event.data.message}\n`);
      const seed = event.type === "test:stdout" && SEED.exec(event.data.message)?.[0];
      if (seed) totals.push(`ℹ ${seed} ${event.data.file ?? ""}\n`);
      yield event;
    }
  }
  yield* dot(watched());
  yield* totals;
}
