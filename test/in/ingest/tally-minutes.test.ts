import assert from "node:assert/strict";
import { test } from "node:test";
import { createMinutes } from "../../../src/in/ingest/tally.ts";
import fc from "../../support/property.ts";

test("the hour by the minute equals a count of all events, at any time", () => {
  const steps = fc.array(
    fc.record({ after: fc.integer({ min: 0, max: 5000 }), n: fc.integer({ min: 1, max: 9 }) }),
    { maxLength: 40 },
  );
  fc.assert(
    fc.property(steps, fc.integer({ min: 0, max: 8000 }), (events, later) => {
      const minutes = createMinutes();
      const told: { minute: number; n: number }[] = [];
      let at = 1_700_000_000;
      for (const { after, n } of events) {
        at += after;
        minutes.add(at, n);
        told.push({ minute: Math.floor(at / 60), n });
      }
      const end = Math.floor((at + later) / 60);
      const wanted = Array.from({ length: 60 }, (_, i) =>
        told.filter(({ minute }) => minute === end - 59 + i).reduce((sum, { n }) => sum + n, 0),
      );
      assert.deepEqual(minutes.until(at + later), wanted);
    }),
  );
});

test("setting the clock back clears the hour", () => {
  const minutes = createMinutes();
  minutes.add(1_700_000_000, 5);
  minutes.add(1_600_000_000, 2);
  assert.equal(minutes.until(1_600_000_000).at(-1), 2);
  assert.equal(
    minutes.until(1_700_000_000).reduce((sum, n) => sum + n, 0),
    0,
  );
});
