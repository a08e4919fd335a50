import assert from "node:assert/strict";
import { test } from "node:test";
import { busyDays } from "../../../src/core/oncall/busy-days.ts";
import fc from "../../support/property.ts";

const at = (iso: string): number => Date.parse(iso) / 1000;
const NOW = at("2026-11-01T00:00Z");
const calendar = (...events: string[][]): string =>
  ["BEGIN:VCALENDAR", ...events.flatMap((one) => ["BEGIN:VEVENT", ...one, "END:VEVENT"])]
    .concat("END:VCALENDAR", "")
    .join("\r\n");
const days = (...event: string[]): string[] =>
  (busyDays(calendar(event), NOW) ?? []).map(({ from, until, note }) =>
    [from, until]
      .map((one) => new Date(one * 1000).toISOString().slice(0, 10))
      .concat(note)
      .join(" "),
  );

const START = "DTSTART;VALUE=DATE:20261224";
const table: [what: string, event: string[], days: string[]][] = [
  ["one day", [START, "SUMMARY:Home\\, at last"], ["2026-12-24 2026-12-25 Home, at last"]],
  ["until a day", [START, "DTEND;VALUE=DATE:20261227"], ["2026-12-24 2026-12-27 "]],
  ["a length", [START, "DURATION:P2W"], ["2026-12-24 2027-01-07 "]],
  ["free", [START, "TRANSP:TRANSPARENT"], []],
  ["cancelled", [START, "STATUS:CANCELLED"], []],
  ["an hour", ["DTSTART:20261224T090000Z", "DTEND:20261224T100000Z"], []],
  ["no day", ["DTSTART;VALUE=DATE:20261301"], []],
  ["over", ["DTSTART;VALUE=DATE:20251224"], []],
  [
    "each Friday",
    ["DTSTART;VALUE=DATE:20261030", "RRULE:FREQ=WEEKLY;UNTIL=20261120"],
    ["2026-11-06 2026-11-07 ", "2026-11-13 2026-11-14 ", "2026-11-20 2026-11-21 "],
  ],
  [
    "Mondays and Thursdays of each second week",
    ["DTSTART;VALUE=DATE:20261109", "RRULE:FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,TH;COUNT=3"],
    ["2026-11-09 2026-11-10 ", "2026-11-12 2026-11-13 ", "2026-11-23 2026-11-24 "],
  ],
  [
    "the 31st of each month",
    ["DTSTART;VALUE=DATE:20261031", "RRULE:FREQ=MONTHLY;COUNT=2", "EXDATE;VALUE=DATE:20261031"],
    ["2026-12-31 2027-01-01 "],
  ],
  [
    "each year since long ago",
    ["DTSTART;VALUE=DATE:19901224", "RRULE:FREQ=YEARLY;UNTIL=20271231"],
    ["2026-12-24 2026-12-25 ", "2027-12-24 2027-12-25 "],
  ],
  [
    "a rule that isn't known: once",
    [START, "RRULE:FREQ=MONTHLY;BYDAY=-1FR"],
    ["2026-12-24 2026-12-25 "],
  ],
  [
    "an alarm inside has times of its own",
    ["BEGIN:VALARM", "DURATION:P9D", "END:VALARM", START],
    ["2026-12-24 2026-12-25 "],
  ],
];
for (const [what, event, expected] of table)
  test(`an event: ${what}`, () => assert.deepEqual(days(...event), expected));

test("days are the calendar's own, lines may be folded, and what is no calendar is none", () => {
  const text = calendar([START, "SUMMARY:Ski", " ing"]).replace(
    "BEGIN:VEVENT",
    "X-WR-TIMEZONE:Europe/Berlin\r\nBEGIN:VEVENT",
  );
  assert.deepEqual(busyDays(text, NOW), [
    { from: at("2026-12-23T23:00Z"), until: at("2026-12-24T23:00Z"), note: "Skiing" },
  ]);
  assert.equal(busyDays("<html>", NOW), null);
});

test("any text is read in time, and gives at most a hundred times that aren't over", () => {
  const part = fc.constantFrom(
    "BEGIN:VEVENT",
    "END:VEVENT",
    START,
    "DTEND;VALUE=DATE:20200101",
    "RRULE:FREQ=DAILY",
    "RRULE:FREQ=WEEKLY;BYDAY=MO;INTERVAL=0",
    "RRULE:FREQ=YEARLY;COUNT=-1",
    "RRULE:=;==",
    "DURATION:P99999D",
    'X;A="b:c";D=e:f',
  );
  fc.assert(
    fc.property(fc.array(fc.oneof(part, fc.string())), (lines) => {
      const spans = busyDays(["BEGIN:VCALENDAR", ...lines].join("\n"), NOW) ?? [];
      assert.ok(spans.length <= 100);
      for (const { from, until } of spans) assert.ok(from < until && until > NOW);
    }),
  );
  const event = ["DTSTART;VALUE=DATE:19700101", "RRULE:FREQ=MONTHLY"];
  const most = calendar(...Array.from({ length: 12_000 }, () => event));
  assert.ok(most.length < 1024 * 1024);
  const begin = process.threadCpuUsage();
  busyDays(most, NOW);
  const { user, system } = process.threadCpuUsage(begin);
  const took = (user + system) / 1000;
  assert.ok(took < 250, `${took} ms`);
});
