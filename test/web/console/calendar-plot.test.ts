import assert from "node:assert/strict";
import { preview } from "../../../src/core/oncall/rotation.ts";
import type { PreviewAnswer, Schedule } from "../../../src/core/oncall/schedule.ts";
import { isTimezone } from "../../../src/core/oncall/zone.ts";
import { type CalendarPlot, calendarPlot } from "../../../src/web/console/ui/calendar-plot.ts";
import { calendarRows, MOST_BLOCKS } from "../../../src/web/console/ui/calendar-rows.ts";
import { askedRange, localInstant, localText } from "../../../src/web/console/ui/local-time.ts";
import { anySchedule } from "../../core/oncall/against-naive.ts";
import { long, test } from "../../support/long.ts";
import fc from "../../support/property.ts";

const answerOf = (schedule: Schedule, range: { from: number; until: number }): PreviewAnswer => {
  const { shifts, gaps, until } = preview(schedule, range.from, range.until);
  return { shifts: shifts.map((shift) => ({ ...shift, email: "x@example.org" })), gaps, until };
};

const drawn = (plot: Omit<CalendarPlot, "names" | "hues" | "label" | "href" | "me">): string =>
  calendarPlot({
    ...plot,
    names: (id) => id ?? "nobody",
    hues: () => 3,
    label: "who",
    me: "ada",
    href: () => "#x",
  }).markup;

const BLOCK =
  /<a class="cal-block [^>]*data-row-kind="(\w+)" data-from="(\d+)" data-until="(\d+)"><title>([^<]*)<\/title><svg aria-hidden="true" x="([\d.]+)%" y="([\d.]+)%" width="([\d.]+)%" height="([\d.]+)%"/g;

interface Drawn {
  label: string;
  kind: string;
  from: number;
  until: number;
  x: number;
  y: number;
  width: number;
  height: number;
}

const blocksIn = (markup: string): Drawn[] =>
  [...markup.matchAll(BLOCK)].map(([, kind = "", starts = "", ends = "", label = "", ...place]) => {
    const numbers = [starts, ends, ...place].map(Number);
    const [from = 0, until = 0, x = 0, y = 0, width = 0, height = 0] = numbers;
    return { label, kind, from, until, x, y, width, height };
  });

long(
  "blocks' times are the preview's own to the second, and stand where their times are, for 200 random schedules",
  () => {
    let compared = 0;
    fc.assert(
      fc.property(anySchedule, ({ schedule, from, until }) => {
        const range = { days: [], from, until };
        const part = (more: Partial<Schedule>) =>
          answerOf(
            {
              timezone: schedule.timezone,
              layers: [],
              overrides: [],
              holidays: new Map(),
              ...more,
            },
            range,
          );
        const final = part(schedule);
        const rows = calendarRows({
          final,
          overrides: part({ overrides: schedule.overrides }),
          layers: schedule.layers.map((layer) => ({
            name: layer.name,
            preview: part({ layers: [layer] }),
          })),
        });
        const plot = { rows, range, timezone: schedule.timezone, now: from };
        const all = blocksIn(drawn(plot));
        const shown = all.filter(({ kind }) => kind === "final");
        const expected = [...final.shifts, ...final.gaps]
          .map((one) => [one.starts_at, one.ends_at])
          .sort(([a = 0], [b = 0]) => a - b)
          .slice(0, MOST_BLOCKS);
        for (const [i, one] of shown.entries())
          for (const other of shown.slice(i + 1, i + 20))
            if (other.from < one.until)
              assert.ok(
                one.y + one.height <= other.y + 0.01 || other.y + other.height <= one.y + 0.01,
                "who is on call beside somebody stands above or below",
              );
        assert.deepEqual(
          shown.map((block) => [block.from, block.until]),
          expected,
        );
        for (const { from: starts, until: ends, x, width } of all) {
          assert.ok(Math.abs(x - ((starts - from) / (until - from)) * 100) < 0.001);
          assert.ok(Math.abs(width - ((ends - starts) / (until - from)) * 100) < 0.001);
        }
        const WHOLE =
          /^(?:ada|ben|cy|dee|nobody), \w{3},? \d+ \w+ \d\d:\d\d to \w{3},? \d+ \w+ \d\d:\d\d/;
        for (const { label } of all) assert.match(label, WHOLE, "its full name, with both hours");
        const layers = schedule.layers.flatMap((layer) =>
          part({ layers: [layer] }).shifts.slice(0, MOST_BLOCKS),
        );
        assert.deepEqual(
          all
            .filter(({ kind }) => kind === "layer")
            .map((block) => block.from)
            .sort(),
          layers.map(({ starts_at }) => starts_at).sort(),
        );
        compared += shown.length;
      }),
      { numRuns: 200 },
    );
    assert.ok(compared > 1000, `${compared} blocks`);
  },
);

test("a day of 25 hours is 25 hours wide, one of 23 is 23; an hour that comes twice keeps its instant", () => {
  for (const [zone, from, hours] of [
    ["Europe/Berlin", "2026-10-25", 25],
    ["Europe/Berlin", "2026-03-29", 23],
    ["Australia/Lord_Howe", "2026-04-05", 24.5],
    ["America/Los_Angeles", "2026-11-01", 25],
  ] as const) {
    const range = askedRange(zone, new URLSearchParams({ from, days: "2" }), 0);
    const [first, second] = range.days;
    assert.equal(((first?.until ?? 0) - (first?.since ?? 0)) / 3600, hours, `${zone} ${from}`);
    const plot = { rows: [], range, timezone: zone, now: 0 };
    const widths = [...drawn(plot).matchAll(/width="([\d.]+)%" height="26" data-day/g)];
    const [one = 0, two = 0] = widths.map(([, width]) => Number(width));
    assert.ok(Math.abs(one / two - hours / 24) < 1e-4, `${one} ${two}`);
    assert.match(drawn(plot), new RegExp(`data-day="${from}"`));
    assert.equal(second?.until, range.until);
  }
  // 02:30 comes twice in Berlin on 25 October 2026: the shift between them is an hour long and says so.
  const [first, again] = [Date.UTC(2026, 9, 25, 0, 30) / 1000, Date.UTC(2026, 9, 25, 1, 30) / 1000];
  assert.equal(localText("Europe/Berlin", first), localText("Europe/Berlin", again));
  assert.equal(localInstant("Europe/Berlin", localText("Europe/Berlin", again)), first);
});

test("an address names the same days wherever it is read, and each zone's midnights are its own", () => {
  const query = new URLSearchParams({ from: "2026-11-16", days: "14" });
  const dates = (zone: string) => askedRange(zone, query, 0).days.map(({ date }) => date);
  assert.deepEqual(dates("Pacific/Auckland"), dates("America/Los_Angeles"));
  assert.deepEqual(
    [dates("Europe/Berlin")[0], dates("Europe/Berlin").at(-1)],
    ["2026-11-16", "2026-11-29"],
  );
  const zones = Intl.supportedValuesOf("timeZone").filter(isTimezone);
  fc.assert(
    fc.property(
      fc.constantFrom(...zones),
      fc.integer({ min: 0, max: 20_000 * 86_400 }),
      (zone, now) => {
        const range = askedRange(zone, new URLSearchParams(), now);
        assert.ok(range.from <= now && now < range.until, zone);
        for (const [index, day] of range.days.entries()) {
          assert.equal(day.since, index === 0 ? range.from : range.days[index - 1]?.until);
          assert.ok(day.until > day.since || range.days.length === 0, `${zone} ${day.date}`);
        }
        const text = localText(zone, now);
        assert.equal(localText(zone, localInstant(zone, text) ?? 0), text);
      },
    ),
    { numRuns: 300 },
  );
  for (const wrong of ["2026-02-30", "x", "", "2026-13-01", "99999-01-01", "1969-12-31"])
    assert.equal(
      askedRange("UTC", new URLSearchParams({ from: wrong }), 86_400 * 18).days[0]?.date,
      "1970-01-19",
    );
  for (const days of ["0", "-1", "63", "x", "1e9"])
    assert.equal(askedRange("UTC", new URLSearchParams({ days }), 0).days.length, 14);
});
