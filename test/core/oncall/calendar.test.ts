import assert from "node:assert/strict";
import { test } from "node:test";
import { type CalendarInput, followIcalendar } from "../../../src/core/oncall/calendar.ts";
import { finish } from "../../../src/ground/kit/slices.ts";
import fc from "../../support/property.ts";

const icalendar = (input: CalendarInput) => finish(followIcalendar(input));

const monday = Date.UTC(2026, 2, 30, 8) / 1000;

const shift = {
  account_id: "ada",
  email: "ada@example.com",
  starts_at: monday,
  ends_at: monday + 86_400,
  layer: "first line",
  schedule: { id: "00112233445566aa", name: "primary" },
};

const input = {
  name: "primary",
  made_at: monday - 61,
  shifts: [shift],
};

/** The calendar's content lines, unfolded, as name and value. */
function read(calendar: string): [string, string][] {
  const lines = calendar.replaceAll("\r\n ", "").split("\r\n");
  assert.equal(lines.pop(), "", "the last line is ended too");
  return lines.map((line) => {
    const colon = line.indexOf(":");
    return [line.slice(0, colon), line.slice(colon + 1)];
  });
}

function propertyOf(calendar: string, name: string): string | undefined {
  return read(calendar).find(([key]) => key === name)?.[1];
}

function unescaped(value: string): string {
  return value.replace(/\\([\\;,n])/g, (_, c: string) => (c === "n" ? "\n" : c));
}

test("a shift is an event in UTC with everything an event must have", () => {
  assert.equal(
    icalendar(input),
    [
      "BEGIN:VCALENDAR",
      "VERSION:2.0",
      "PRODID:-//box//on-call schedule//EN",
      "CALSCALE:GREGORIAN",
      "METHOD:PUBLISH",
      "NAME:On call: primary",
      "X-WR-CALNAME:On call: primary",
      "REFRESH-INTERVAL;VALUE=DURATION:PT1H",
      "X-PUBLISHED-TTL:PT1H",
      "BEGIN:VEVENT",
      `UID:00112233445566aa-${monday}@box`,
      "DTSTAMP:20260330T075859Z",
      "DTSTART:20260330T080000Z",
      "DTEND:20260331T080000Z",
      "SUMMARY:ada@example.com on call (primary)",
      "DESCRIPTION:Layer: first line",
      "TRANSP:TRANSPARENT",
      "END:VEVENT",
      "END:VCALENDAR",
      "",
    ].join("\r\n"),
  );
});

test("a shift keeps its UID when it grows, changes hands or is fetched later", () => {
  const changed = {
    ...input,
    made_at: monday + 500,
    shifts: [{ ...shift, email: "ben@example.com", ends_at: monday + 7200, layer: null }],
  };
  assert.equal(propertyOf(icalendar(changed), "UID"), propertyOf(icalendar(input), "UID"));
  assert.equal(propertyOf(icalendar(changed), "DESCRIPTION"), "Override");
});

test("shifts that begin at the same second have UIDs of their own, the first the one it would have alone", () => {
  const beside = { ...shift, account_id: "ben", email: "ben@example.com" };
  const uids = read(icalendar({ ...input, shifts: [shift, beside] })).filter(
    ([name]) => name === "UID",
  );
  assert.deepEqual(
    uids.map(([, uid]) => uid),
    [`00112233445566aa-${monday}@box`, `00112233445566aa-${monday}-ben@box`],
  );
});

test("text is escaped and can't end its line", () => {
  const name = "a;b,c\\d\r\nEND:VCALENDAR\u2028x\u0007\u0085y";
  const calendar = icalendar({
    ...input,
    name,
    shifts: [{ ...shift, schedule: { id: "1", name } }],
  });
  assert.equal(
    propertyOf(calendar, "SUMMARY"),
    "ada@example.com on call (a\\;b\\,c\\\\d\\nEND:VCALENDAR\\nx\\ny)",
  );
  assert.equal(read(calendar).filter(([, value]) => value === "VCALENDAR").length, 2);
});

test("whatever the names: lines of at most 75 octets, whole characters, text that reads back", () => {
  const name = fc.string({ unit: "grapheme", maxLength: 200, size: "max" });
  fc.assert(
    fc.property(name, name, (schedule_name, layer) => {
      const schedule = { id: "1", name: schedule_name };
      const calendar = icalendar({ ...input, shifts: [{ ...shift, schedule, layer }] });
      for (const line of calendar.split("\r\n")) {
        assert.ok(Buffer.byteLength(line) <= 75, line);
        assert.ok(line.isWellFormed(), "a character was cut in two");
      }
      // Only control characters and the kinds of line break may read back as something else.
      fc.pre(!/[\p{Cc}\u2028\u2029]/u.test(schedule_name + layer));
      const summary = unescaped(propertyOf(calendar, "SUMMARY") ?? "");
      assert.equal(summary, `ada@example.com on call (${schedule_name})`);
      assert.equal(unescaped(propertyOf(calendar, "DESCRIPTION") ?? ""), `Layer: ${layer}`);
    }),
    { numRuns: 300 },
  );
});

test("a calendar without shifts still holds the one component it must", () => {
  const kinds = read(icalendar({ ...input, shifts: [] })).filter(([key]) => key === "BEGIN");
  assert.deepEqual(
    kinds.map(([, value]) => value),
    ["VCALENDAR", "VTIMEZONE", "STANDARD"],
  );
});
