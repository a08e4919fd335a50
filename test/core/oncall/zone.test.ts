import assert from "node:assert/strict";
import { test } from "node:test";
import { isTimezone, Zone } from "../../../src/core/oncall/zone.ts";

const AWKWARD = [
  "Europe/London",
  "Europe/Dublin",
  "America/Chicago",
  "America/St_Johns",
  "America/Havana",
  "America/Santiago",
  "America/Nuuk",
  "Atlantic/Azores",
  "Africa/Casablanca",
  "Africa/Cairo",
  "Antarctica/Troll",
  "Asia/Kolkata",
  "Asia/Tehran",
  "Asia/Kathmandu",
  "Australia/Lord_Howe",
  "Pacific/Apia",
  "Pacific/Chatham",
  "Pacific/Kiritimati",
];

const FROM = Temporal.Instant.from("2008-01-01T00:00Z");
const UNTIL = Temporal.Instant.from("2037-12-31T00:00Z");

/** Every clock change of the zone between FROM and UNTIL, Unix seconds. */
function changes(zone: string): number[] {
  const found: number[] = [];
  let next = FROM.toZonedDateTimeISO(zone).getTimeZoneTransition("next");
  while (next !== null && next.epochMilliseconds < UNTIL.epochMilliseconds) {
    found.push(next.epochMilliseconds / 1000);
    next = next.getTimeZoneTransition("next");
  }
  return found;
}

function byTemporal(civil: number, zone: string, disambiguation: "compatible" | "later"): number {
  const wall = Temporal.Instant.fromEpochMilliseconds(civil * 1000).toZonedDateTimeISO("UTC");
  const local = wall.toPlainDateTime().toZonedDateTime(zone, { disambiguation });
  return local.epochMilliseconds / 1000;
}

test("around every clock change of awkward zones, times resolve as Temporal says", () => {
  let compared = 0;
  for (const name of AWKWARD) {
    const zone = new Zone(name);
    for (const change of changes(name)) {
      for (const distance of [
        -90_001, -7200, -5400, -3600, -1801, -1800, -60, -1, 0, 1, 60, 1799,
      ]) {
        for (const at of [change + distance, change - distance]) {
          const local = Temporal.Instant.fromEpochMilliseconds(at * 1000).toZonedDateTimeISO(name);
          assert.equal(zone.offsetAt(at), local.offsetNanoseconds / 1e9, `${name} ${at}`);
          // As a wall reading before the change, and as one that may have been skipped or repeated.
          for (const offset of [zone.offsetAt(change - 1), zone.offsetAt(change)]) {
            const civil = at + offset;
            assert.equal(zone.first(civil), byTemporal(civil, name, "compatible"), `${name} ${at}`);
            assert.equal(zone.last(civil), byTemporal(civil, name, "later"), `${name} ${at}`);
            compared += 1;
          }
        }
      }
    }
  }
  assert.ok(compared > 20_000, `${compared} compared`);
});

test("a day that a zone skipped moves forward by a day", () => {
  const zone = new Zone("Pacific/Apia");
  const skipped = Date.UTC(2011, 11, 30, 9) / 1000;
  const after = Temporal.ZonedDateTime.from("2011-12-31T09:00[Pacific/Apia]");
  assert.equal(zone.first(skipped), after.epochMilliseconds / 1000);
  assert.equal(zone.last(skipped), after.epochMilliseconds / 1000);
});

test("times past what Temporal can name are still numbers", () => {
  const zone = new Zone("Europe/London");
  assert.equal(zone.first(1e17), 1e17 - zone.offsetAt(1e17));
  assert.ok(Number.isFinite(zone.last(-1e17)));
});

test("a time zone is an IANA name", () => {
  for (const name of ["Europe/London", "UTC", "Etc/GMT+5", "US/Eastern", "Asia/Calcutta", "GMT"]) {
    assert.equal(isTimezone(name), true, name);
  }
  const refused = [
    "",
    " ",
    "Z",
    "+02:00",
    "-00",
    "+0530",
    "Europe/Atlantis",
    " Europe/London",
    "Europe/London\0",
    "Europe/London[u-ca=hebrew]",
    "2026-01-01T00:00[Europe/London]",
    "local",
    "E".repeat(100_000),
  ];
  for (const name of refused) assert.equal(isTimezone(name), false, JSON.stringify(name));
});
