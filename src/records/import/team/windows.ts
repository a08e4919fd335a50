/**
 * The hours of a week in which a rotation applies. `days`: the weekdays on which it begins (0 = Sunday), [] for every
 * day. An end at or before the start is on the next day.
 */
export interface WeekWindow {
  days: number[];
  start_minute: number;
  end_minute: number;
}

const DAY = 1440;
const WEEK = 7 * DAY;

/** A window on every day, from minute `start` for `minutes`; null: all day. */
export function dailyWindow(start: number, minutes: number): WeekWindow | null {
  return minutes >= DAY ? null : { days: [], ...within(start % DAY, minutes) };
}

/**
 * A window on one weekday, from minute `start` for `minutes`. A schedule's window lasts a day at most, so a longer one
 * is split: the rest of the first day, the whole days, and the last day. null: the whole week.
 */
export function weeklyWindow(day: number, start: number, minutes: number): WeekWindow[] | null {
  if (minutes >= WEEK) return null;
  const first = (((day + Math.floor(start / DAY)) % 7) + 7) % 7;
  const from = start % DAY;
  if (minutes <= DAY) return [{ days: [first], ...within(from, minutes) }];
  const left = minutes - (DAY - from);
  const whole = Math.floor(left / DAY);
  const rest = left % DAY;
  const dayAfter = (n: number) => (first + n) % 7;
  const days = Array.from({ length: whole }, (_, i) => dayAfter(i + 1));
  return [
    { days: [first], start_minute: from, end_minute: DAY },
    ...(whole === 0 ? [] : [{ days, start_minute: 0, end_minute: DAY }]),
    ...(rest === 0 ? [] : [{ days: [dayAfter(whole + 1)], start_minute: 0, end_minute: rest }]),
  ];
}

function within(start: number, minutes: number): Pick<WeekWindow, "start_minute" | "end_minute"> {
  const end = start + minutes;
  return { start_minute: start, end_minute: end <= DAY ? end : end - DAY };
}

/** Joins windows with the same times, in the order of their first. */
export function joinedWindows(windows: readonly WeekWindow[]): WeekWindow[] {
  const joined = new Map<string, Set<number>>();
  for (const { days, start_minute, end_minute } of windows) {
    const key = `${start_minute} ${end_minute}`;
    const known = joined.get(key) ?? new Set();
    for (const day of days.length === 0 ? [0, 1, 2, 3, 4, 5, 6] : days) known.add(day);
    joined.set(key, known);
  }
  return [...joined].map(([key, days]) => {
    const [start_minute = 0, end_minute = 0] = key.split(" ").map(Number);
    const named = days.size === 7 ? [] : [...days].sort((a, b) => a - b);
    return { days: named, start_minute, end_minute };
  });
}

/** Whether the windows share no minute of the week. No windows means always. */
export function areApart(a: readonly WeekWindow[], b: readonly WeekWindow[]): boolean {
  if (a.length === 0 || b.length === 0) return false;
  const taken = minutesOf(a);
  return minutesOf(b).every((is, minute) => !is || !taken[minute]);
}

function minutesOf(windows: readonly WeekWindow[]): boolean[] {
  const minutes = Array.from({ length: WEEK }, () => false);
  for (const { days, start_minute, end_minute } of windows) {
    const length =
      end_minute <= start_minute ? end_minute + DAY - start_minute : end_minute - start_minute;
    for (const day of days.length === 0 ? [0, 1, 2, 3, 4, 5, 6] : days)
      for (let i = 0; i < length; i += 1) minutes[(day * DAY + start_minute + i) % WEEK] = true;
  }
  return minutes;
}

/** The window on clocks that are `ahead` minutes ahead. */
export function movedWindow(
  { days, start_minute, end_minute }: WeekWindow,
  ahead: number,
): WeekWindow {
  const length =
    end_minute <= start_minute ? end_minute + DAY - start_minute : end_minute - start_minute;
  const start = start_minute + ahead;
  const passed = Math.floor(start / DAY);
  return {
    days: days.map((day) => (((day + passed) % 7) + 7) % 7),
    ...within(((start % DAY) + DAY) % DAY, length),
  };
}
