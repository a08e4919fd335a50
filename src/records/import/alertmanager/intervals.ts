import { dated } from "../../../ground/kit/wall-time.ts";
import type { ImportedProject, ImportReport } from "../importer.ts";
import { UniqueNames } from "../names.ts";
import type { Part } from "./part.ts";
import type { AlertRoute } from "./tree.ts";

/** Times at which routes are muted, as maintenance of their rules: the weekly part of time intervals, by the minute. */

type MaintenanceInput = NonNullable<ImportedProject["maintenance"]>[number];

/** A rule and its route. */
interface RuleOf {
  name: string;
  route: AlertRoute;
}

/** Silences that a box holds. */
const MOST_WINDOWS = 500;
/** Days after which a repeating window must be written again. */
const LASTS = 364;

/** The intervals by name: `time_intervals`, and its older form. */
export function readIntervals(config: Part): Map<string, Weekly> {
  const named = ["time_intervals", "mute_time_intervals"].flatMap((field) =>
    config.field(field).list(),
  );
  return new Map(
    named.map((at) => [at.field("name").text(), weeklyOf(at.field("time_intervals").list())]),
  );
}

interface Wanted {
  title: string;
  zone: string;
  runs: WeekRun[];
}

export function windowsOf(
  rules: readonly RuleOf[],
  {
    intervals,
    now,
    report,
  }: { intervals: ReadonlyMap<string, Weekly>; now: number; report: ImportReport },
): MaintenanceInput[] {
  const names = new UniqueNames(200);
  const maintenance: MaintenanceInput[] = [];
  for (const route of new Set(rules.map((rule) => rule.route))) {
    const title = `route ${route.title || "around all"}, its times`;
    const { wanted, impossible } = wantedOf(route, intervals);
    for (const how of impossible)
      report.impossible(title, `${how}: alerts that it would mute are sent.`);
    const own = rules.filter((rule) => rule.route === route);
    const made = own.flatMap((rule) =>
      wanted.flatMap((one) => one.runs.flatMap((run) => windowOf(rule, one, { run, now }) ?? [])),
    );
    if (made.length === 0) continue;
    if (maintenance.length + made.length > MOST_WINDOWS) {
      report.impossible(
        title,
        `a box has at most ${MOST_WINDOWS} silences and windows, so alerts that it would mute are sent.`,
      );
      continue;
    }
    for (const one of made) maintenance.push({ ...one, name: names.give(one.name) });
    report.nearly(
      title,
      `maintenance windows, which end after ${LASTS} days: move their dates in the file before then.`,
    );
  }
  const used = new Set(rules.flatMap(({ route }) => [...route.mute, ...route.active]));
  for (const name of intervals.keys())
    if (!used.has(name))
      report.nearly(
        `time interval ${name}`,
        "no route that notifies anybody names it, so it was left out.",
      );
  return maintenance;
}

function wantedOf({ mute, active }: AlertRoute, intervals: ReadonlyMap<string, Weekly>) {
  const impossible: string[] = [];
  const named = (names: readonly string[]) =>
    names.flatMap((name) => {
      const weekly = intervals.get(name);
      if (weekly === undefined) impossible.push(`there is no time interval "${name}"`);
      return weekly === undefined ? [] : [{ name, weekly }];
    });
  const wanted: Wanted[] = [];
  const add = (title: string, zone: string, week: Week) => {
    const runs = weekRunsOf(week);
    if (runs === null) impossible.push(`${title} lasts always, and a window must end`);
    else wanted.push({ title, zone, runs });
  };
  for (const { name, weekly } of named(mute)) {
    for (const [zone, week] of weekly.weeks) add(name, zone, week);
    for (const odd of weekly.beyond)
      impossible.push(`${name} has ${odd}, and windows repeat daily or weekly`);
  }
  const open = named(active);
  const parts = open.flatMap(({ weekly }) => [...weekly.weeks]);
  const [first] = parts;
  const odd = open.flatMap(({ weekly }) => weekly.beyond);
  if (odd.length > 0 || new Set(parts.map(([zone]) => zone)).size > 1)
    impossible.push(
      `${active.join(", ")} has ${odd.join(", ") || "several zones"}, and windows can't express the time outside`,
    );
  else if (first !== undefined) {
    const together = first[1].map((_, i) => (parts.some(([, week]) => week[i] === 1) ? 1 : 0));
    add(`outside ${active.join(", ")}`, first[0], outside(together));
  }
  return { wanted, impossible };
}

/** null for an unknown time zone. */
function windowOf(
  { name, route }: RuleOf,
  { title, zone }: Wanted,
  { run, now }: { run: WeekRun; now: number },
): MaintenanceInput | null {
  const [starts_at, ends_at, repeat_until] = firstOf(run, zone, now) ?? [];
  if (starts_at === undefined || ends_at === undefined || repeat_until === undefined) return null;
  return {
    name: `${title}: ${name}`,
    match: { rule: name },
    critical: true,
    reason: [...`Alertmanager muted ${route.receiver} then: ${title}`].slice(0, 1_000).join(""),
    timezone: zone,
    repeat: run.repeat,
    starts_at,
    ends_at,
    repeat_until,
  };
}

/** The first window from today on whose times exist in the zone, as written there. */
function firstOf({ repeat, from, minutes }: WeekRun, zone: string, now: number) {
  const today = dayIn(zone, now);
  if (today === null) return null;
  const period = repeat === "daily" ? 1 : 7;
  const sunday = repeat === "daily" ? today : today.subtract({ days: today.dayOfWeek % 7 });
  for (let n = 0; n < 3; n += 1) {
    const start = sunday
      .add({ days: n * period })
      .toPlainDateTime()
      .add({ minutes: from });
    const times = [start, start.add({ minutes }), start.add({ days: LASTS })].map(written);
    const [starts, ends, over] = times.map((time) => dated(time, zone) ?? null);
    // Where clocks go back between start and end, it could last until the next window.
    const isShort = (starts ?? 0) + period * 86_400 > (ends ?? 0);
    if (starts !== null && ends !== null && over !== null && isShort) return times;
  }
  return null;
}

const written = (time: Temporal.PlainDateTime) =>
  time.toString({ smallestUnit: "minute" }).replace("T", " ");

function dayIn(zone: string, now: number): Temporal.PlainDate | null {
  try {
    const instant = Temporal.Instant.fromEpochMilliseconds(now * 1_000);
    return instant.toZonedDateTimeISO(zone).toPlainDate();
  } catch {
    return null;
  }
}

const DAY = 1_440;
const WEEK = 7 * DAY;

const DAYS = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];

/** Fields of an interval that don't repeat weekly. */
const BEYOND = ["days_of_month", "months", "years"];

/** One entry for each minute of a week from Sunday 00:00: 1 in, 0 out. */
type Week = Uint8Array;

/** Weeks by zone, and the parts of an interval that don't repeat weekly. */
interface Weekly {
  weeks: Map<string, Week>;
  beyond: string[];
}

/** The week of an interval, in which any of its parts applies. Throws ImportFault. */
function weeklyOf(intervals: readonly Part[]): Weekly {
  const all: Weekly = { weeks: new Map(), beyond: [] };
  for (const at of intervals) {
    const odd = BEYOND.filter((field) => !at.field(field).isEmpty);
    const zone = at.field("location").text() || "UTC";
    if (zone === "Local") odd.push("location Local, which is that of its machine");
    else if (dated("2026-01-01", zone) === null)
      throw at.field("location").fault(`there is no time zone "${zone}"`);
    if (odd.length > 0) {
      all.beyond.push(odd.join(", "));
      at.leave();
      continue;
    }
    const week = all.weeks.get(zone) ?? new Uint8Array(WEEK);
    const times = at.field("times").list();
    const spans = times.length === 0 ? [[0, DAY] as const] : times.map(spanOf);
    for (const day of daysOf(at))
      for (const [from, until] of spans) week.fill(1, day * DAY + from, day * DAY + until);
    all.weeks.set(zone, week);
  }
  return all;
}

const outside = (week: Week): Week => week.map((is) => 1 - is);

function daysOf(at: Part): number[] {
  const given = at.field("weekdays").list();
  if (given.length === 0) return DAYS.map((_, day) => day);
  return given.flatMap((one) => {
    const [first = "", last = first] = one.text().toLowerCase().split(":");
    const [from, until] = [DAYS.indexOf(first.trim()), DAYS.indexOf(last.trim())];
    if (from === -1 || until < from) throw one.fault(`"${one.text()}" are no days of a week`);
    return Array.from({ length: until - from + 1 }, (_, i) => from + i);
  });
}

function spanOf(at: Part): readonly [from: number, until: number] {
  const [from, until] = [minuteOf(at.field("start_time")), minuteOf(at.field("end_time"))];
  if (from >= until) throw at.fault("the end must be after the start");
  return [from, until];
}

function minuteOf(at: Part): number {
  const [, hours, minutes] = /^(\d{1,2}):(\d{2})$/.exec(at.text()) ?? [];
  const minute = Number(hours) * 60 + Number(minutes);
  if (minute >= 0 && minute <= DAY && Number(minutes) < 60) return minute;
  throw at.fault(`"${at.text()}" is no time of day, as 09:00 is`);
}

/** A repeating window in minutes from Sunday 00:00, or, for a daily one, from 00:00. Its end may be on a later day. */
interface WeekRun {
  repeat: "daily" | "weekly";
  from: number;
  minutes: number;
}

/** The runs of minutes in the week; daily ones where all days are equal. null: every minute is in. */
function weekRunsOf(week: Week): WeekRun[] | null {
  if (week.every((is) => is === 1)) return null;
  const isDaily = week.every((is, i) => is === week[i % DAY]);
  return isDaily ? circular(week.subarray(0, DAY), "daily") : circular(week, "weekly");
}

function circular(minutes: Uint8Array, repeat: WeekRun["repeat"]): WeekRun[] {
  const n = minutes.length;
  const runs: WeekRun[] = [];
  for (let at = 0; at < n; at += 1) {
    if (minutes[at] !== 1 || minutes[(at + n - 1) % n] === 1) continue;
    let length = 0;
    while (minutes[(at + length) % n] === 1) length += 1;
    runs.push({ repeat, from: at, minutes: length });
  }
  return runs;
}
