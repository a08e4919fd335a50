import type { TeamDraft } from "../team/draft.ts";
import { clockInstant, type Given } from "../team/given.ts";
import type { GivenRotation } from "../team/rotation.ts";
import { ADDED, type GivenOverride } from "../team/schedules.ts";
import { dailyWindow, type WeekWindow, weeklyWindow } from "../team/windows.ts";
import { zoneOf } from "../team/zones.ts";

const PERIODS: Readonly<Record<string, number>> = { hourly: 60, daily: 1440, weekly: 10_080 };
const DAYS = ["SU", "MO", "TU", "WE", "TH", "FR", "SA"];
const DAY = 86_400;
/** The level of an override made in a schedule. */
const OVERRIDES = 99;

interface ReadShift {
  rotation: GivenRotation | null;
  override: GivenOverride[];
  /** Whether it can't be a layer. */
  isOdd: boolean;
}

const NOTHING: ReadShift = { rotation: null, override: [], isOdd: false };

/** One shift of a schedule: an override, or people who take turns. Times are in its zone, or else in its schedule's. */
export function readShift(
  draft: TeamDraft,
  given: Given,
  { what, zone: usual }: { what: string; zone: string },
): ReadShift {
  const name = given.text("name") || given.text("id");
  const zone = zoneOf(given.text("time_zone") || usual);
  const start = zone === null ? null : clockInstant(given.text("start"), zone);
  const seconds = given.number("duration") ?? 0;
  if (zone === null || start === null || seconds <= 0) {
    given.leave();
    draft.impossible(
      what,
      `Its shift ${name} has no start, length or time zone that can be read, and is left out.`,
    );
    return NOTHING;
  }
  const type = given.text("type");
  const level = given.number("level") ?? 0;
  const users = given.texts("users");
  const emailsOf = (ids: readonly string[]) =>
    ids.map((id) => draft.people.find({ id }, what)).filter((one) => one !== null);
  if (type === "single_event" || type === "override") {
    const until = start + seconds;
    if (until <= draft.now) {
      given.leave();
      return NOTHING;
    }
    if (type === "single_event" && level < OVERRIDES)
      draft.nearly(
        what,
        `Its single shift ${name} replaces everybody else here, whatever its level.`,
      );
    return {
      ...NOTHING,
      override: emailsOf(users).map((person) => ({ person, from: start, until, rotations: null })),
    };
  }
  const end = clockInstant(given.text("until"), zone);
  if (end !== null && end <= draft.now) {
    draft.ended(what, given, { called: `shift ${name}`, at: given.text("until") });
    return NOTHING;
  }
  const period = PERIODS[given.text("frequency")];
  if (
    period === undefined ||
    given.list("by_month").length > 0 ||
    given.list("by_monthday").length > 0
  ) {
    given.leave();
    return { ...NOTHING, isOdd: true };
  }
  if (end !== null)
    draft.nearly(
      what,
      `Its shift ${name} ends at ${given.text("until")}, and layers have no end here: remove it by then.`,
    );
  const rolling = type === "rolling_users" ? rollingUsers(given) : [];
  const turns = (rolling.length > 0 ? rolling : [users]).map((ids) => ids && emailsOf(ids));
  const interval = Math.max(1, given.number("interval") ?? 1);
  const shape = shapeOf(draft, given, { what, name, zone, start, seconds, period, interval });
  const rotation = { name, turns, zone, level, id: given.text("id"), ...shape };
  return { ...NOTHING, rotation };
}

/** The turns by user ids, the first one first; null: a turn of nobody. */
function rollingUsers(given: Given): (string[] | null)[] {
  const rolling = given.list("rolling_users").map((one) => {
    if (!Array.isArray(one)) return [];
    return one.length === 0 ? null : one.filter((id) => typeof id === "string");
  });
  const first = given.number("start_rotation_from_user_index") ?? 0;
  return [...rolling.slice(first), ...rolling.slice(0, first)];
}

interface Timed {
  what: string;
  name: string;
  zone: string;
  start: number;
  seconds: number;
  period: number;
  interval: number;
}

/** When its turns begin, how long they are, and in which hours somebody is on call. */
function shapeOf(
  draft: TeamDraft,
  given: Given,
  { what, name, zone, start, seconds, period, interval }: Timed,
): Pick<GivenRotation, "start" | "shiftMinutes" | "windows"> {
  const minutes = Math.ceil(seconds / 60);
  const shiftMinutes = period * interval;
  const clock = draft.zone(zone);
  const civil = start + clock.offsetAt(start);
  const minute = Math.floor((((civil % DAY) + DAY) % DAY) / 60);
  const weekday = (Math.floor(civil / DAY) + 4) % 7;
  const days = given
    .texts("by_day")
    .map((day) => DAYS.indexOf(day.toUpperCase()))
    .filter((day) => day >= 0);
  if (days.length > 0) {
    // Turns change with the week, at the hour at which shifts begin, so no shift is cut in two.
    const begins = Math.max(0, DAYS.indexOf(given.text("week_start").toUpperCase() || "MO"));
    const passed = (weekday - begins + 7) % 7;
    const anchor = period === 10_080 ? clock.first(civil - passed * DAY) : start;
    if (interval > 1)
      draft.nearly(
        what,
        `Its shift ${name} applies in one week of ${interval} there, and in every week of a turn here.`,
      );
    if (period !== 10_080)
      draft.nearly(
        what,
        `Its shift ${name} turns by ${given.text("frequency")} and names weekdays: here turns also pass on the other days.`,
      );
    if (anchor !== start && start > draft.now)
      draft.nearly(what, `Its shift ${name} begins with the week of its start here.`);
    return {
      start: anchor,
      shiftMinutes,
      windows: days.flatMap((day) => weeklyWindow(day, minute, minutes) ?? []),
    };
  }
  if (minutes >= shiftMinutes) return { start, shiftMinutes, windows: [] };
  if (interval > 1 || period < 1440)
    draft.nearly(
      what,
      `Its shift ${name} covers ${minutes} of the ${shiftMinutes} minutes of a turn there; here there is no such gap, so somebody is on call for longer.`,
    );
  return { start, shiftMinutes, windows: holes({ period, interval, minute, minutes, weekday }) };
}

function holes(at: {
  period: number;
  interval: number;
  minute: number;
  minutes: number;
  weekday: number;
}): WeekWindow[] {
  const { period, minute, minutes, weekday } = at;
  if (period === 1440) return [dailyWindow(minute, minutes) ?? []].flat();
  if (period === 10_080) return weeklyWindow(weekday, minute, minutes) ?? [];
  return [];
}

/** Calculated shifts as overrides. Shifts at the same time go into different schedules. */
export function renderedOverrides(
  shifts: readonly { person: string; from: number; until: number }[],
): GivenOverride[] {
  const ends: number[] = [];
  return shifts
    .toSorted((a, b) => a.from - b.from)
    .map((shift) => {
      const free = ends.findIndex((end) => end <= shift.from);
      const seat = free < 0 ? ends.length : free;
      ends[seat] = shift.until;
      return { ...shift, rotations: [seat === 0 ? ADDED : `${ADDED}${seat}`] };
    });
}
