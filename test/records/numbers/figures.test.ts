import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Zone } from "../../../src/core/oncall/zone.ts";
import {
  firstDayOf,
  isNight,
  localDay,
  mondayOf,
  monthOf,
  sleepOf,
} from "../../../src/records/numbers/days.ts";
import {
  addFigures,
  bucketOf,
  count,
  isNothing,
  noFigures,
  quantile,
  readFigures,
  writtenFigures,
} from "../../../src/records/numbers/figures.ts";

const at = (text: string) => Date.parse(text) / 1000;

test("a quantile read from buckets is at most 5 % off, or half a second", () => {
  const spans = fc.array(fc.oneof(fc.nat(5_000), fc.nat(8_000_000)), { minLength: 1 });
  fc.assert(
    fc.property(spans, fc.constantFrom(0.5, 0.9), (all, part) => {
      const buckets = {};
      for (const seconds of all) count(buckets, bucketOf(seconds));
      const exact = all.toSorted((a, b) => a - b)[Math.ceil(all.length * part) - 1] ?? 0;
      const read = quantile(buckets, part) ?? -1;
      assert.ok(
        Math.abs(read - exact) <= Math.max(0.5, exact * 0.05 + 0.5),
        `${read} for ${exact}`,
      );
    }),
  );
  assert.equal(quantile({}, 0.5), null);
});

test("figures that are added, written, read and taken away again are nothing", () => {
  const one = noFigures();
  one.counts.opened = 3;
  one.counts.steps = -1;
  count(one.spans.rang, 167, 2);
  const two = readFigures(writtenFigures(one));
  assert.deepEqual(two, one);
  addFigures(two, one, -1);
  assert.ok(isNothing(two));
  // What an older program wrote has fewer sums.
  assert.equal(readFigures("[[7]]").counts.opened, 7);
});

test("nights, weekends and days are those of the zone's clock", () => {
  const berlin = new Zone("Europe/Berlin");
  const nights: [string, boolean, string | null][] = [
    ["2026-11-23T20:59:59Z", false, null],
    ["2026-11-23T21:00:00Z", true, null],
    ["2026-11-23T22:00:00Z", true, "2026-11-23"],
    ["2026-11-24T04:59:59Z", true, "2026-11-23"],
    ["2026-11-24T05:00:00Z", true, null],
    ["2026-11-24T06:00:00Z", false, null],
    // A Friday's midnight begins the weekend; a Sunday's ends it.
    ["2026-11-27T12:00:00Z", false, null],
    ["2026-11-27T23:00:00Z", true, "2026-11-27"],
    ["2026-11-28T12:00:00Z", true, null],
    ["2026-11-29T22:30:00Z", true, "2026-11-29"],
    // The clock goes back at 03:00, and the hour comes twice.
    ["2026-10-25T00:30:00Z", true, "2026-10-24"],
    ["2026-10-25T01:30:00Z", true, "2026-10-24"],
  ];
  for (const [text, night, sleep] of nights) {
    assert.equal(isNight(berlin, at(text)), night, text);
    const day = sleep === null ? null : at(sleep) / 86_400;
    assert.equal(sleepOf(berlin, at(text)), day, text);
  }
  assert.equal(localDay(berlin, at("2026-11-23T23:00:00Z")), at("2026-11-24") / 86_400);
  assert.equal(mondayOf(at("2026-11-29") / 86_400), at("2026-11-23") / 86_400);
  assert.equal(mondayOf(0), -3);
  fc.assert(
    fc.property(fc.integer({ min: -40_000, max: 40_000 }), (day) => {
      const month = monthOf(day);
      assert.ok(firstDayOf(month) <= day && day < firstDayOf(month + 1));
    }),
  );
});
