import assert from "node:assert/strict";
import { test } from "node:test";
import {
  followCalendar,
  followDuties,
  followNext,
  preview,
  whoIsOnCall,
} from "../../../src/core/oncall/rotation.ts";
import type { Layer, Schedule } from "../../../src/core/oncall/schedule.ts";
import { finish } from "../../../src/ground/kit/slices.ts";

const onCallAt = (schedule: Schedule, at: number) => finish(followDuties(schedule, at))[0] ?? null;
const nextOnCall = (schedule: Schedule, at: number) => finish(followNext(schedule, at));

const LONDON = "Europe/London";
const DAY = 86_400;

/** Unix seconds of a local time, "2026-03-30 09:00"; an offset picks one of two: "… 01:30+01:00". */
function at(local: string, zone = LONDON): number {
  return Temporal.ZonedDateTime.from(`${local}[${zone}]`).epochMilliseconds / 1000;
}

function layer(change: Partial<Layer> = {}): Layer {
  return {
    name: "first",
    participants: ["ada", "ben", "cy"],
    rotation_start: at("2026-03-02 09:00"),
    shift_minutes: 1440,
    restriction: null,
    ...change,
  };
}

function schedule(layers: Layer[], more: Partial<Schedule> = {}): Schedule {
  return { timezone: LONDON, layers, overrides: [], holidays: new Map(), ...more };
}

const always = (account: string, name = "first") => layer({ name, participants: [account] });
const hours = (start_minute: number, end_minute: number, days: number[] = []) => ({
  days,
  start_minute,
  end_minute,
});

/** Who is on call just before and right at each moment: "ada>ben". */
function turn(s: Schedule, moment: number): string {
  return `${whoIsOnCall(s, moment - 1)[0] ?? "-"}>${whoIsOnCall(s, moment)[0] ?? "-"}`;
}

function expectTurns(s: Schedule, expected: Record<string, string>): void {
  for (const [local, change] of Object.entries(expected)) {
    assert.equal(turn(s, at(local, s.timezone)), change, local);
  }
}

test("the later layer wins where it covers, the earlier shows where it doesn't", () => {
  const s = schedule([
    always("ada", "base"),
    layer({ name: "nights", participants: ["ben"], restriction: hours(22 * 60, 24 * 60) }),
    layer({ name: "late", participants: ["cy"], restriction: hours(23 * 60, 24 * 60) }),
  ]);
  expectTurns(s, {
    "2026-03-04 22:00": "ada>ben",
    "2026-03-04 23:00": "ben>cy",
    "2026-03-05 00:00": "cy>ada",
  });
  assert.equal(onCallAt(s, at("2026-03-04 22:30"))?.layer, "nights");
});

test("an override beats every layer over [starts_at, ends_at), and the newer beats the older", () => {
  const noon = at("2026-03-04 12:00");
  const s = schedule([always("ada", "base"), always("ben", "top")], {
    overrides: [
      { id: "old", account_id: "cy", starts_at: noon, ends_at: noon + 3 * 3600 },
      { id: "new", account_id: "dee", starts_at: noon + 3600, ends_at: noon + 2 * 3600 },
      { id: "before", account_id: "eve", starts_at: noon - 3600, ends_at: noon },
    ],
  });
  expectTurns(s, {
    "2026-03-04 11:00": "ben>eve",
    "2026-03-04 12:00": "eve>cy",
    "2026-03-04 13:00": "cy>dee",
    "2026-03-04 14:00": "dee>cy",
    "2026-03-04 15:00": "cy>ben",
  });
  assert.deepEqual(onCallAt(s, noon + 3600), {
    account_id: "dee",
    starts_at: noon + 3600,
    ends_at: noon + 2 * 3600,
    layer: null,
    override_id: "new",
  });
});

test("an override covers before rotation_start and without any layer", () => {
  const noon = at("2026-03-01 12:00");
  const overrides = [{ id: "o", account_id: "dee", starts_at: noon, ends_at: noon + 60 }];
  for (const layers of [[], [layer()]]) {
    const s = schedule(layers, { overrides });
    assert.equal(turn(s, noon), "->dee");
    assert.equal(turn(s, noon + 60), "dee>-");
  }
});

test("a daily hand-over at 09:00 stays at 09:00 when the clocks change", () => {
  const s = schedule([layer({ rotation_start: at("2026-03-27 09:00") })]);
  expectTurns(s, {
    "2026-03-27 09:00": "->ada",
    "2026-03-28 09:00": "ada>ben",
    "2026-03-29 09:00": "ben>cy",
    "2026-03-30 09:00": "cy>ada",
    "2026-10-25 09:00": "ben>cy", // 212 days on
    "2026-10-26 09:00": "cy>ada",
  });
  const change = onCallAt(s, at("2026-03-28 12:00"));
  assert.equal((change?.ends_at ?? 0) - (change?.starts_at ?? 0), 23 * 3600);
});

test("whole days are calendar days whatever their number; any other length is elapsed time", () => {
  const start = at("2026-03-23 09:00");
  const lengths: [number, string, string][] = [
    [1440, "2026-03-30 09:00", "2026-10-26 09:00"],
    [2 * 1440, "2026-03-29 09:00", "2026-10-25 09:00"],
    [7 * 1440, "2026-03-30 09:00", "2026-10-26 09:00"],
    [480, "2026-03-30 10:00", "2026-10-26 09:00"],
    [1500, "2026-03-29 16:00", "2026-10-26 01:00"],
    [720, "2026-03-29 10:00", "2026-10-25 09:00"],
  ];
  for (const [shift_minutes, first, second] of lengths) {
    const people = ["ada", "ben"];
    const s = schedule([layer({ participants: people, rotation_start: start, shift_minutes })]);
    for (const local of [first, second]) {
      const [before, after] = turn(s, at(local)).split(">");
      assert.notEqual(before, after, `${shift_minutes} minutes: a hand-over at ${local}`);
    }
  }
});

test("the rotation turns while a restriction keeps anybody from being on call", () => {
  // Friday 6 March 2026, three people, daily, Monday to Friday 09:00 to 19:00.
  const restriction = hours(9 * 60, 19 * 60, [1, 2, 3, 4, 5]);
  const s = schedule([layer({ rotation_start: at("2026-03-06 09:00"), restriction })]);
  expectTurns(s, {
    "2026-03-06 09:00": "->ada",
    "2026-03-06 19:00": "ada>-",
    "2026-03-07 09:00": "->-",
    "2026-03-08 12:00": "->-",
    "2026-03-09 09:00": "->ada",
    "2026-03-10 09:00": "->ben",
  });
  const shifts = preview(s, at("2026-03-06 00:00"), at("2026-03-10 00:00")).shifts;
  assert.deepEqual(
    shifts.map(({ account_id, starts_at, ends_at }) => [account_id, starts_at, ends_at]),
    [
      ["ada", at("2026-03-06 09:00"), at("2026-03-06 19:00")],
      ["ada", at("2026-03-09 09:00"), at("2026-03-09 19:00")],
    ],
  );
  assert.equal(nextOnCall(s, at("2026-03-07 12:00"))?.starts_at, at("2026-03-09 09:00"));
});

test("a restriction that wraps past midnight belongs to the day it starts on", () => {
  const s = schedule([
    layer({ participants: ["ada"], restriction: hours(22 * 60, 6 * 60, [5]) }), // Friday nights
  ]);
  expectTurns(s, {
    "2026-03-06 00:00": "->-",
    "2026-03-06 22:00": "->ada",
    "2026-03-07 00:00": "ada>ada",
    "2026-03-07 06:00": "ada>-",
    "2026-03-07 22:00": "->-",
  });
});

test("end_minute equal to start_minute is a whole day; 1440 is the day's end; no days is every day", () => {
  const monday = (start: number, end: number) =>
    schedule([layer({ participants: ["ada"], restriction: hours(start, end, [1]) })]);
  expectTurns(monday(540, 540), {
    "2026-03-09 09:00": "->ada",
    "2026-03-10 00:00": "ada>ada",
    "2026-03-10 09:00": "ada>-",
  });
  expectTurns(monday(0, 1440), { "2026-03-09 00:00": "->ada", "2026-03-10 00:00": "ada>-" });
  expectTurns(monday(0, 0), { "2026-03-09 00:00": "->ada", "2026-03-10 00:00": "ada>-" });
  const daily = schedule([layer({ participants: ["ada"], restriction: hours(600, 660, []) })]);
  for (const day of ["07", "08", "09"]) {
    expectTurns(daily, { [`2026-03-${day} 10:00`]: "->ada", [`2026-03-${day} 11:00`]: "ada>-" });
  }
});

test("a local time that doesn't exist moves forward by the gap", () => {
  // 29 March 2026: 01:00 to 02:00 is skipped in London.
  const handover = schedule([layer({ rotation_start: at("2026-03-28 01:30") })]);
  expectTurns(handover, { "2026-03-29 02:30": "ada>ben", "2026-03-30 01:30": "ben>cy" });
  const only = (start: number, end: number) =>
    schedule([layer({ participants: ["ada"], restriction: hours(start, end) })]);
  expectTurns(only(90, 240), { "2026-03-29 02:30": "->ada", "2026-03-29 04:00": "ada>-" });
  expectTurns(only(0, 90), { "2026-03-29 00:00": "->ada", "2026-03-29 02:30": "ada>-" });
  expectTurns(only(75, 105), { "2026-03-29 02:15": "->ada", "2026-03-29 02:45": "ada>-" });
  // 01:30, moved to 02:30, is after 02:00: nothing is left of it that day.
  const day = preview(only(90, 120), at("2026-03-29 00:00"), at("2026-03-30 00:00"));
  assert.deepEqual(day.shifts, []);
});

test("a time that comes twice: hand-over and start at the first, a restriction's end at the last", () => {
  // 25 October 2026: 01:00 to 02:00 comes twice in London.
  const handover = schedule([layer({ rotation_start: at("2026-10-24 01:30") })]);
  expectTurns(handover, {
    "2026-10-25 01:30+01:00": "ada>ben",
    "2026-10-25 01:30+00:00": "ben>ben",
    "2026-10-26 01:30": "ben>cy",
  });
  const only = (start: number, end: number) =>
    schedule([layer({ participants: ["ada"], restriction: hours(start, end) })]);
  expectTurns(only(90, 105), {
    "2026-10-25 01:30+01:00": "->ada",
    "2026-10-25 01:45+01:00": "ada>ada",
    "2026-10-25 01:30+00:00": "ada>ada",
    "2026-10-25 01:45+00:00": "ada>-",
  });
  expectTurns(only(0, 75), {
    "2026-10-25 01:15+01:00": "ada>ada",
    "2026-10-25 01:15+00:00": "ada>-",
  });
});

test("a rotation that starts at the second of two equal times starts there", () => {
  const s = schedule([layer({ rotation_start: at("2026-10-25 01:30+00:00") })]);
  expectTurns(s, {
    "2026-10-25 01:30+01:00": "->-",
    "2026-10-25 01:30+00:00": "->ada",
    "2026-10-26 01:30": "ada>ben",
  });
});

test("Lord Howe's half hour, Santiago's midnight, Casablanca's Ramadan, Apia's missing day", () => {
  const daily = (timezone: string, start: string) =>
    schedule([layer({ rotation_start: at(start, timezone) })], { timezone });
  expectTurns(daily("Australia/Lord_Howe", "2026-10-03 02:15"), {
    "2026-10-04 02:45": "ada>ben", // 02:00 to 02:30 is skipped
    "2026-10-05 02:15": "ben>cy",
  });
  expectTurns(daily("Australia/Lord_Howe", "2026-04-04 01:45"), {
    "2026-04-05 01:45+11:00": "ada>ben",
    "2026-04-05 01:45+10:30": "ben>ben",
  });
  expectTurns(daily("America/Santiago", "2026-09-05 00:00"), {
    "2026-09-06 01:00": "ada>ben", // 00:00 to 01:00 is skipped
    "2026-09-07 00:00": "ben>cy",
  });
  expectTurns(daily("Africa/Casablanca", "2025-02-22 09:00"), {
    "2025-02-24 09:00": "ben>cy", // an hour back on the 23rd
    "2025-04-07 09:00": "ben>cy", // and on again on 6 April
  });
  // 30 December 2011 never came: its shift moves onto the next one and is empty.
  expectTurns(daily("Pacific/Apia", "2011-12-28 09:00"), {
    "2011-12-29 09:00": "ada>ben",
    "2011-12-31 09:00": "ben>ada",
    "2012-01-01 09:00": "ada>ben",
  });
  const fridays = schedule(
    [layer({ participants: ["ada"], rotation_start: 0, restriction: hours(1410, 1380, [4]) })],
    { timezone: "Pacific/Apia" },
  );
  // From Thursday 29th 23:30 to Friday 30th 23:00, which moved to Saturday 31st 23:00.
  expectTurns(fridays, {
    "2011-12-29 23:30": "->ada",
    "2011-12-31 00:00": "ada>ada",
    "2011-12-31 23:00": "ada>-",
  });
  assert.equal(onCallAt(fridays, at("2011-12-31 22:00", "Pacific/Apia"))?.account_id, "ada");
});

test("a whole-day restriction covers the day that lacks its midnight", () => {
  const sunday = hours(0, 1440, [0]);
  const s = schedule([layer({ participants: ["ada"], restriction: sunday })], {
    timezone: "America/Santiago",
  });
  assert.deepEqual(onCallAt(s, at("2026-09-06 12:00", s.timezone)), {
    account_id: "ada",
    starts_at: at("2026-09-06 01:00", s.timezone),
    ends_at: at("2026-09-07 00:00", s.timezone),
    layer: "first",
    override_id: null,
  });
});

test("nobody before rotation_start; then the first participant", () => {
  const start = at("2030-01-01 09:00");
  const s = schedule([layer({ rotation_start: start })]);
  assert.equal(turn(s, start), "->ada");
  assert.equal(onCallAt(s, at("2026-03-02 09:00")), null);
  assert.equal(nextOnCall(s, start - 300 * DAY)?.starts_at, start);
  assert.equal(nextOnCall(s, start - 366 * DAY)?.starts_at, start);
  assert.equal(nextOnCall(s, start - 366 * DAY - 1), null, "past the look ahead");
});

test("no layers: nobody, ever", () => {
  const s = schedule([]);
  assert.deepEqual(whoIsOnCall(s, 0), []);
  assert.equal(onCallAt(s, 1e9), null);
  assert.equal(nextOnCall(s, 1e9), null);
  assert.deepEqual(preview(s, 100, 200), {
    shifts: [],
    gaps: [{ starts_at: 100, ends_at: 200 }],
    until: 200,
  });
});

test("a duty is the person's unbroken stretch through layers and overrides", () => {
  const noon = at("2026-03-04 12:00");
  const s = schedule(
    [
      layer({ participants: ["ada", "ben"], rotation_start: at("2026-03-02 09:00") }),
      layer({ name: "lunch", participants: ["ada"], restriction: hours(12 * 60, 13 * 60) }),
    ],
    { overrides: [{ id: "o", account_id: "ada", starts_at: noon + 3600, ends_at: noon + 7200 }] },
  );
  const stretch = { account_id: "ada", starts_at: at("2026-03-04 09:00") };
  const ends_at = at("2026-03-05 09:00");
  const duty = (moment: number) => onCallAt(s, moment);
  assert.deepEqual(duty(noon - 1), { ...stretch, ends_at, layer: "first", override_id: null });
  assert.deepEqual(duty(noon), { ...stretch, ends_at, layer: "lunch", override_id: null });
  assert.deepEqual(duty(noon + 3600), { ...stretch, ends_at, layer: null, override_id: "o" });
  const next = nextOnCall(s, noon - 1);
  assert.deepEqual([next?.account_id, next?.starts_at], ["ben", ends_at]);
  assert.deepEqual(
    preview(s, noon - 60, noon + 7260).shifts.map(({ layer, override_id }) => [layer, override_id]),
    [
      ["first", null],
      ["lunch", null],
      [null, "o"],
      ["first", null],
    ],
  );
});

test("the same person twice in a row is one stretch and one shift", () => {
  const s = schedule([layer({ participants: ["ada", "ada", "ben"] })]);
  const duty = onCallAt(s, at("2026-03-03 12:00"));
  assert.equal(duty?.starts_at, at("2026-03-02 09:00"));
  assert.equal(duty?.ends_at, at("2026-03-04 09:00"));
  assert.equal(preview(s, at("2026-03-02 09:00"), at("2026-03-05 09:00")).shifts.length, 2);
});

test("two overrides of one person, end to end, are two shifts of one stretch", () => {
  const noon = at("2026-03-04 12:00");
  const half = { account_id: "dee", starts_at: noon, ends_at: noon + 1800 };
  const overrides = [
    { ...half, id: "a" },
    { ...half, id: "b", starts_at: half.ends_at, ends_at: noon + 3600 },
  ];
  const s = schedule([layer()], { overrides });
  const ids = preview(s, noon, noon + 3600).shifts.map((shift) => shift.override_id);
  assert.deepEqual(ids, ["a", "b"]);
  assert.equal(onCallAt(s, noon + 1800)?.starts_at, noon);
  assert.equal(onCallAt(s, noon)?.ends_at, noon + 3600);
});

test("a stretch ends and begins where another layer cuts in once a week", () => {
  const mondays = hours(9 * 60, 17 * 60, [1]);
  const s = schedule([
    always("ada", "base"),
    layer({ name: "mondays", participants: ["ben"], restriction: mondays }),
  ]);
  for (const local of ["2026-03-09 17:00", "2026-03-11 12:00", "2026-03-15 23:00"]) {
    const duty = onCallAt(s, at(local));
    assert.equal(duty?.starts_at, at("2026-03-09 17:00"), local);
    assert.equal(duty?.ends_at, at("2026-03-16 09:00"), local);
  }
});

test("a stretch without an end in the next 366 days has none; its start is still told", () => {
  const start = at("2020-01-01 09:00");
  const now = at("2026-03-04 12:00");
  const alone = schedule([layer({ participants: ["ada", "ada"], rotation_start: start })]);
  assert.deepEqual(onCallAt(alone, now), {
    account_id: "ada",
    starts_at: start,
    ends_at: null,
    layer: "first",
    override_id: null,
  });
  const everyHour = [hours(0, 1440), hours(0, 0), hours(90, 90, [6, 5, 4, 3, 2, 1, 0])];
  for (const restriction of everyHour) {
    const s = schedule([layer({ participants: ["ada"], rotation_start: start, restriction })]);
    assert.deepEqual(onCallAt(s, now), onCallAt(alone, now), "restricted to every hour");
  }
  const years = schedule([layer({ rotation_start: now, shift_minutes: 3 * 365 * 1440 })]);
  const end = at("2029-03-03 12:00");
  assert.equal(onCallAt(years, end - 366 * DAY - 1)?.ends_at, null);
  assert.equal(onCallAt(years, end - 366 * DAY)?.ends_at, end);
  assert.equal(turn(years, end), "ada>ben");
});

test("shifts and times of any size get an answer", () => {
  const long = schedule([layer({ shift_minutes: 1440 * 1e12 }), layer({ shift_minutes: 1e15 })]);
  assert.deepEqual(whoIsOnCall(long, 1e11), ["ada"]);
  const tiny = schedule([layer({ rotation_start: 0, shift_minutes: 1 })]);
  assert.equal(whoIsOnCall(tiny, 1e11)[0], ["ada", "ben", "cy"][Math.floor(1e11 / 60) % 3]);
  const daily = schedule([layer({ rotation_start: 0 })]);
  assert.equal(whoIsOnCall(daily, 1e11).length, 1);
});

test("next is the stretch that begins next, whether or not somebody is on call now", () => {
  const weekdays = hours(9 * 60, 17 * 60, [1, 2, 3, 4, 5]);
  const s = schedule([layer({ participants: ["ada"], restriction: weekdays })]);
  const friday = nextOnCall(s, at("2026-03-06 17:00"));
  assert.deepEqual(friday, {
    account_id: "ada",
    starts_at: at("2026-03-09 09:00"),
    ends_at: at("2026-03-09 17:00"),
    layer: "first",
    override_id: null,
  });
  assert.deepEqual(nextOnCall(s, at("2026-03-06 12:00")), friday);
  const daily = schedule([layer()]);
  assert.equal(nextOnCall(daily, at("2026-03-02 12:00"))?.account_id, "ben");
  assert.equal(nextOnCall(schedule([always("ada")]), at("2026-03-04 12:00")), null);
});

test("a preview is cut to what was asked for, and its shifts and gaps tile it", () => {
  const s = schedule([layer({ participants: ["ada"], restriction: hours(9 * 60, 17 * 60) })]);
  const [from, until] = [at("2026-03-04 10:00"), at("2026-03-05 10:00")];
  const ada = { account_id: "ada", layer: "first", override_id: null };
  assert.deepEqual(preview(s, from, until), {
    shifts: [
      { ...ada, starts_at: from, ends_at: at("2026-03-04 17:00") },
      { ...ada, starts_at: at("2026-03-05 09:00"), ends_at: until },
    ],
    gaps: [{ starts_at: at("2026-03-04 17:00"), ends_at: at("2026-03-05 09:00") }],
    until,
  });
  assert.deepEqual(preview(s, from, from), { shifts: [], gaps: [], until: from });
  assert.deepEqual(finish(followCalendar(s, { from, until })), [
    { ...ada, starts_at: at("2026-03-04 09:00"), ends_at: at("2026-03-04 17:00") },
    { ...ada, starts_at: at("2026-03-05 09:00"), ends_at: until },
  ]);
  const [afterNight] = finish(followCalendar(s, { from: at("2026-03-04 20:00"), until }));
  assert.deepEqual(afterNight, { ...ada, starts_at: at("2026-03-05 09:00"), ends_at: until });
  assert.deepEqual(finish(followCalendar(schedule([]), { from, until })), []);
});

test("a calendar's shift keeps its start on whichever day it is fetched", () => {
  const noon = at("2026-03-04 12:00");
  const s = schedule([layer({ shift_minutes: 7 * 1440 }), always("ada", "top")], {
    overrides: [{ id: "o", account_id: "ada", starts_at: noon, ends_at: noon + DAY }],
  });
  const first = (from: number) => finish(followCalendar(s, { from, until: from + 30 * DAY }))[0];
  assert.equal(first(noon - 1)?.starts_at, at("2026-03-02 09:00"));
  assert.equal(first(noon)?.starts_at, noon, "the override is a shift of its own");
  assert.equal(first(noon + 5000)?.starts_at, noon);
  assert.equal(first(noon + 3 * DAY)?.starts_at, noon + DAY);
});

test("shifts of a minute over a year: a bounded answer that says how far it reaches", () => {
  const s = schedule([layer({ shift_minutes: 1 })]);
  const from = at("2026-03-04 12:00");
  const part = preview(s, from, from + 366 * DAY);
  assert.equal(part.shifts.length, 30_000);
  assert.equal(part.until, from + 30_000 * 60);
  assert.equal(part.shifts.at(-1)?.ends_at, part.until);
  assert.equal(preview(s, from, from + 14 * DAY).until, from + 14 * DAY, "the default fits");
});

test("ten layers over a year are worked out from hand-over to hand-over, not minute by minute", () => {
  const layers = Array.from({ length: 10 }, (_, i) =>
    layer({
      name: `layer ${i}`,
      shift_minutes: i % 2 ? 1440 : 480,
      restriction: hours(540 + i, i % 2 ? 1020 : 300),
    }),
  );
  const from = at("2026-03-04 12:00");
  const begun = performance.now();
  const { shifts } = preview(schedule(layers), from, from + 366 * DAY);
  assert.ok(shifts.length > 1000);
  // About 5 ms; asking at each of 527,040 minutes takes seconds.
  assert.ok(performance.now() - begun < 500);
});

test("a time zone that this program doesn't know is read as UTC", () => {
  const s = schedule([layer()], { timezone: "Europe/Atlantis" });
  const noon = at("2026-03-04 12:00");
  assert.deepEqual(onCallAt(s, noon), onCallAt({ ...s, timezone: "UTC" }, noon));
});
