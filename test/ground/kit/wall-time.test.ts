import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import {
  dated,
  lastFriday,
  offsetTime,
  secondsFrom,
  wallTime,
} from "../../../src/ground/kit/wall-time.ts";

/** 2026-11-21 12:00 in UTC, 13:00 in Berlin, a Saturday. */
const now = Date.UTC(2026, 10, 21, 12) / 1000;
const shown = (text: string, zone = "Europe/Berlin") => {
  const seconds = secondsFrom(text, now, zone);
  return seconds === null ? null : new Date(seconds * 1000).toISOString().slice(0, 16);
};

test("a time is typed as people write it, with a zone, an offset, or the terminal's own", () => {
  const cases: [string, string][] = [
    ["2026-11-21 18:00 Europe/Berlin", "2026-11-21T17:00"],
    ["2026-11-21 18:00 America/New_York", "2026-11-21T23:00"],
    ["2026-11-21 18:00", "2026-11-21T17:00"],
    ["2026-07-01T18:00", "2026-07-01T16:00"],
    ["2026-11-21T18:00:00Z", "2026-11-21T18:00"],
    ["2026-11-21T18:00+05:30", "2026-11-21T12:30"],
    ["2026-11-22", "2026-11-21T23:00"],
    ["18:00", "2026-11-21T17:00"],
    ["9:30", "2026-11-22T08:30"],
    ["13:00", "2026-11-22T12:00"],
    ["18:00 UTC", "2026-11-21T18:00"],
    ["+2h", "2026-11-21T14:00"],
    ["+1d12h30m", "2026-11-23T00:30"],
    ["now", "2026-11-21T12:00"],
    [String(now), "2026-11-21T12:00"],
  ];
  for (const [text, at] of cases) assert.equal(shown(text), at, text);
});

test("when clocks change: a time that is skipped is none, of one that comes twice the first", () => {
  assert.equal(shown("2026-03-29 02:30 Europe/Berlin"), null);
  assert.equal(shown("2026-10-25 02:30 Europe/Berlin"), "2026-10-25T00:30");
});

test("what is no time is none", () => {
  const texts = [
    "",
    "soon",
    "25:00",
    "2026-02-30",
    "18:00 Nowhere/City",
    "+2",
    "+",
    "12",
    "2026-11-21 18",
  ];
  for (const text of texts) assert.equal(shown(text), null, text);
});

test("only what says its day means the same whenever it is read", () => {
  assert.equal(dated("2026-01-05 09:00", "Europe/Berlin"), Date.UTC(2026, 0, 5, 8) / 1000);
  assert.equal(dated("2026-01-05", "UTC"), Date.UTC(2026, 0, 5) / 1000);
  for (const text of ["18:00", "+2h", "now", "1767600000"]) assert.equal(dated(text, "UTC"), null);
});

test("what a zone's clocks show is read back as the same time, but for the second of two", () => {
  assert.equal(wallTime(now, "America/New_York"), "2026-11-21 07:00");
  const zone = "Europe/Berlin";
  for (let at = Date.UTC(2026, 9, 24) / 1000; at < Date.UTC(2026, 9, 26) / 1000; at += 900) {
    const again = dated(wallTime(at, zone), zone);
    const isSecond = at >= Date.UTC(2026, 9, 25, 1) / 1000 && at < Date.UTC(2026, 9, 25, 2) / 1000;
    assert.equal(again, isSecond ? at - 3600 : at, wallTime(at, zone));
  }
});

test("a time with its offset is read back as the same second, by whatever clock it is written or read", () => {
  assert.equal(offsetTime(now, "Europe/Berlin"), "2026-11-21 13:00+01:00");
  assert.equal(offsetTime(now + 5, "Asia/Kolkata"), "2026-11-21 17:30:05+05:30");
  assert.equal(offsetTime(now, "UTC"), "2026-11-21 12:00Z");
  const zones = fc.constantFrom("UTC", "Europe/Berlin", "Asia/Kolkata", "America/St_Johns");
  const times = fc.integer({ min: 0, max: 4_000_000_000 });
  fc.assert(
    fc.property(times, zones, zones, (at, written, read) => {
      assert.equal(dated(offsetTime(at, written), read), at);
    }),
  );
});

test("the last Friday began at the reader's midnight; on a Friday it is that of a week ago", () => {
  const zone = "Europe/Berlin";
  const from = (text: string) => lastFriday(dated(text, zone) as number, zone);
  const friday = dated("2026-10-23", zone);
  for (const at of ["2026-10-24 00:00", "2026-10-26 09:00", "2026-10-30 23:59"])
    assert.equal(from(at), friday, at);
  assert.equal(from("2026-10-23 12:00"), dated("2026-10-16", zone));
  // Monday in Auckland is Sunday in Berlin.
  const monday = dated("2026-10-26 01:00", "Pacific/Auckland") as number;
  assert.equal(lastFriday(monday, "Pacific/Auckland"), dated("2026-10-23", "Pacific/Auckland"));
});
