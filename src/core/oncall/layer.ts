import type { HolidayDays, Layer } from "./schedule.ts";
import { DAY, type Zone } from "./zone.ts";

/** Whom a layer alone puts on call in [since, until), Unix seconds. */
interface LayerSpan {
  since: number;
  until: number;
  /** The one whose turn it is, then the others that the layer takes. */
  accounts: readonly string[];
  /** Whether its restriction lets it cover, whoever has it and whether its turns have begun. */
  open: boolean;
}

/** [since, until) in Unix seconds. */
interface Range {
  since: number;
  until: number;
}

interface Window extends Range {
  open: boolean;
}

/**
 * Reads one layer: a function from an instant to the span around it in which the layer's answer
 * cannot change. The span may be shorter than it could be, never longer (contract §5).
 */
export function readLayer(
  layer: Layer,
  zone: Zone,
  holidays: HolidayDays,
): (at: number) => LayerSpan {
  const begin = layer.rotation_start;
  const turnAt = readTurns(layer, zone);
  const windowAt = readRestriction(layer.restriction, zone, holidays);
  return (at) => {
    const window = windowAt(at);
    const { since, until, open } = window;
    if (at < begin) return { since, until: Math.min(until, begin), accounts: NOBODY, open };
    if (!open) return { since, until, accounts: NOBODY, open };
    const turn = turnAt(at);
    return {
      since: Math.max(turn.since, since),
      until: Math.min(turn.until, until),
      accounts: turn.accounts,
      open,
    };
  };
}

const NOBODY: readonly string[] = [];

/** Whom each turn has: whose it is and the next others in the row, as many as the layer takes. A turn of nobody is nobody's. */
function takenBy({ participants, take = 1 }: Layer): (readonly string[])[] {
  return participants.map((first, turn) => {
    if (first === null) return NOBODY;
    const row = [...participants.slice(turn), ...participants.slice(0, turn)];
    return [...new Set(row.filter((one) => one !== null))].slice(0, take);
  });
}

/** The rotation without its restriction, which masks it and never pauses it. From `rotation_start` on. */
function readTurns(layer: Layer, zone: Zone): (at: number) => Omit<LayerSpan, "open"> {
  const { participants, rotation_start: begin } = layer;
  const [only = null] = participants;
  // One person, however often named, never hands over: nothing to count.
  if (participants.every((account) => account === only)) {
    const accounts = only === null ? NOBODY : [only];
    return () => ({ since: begin, until: Infinity, accounts });
  }
  const turns = takenBy(layer);
  const wholeDays = layer.shift_minutes % (DAY / 60) === 0;
  const step = layer.shift_minutes * 60;
  const civilBegin = begin + zone.offsetAt(begin);
  const handover = (turn: number) => {
    if (turn === 0) return begin;
    return wholeDays ? zone.first(civilBegin + turn * step) : begin + turn * step;
  };
  return (at) => {
    // A guess that a clock change can put off by one, then exact.
    const passed = wholeDays ? at + zone.offsetAt(at) - civilBegin : at - begin;
    let turn = Math.max(0, Math.floor(passed / step));
    while (turn > 0 && handover(turn) > at) turn -= 1;
    while (handover(turn + 1) <= at) turn += 1;
    const accounts = turns[turn % turns.length] ?? NOBODY;
    return { since: handover(turn), until: handover(turn + 1), accounts };
  };
}

/** When the restriction lets the layer cover. */
function readRestriction(
  restriction: Layer["restriction"],
  zone: Zone,
  holidays: HolidayDays,
): (at: number) => Window {
  if (restriction === null || restrictsNothing(restriction)) {
    return () => ({ since: -Infinity, until: Infinity, open: true });
  }
  const { start_minute, end_minute } = restriction;
  const days = daysOf(restriction);
  const isOut = readHolidays(restriction, holidays);
  const wraps = end_minute <= start_minute;
  const windowOf = (day: number): Range => ({
    since: zone.first(day * DAY + start_minute * 60),
    until: zone.last((wraps ? day + 1 : day) * DAY + end_minute * 60),
  });
  return (at) => {
    const today = Math.floor((at + zone.offsetAt(at)) / DAY);
    // Far enough either way to meet a window on each side, whichever weekdays are given.
    // Holidays may keep every one of these days shut, and what lies beyond isn't known then.
    let since = isOut === null ? -Infinity : zone.first((today - 8) * DAY);
    let until = isOut === null ? Infinity : zone.first((today + 9) * DAY);
    for (let day = today - 9; day <= today + 8; day += 1) {
      if (!days.has(weekday(day)) || isOut?.(day)) continue;
      // One that a clock change swallowed ends before it starts, so it holds no instant.
      const window = windowOf(day);
      if (window.since > at) {
        until = window.since;
        break;
      }
      if (window.until > at) return { ...window, open: true };
      since = Math.max(since, window.until);
    }
    return { since, until, open: false };
  };
}

/** Whether no window starts on a day, for its holidays; null: it knows none. One whose calendar is gone goes on. */
function readHolidays(
  { holidays: named }: NonNullable<Layer["restriction"]>,
  holidays: HolidayDays,
): ((day: number) => boolean) | null {
  const days = named === undefined ? undefined : holidays.get(named.calendar);
  if (named === undefined || days === undefined) return null;
  return named.mode === "out" ? (day) => days.has(day) : (day) => !days.has(day);
}

/** The weekdays on which a window may start, 0 (Sunday) to 6; none given is every day. */
function daysOf(restriction: NonNullable<Layer["restriction"]>): ReadonlySet<number> {
  const { days } = restriction;
  return new Set(days.length === 0 ? [0, 1, 2, 3, 4, 5, 6] : days);
}

/** Whether the windows follow each other without a hole. */
export function restrictsNothing(restriction: NonNullable<Layer["restriction"]>): boolean {
  const { start_minute, end_minute, holidays } = restriction;
  if (holidays !== undefined) return false;
  const fullDay = start_minute === end_minute || (start_minute === 0 && end_minute === DAY / 60);
  return fullDay && daysOf(restriction).size === 7;
}

/** 0 (Sunday) to 6 for a count of days since 1 January 1970, a Thursday. */
function weekday(day: number): number {
  return (((day + 4) % 7) + 7) % 7;
}
