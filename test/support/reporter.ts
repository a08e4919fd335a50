import type { TestEvent } from "node:test/reporters";
import { dot } from "node:test/reporters";

const TOTAL = /^(tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) /;

/**
 * A dot a test and the failures in full, then the totals that the dot reporter leaves out, one a
 * line, as the longer reporters write them.
 */
export default async function* reporter(source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const totals: string[] = [];
  async function* watched(): AsyncGenerator<TestEvent> {
    for await (const event of source) {
      const isTotal = event.type === "test:diagnostic" && TOTAL.test(event.data.message);
      if (isTotal) totals.push(`ℹ ${event.data.message}\n`);
      yield event;
    }
  }
  yield* dot(watched());
  yield* totals;
}
