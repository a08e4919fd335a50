import assert from "node:assert/strict";
import { test } from "node:test";
import type { Hit } from "../../../src/core/alerts/hits.ts";
import { SlidingWindow } from "../../../src/in/ingest/window.ts";
import fc from "../../support/property.ts";

/** The rule's definition: goes through all matches each time. */
function naive(
  matches: { at: number; sourceId: number; level: number }[],
  now: number,
  rule: { count: number; distinct_sources: number; seconds: number },
) {
  const counted = matches.filter(({ at }) => at > now - rule.seconds);
  if (
    counted.length < rule.count ||
    new Set(counted.map(({ sourceId }) => sourceId)).size < rule.distinct_sources
  )
    return null;
  return {
    count: counted.length,
    sources: new Set(counted.map(({ sourceId }) => sourceId)).size,
    firstSeen: Math.min(...counted.map(({ at }) => at)),
    level: Math.max(...counted.map(({ level }) => level)),
  };
}

test("a sliding window equals counting every match again", () => {
  const match = fc.record({
    wait: fc.integer({ min: 0, max: 4 }),
    sourceId: fc.integer({ min: 1, max: 3 }),
    level: fc.constantFrom(100, 200, 500),
  });
  const rule = fc.record({
    count: fc.integer({ min: 1, max: 8 }),
    distinct_sources: fc.integer({ min: 1, max: 3 }),
    seconds: fc.integer({ min: 1, max: 12 }),
  });
  fc.assert(
    fc.property(
      fc.array(match, { maxLength: 60 }),
      rule,
      fc.integer({ min: 0, max: 60 }),
      (steps, limits, restartAt) => {
        let window = new SlidingWindow();
        let now = 1000;
        const seen: { at: number; sourceId: number; level: number }[] = [];
        const rows: Hit[] = [];
        steps.forEach(({ wait, sourceId, level }, i) => {
          // A restart reads the hits again; the window must go on unchanged.
          if (i === restartAt) window = new SlidingWindow(rows.map((hit) => ({ ...hit })));
          now += wait;
          const { hit, isNew } = window.add({ at: now, sourceId, level });
          if (isNew) rows.push(hit);
          else
            Object.assign(
              rows.findLast((row) => row.at === now && row.sourceId === sourceId) as Hit,
              hit,
            );
          seen.push({ at: now, sourceId, level });
          assert.deepEqual(window.fires(now, limits), naive(seen, now, limits));
        });
      },
    ),
  );
});

test("the edge: a match exactly one window old no longer counts", () => {
  const rule = { count: 2, distinct_sources: 1, seconds: 60 };
  const window = new SlidingWindow([{ at: 1000, sourceId: 1, n: 1, level: 200 }]);
  window.add({ at: 1059, sourceId: 1, level: 200 });
  assert.equal(window.fires(1059, rule)?.count, 2);
  assert.equal(window.fires(1060, rule), null);
});

test("a long window costs no more than a short one", () => {
  const window = new SlidingWindow();
  const rule = { count: 1_000_000, distinct_sources: 2, seconds: 31_536_000 };
  const before = performance.now();
  for (let at = 0; at < 300_000; at++) {
    window.add({ at, sourceId: 1, level: 200 });
    window.fires(at, rule);
  }
  // Going through all hits each time would be 45 billion steps.
  assert.ok(performance.now() - before < 5000);
});

test("of one second a window says what was heard last, whichever source it came from", () => {
  const window = new SlidingWindow();
  for (const [sourceId, n] of [
    [1, "5"],
    [2, "7"],
    [1, "6"],
  ] as const)
    window.hear(window.add({ at: 1, sourceId, level: 100 }).hit, { n }, []);
  assert.equal(window.said([]).labels["n"], "6");
  assert.equal(window.total, 3);
});
