import { type HandOver, handOversIn } from "./hand-over.ts";
import type { Schedule } from "./schedule.ts";
import { DAY, Zone } from "./zone.ts";

/** When whoever's shift begins is asked to show that they are reached. Times in Unix seconds. */

const NIGHT_FROM = 22 * 3600;
const NIGHT_UNTIL = 7 * 3600;
const EVENING = 21 * 3600 + 30 * 60;
/** No check comes earlier before its shift, also where clocks change in between. */
const EARLIEST = 12 * 3600;

/** A check that couldn't be made when it was due is made within this time, and then not at all. */
const LATE_CHECK = 3600;
/** How long devices have to show it. Shorter shifts aren't checked: they would be over. */
export const CHECK_SECONDS = 900;

/** A shift as it begins: somebody has the schedule who hadn't it the moment before. */
export interface ShiftBegin {
  account_id: string;
  /** Who had it last; null where that was nobody since the look began. */
  before: string | null;
  starts_at: number;
  /** null: it goes on for as long as anybody looks. */
  ends_at: number | null;
}

/** When a shift that begins then is checked: at its beginning; of one that begins in the night at 21:30 before, so that nobody is woken. */
export function checkTime(startsAt: number, zone: Zone): number {
  const civil = startsAt + zone.offsetAt(startsAt);
  const ofDay = secondOfDay(civil);
  if (!isNight(ofDay)) return startsAt;
  const midnight = civil - ofDay - (ofDay < NIGHT_UNTIL ? DAY : 0);
  return Math.min(startsAt, zone.first(midnight + EVENING));
}

const secondOfDay = (civil: number): number => ((civil % DAY) + DAY) % DAY;
const isNight = (ofDay: number): boolean => ofDay >= NIGHT_FROM || ofDay < NIGHT_UNTIL;

/** Whether a time (Unix seconds) lies between 22:00 and 07:00 in the zone. */
export function isNightAt(timezone: string): (at: number) => boolean {
  const zone = new Zone(timezone);
  return (at) => isNight(secondOfDay(at + zone.offsetAt(at)));
}

const begun = ({ at, to, before, until }: HandOver): ShiftBegin[] =>
  to === null ? [] : [{ account_id: to, before, starts_at: at, ends_at: until }];

/** The shifts that begin within (from, until], in order. Whoever takes over from themselves begins nothing. */
export const shiftBegins = (
  schedule: Schedule,
  range: { from: number; until: number },
): ShiftBegin[] => handOversIn(schedule, range).flatMap(begun);

/**
 * What is to be checked at `now`, the hand-over of the last hour that still holds, and when to look again: at the next check or
 * hand-over, and within a day at the latest. What was done already is for the caller to leave out.
 */
export function shiftChecksAt(schedule: Schedule, now: number) {
  const zone = new Zone(schedule.timezone);
  const range = { from: now - LATE_CHECK, until: now + DAY + EARLIEST };
  const all = handOversIn(schedule, range);
  const begins = all
    .flatMap(begun)
    .filter(({ starts_at, ends_at }) => (ends_at ?? Infinity) - starts_at >= CHECK_SECONDS)
    .map((begin) => ({ begin, at: checkTime(begin.starts_at, zone) }));
  const wakesNobody = !isNight(secondOfDay(now + zone.offsetAt(now)));
  const due = begins.filter(({ at, begin }) => {
    const isOver = begin.ends_at !== null && begin.ends_at <= now;
    return wakesNobody && at <= now && at > now - LATE_CHECK && !isOver;
  });
  const ahead = [...begins, ...all].map(({ at }) => at).filter((at) => at > now);
  return {
    due: due.map(({ begin }) => begin),
    handed: all.filter(({ at, until }) => at <= now && (until ?? Infinity) > now),
    next: Math.min(now + DAY, ...ahead),
  };
}
