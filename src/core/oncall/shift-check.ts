import { readSchedule } from "./roster.ts";
import type { Schedule } from "./schedule.ts";
import { DAY, Zone } from "./zone.ts";

/** When whoever's shift begins is asked to show that they are reached. Times in Unix seconds. */

const NIGHT_FROM = 22 * 3600;
const NIGHT_UNTIL = 7 * 3600;
const EVENING = 21 * 3600 + 30 * 60;
/** No check comes earlier before its shift, also where clocks change in between. */
const EARLIEST = 12 * 3600;

/** A check that couldn't be made when it was due is made within this time, and then not at all. */
export const LATE_CHECK = 3600;
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

const MOST_PIECES = 5_000;

/** The shifts that begin within (from, until], in order. Whoever takes over from themselves begins nothing. */
export function shiftBegins(
  schedule: Schedule,
  { from, until }: { from: number; until: number },
): ShiftBegin[] {
  const pieceAt = readSchedule(schedule);
  const begins: ShiftBegin[] = [];
  let piece = pieceAt(from);
  let last = piece.account_id;
  let open: ShiftBegin | null = null;
  for (let looked = 0; looked < MOST_PIECES && Number.isFinite(piece.until); looked += 1) {
    const at = piece.until;
    if (at > until && (open === null || at > until + DAY)) break;
    const next = pieceAt(at);
    if (next.account_id !== piece.account_id) {
      if (open !== null) open.ends_at = at;
      open = null;
      if (next.account_id !== null && at <= until) {
        open = { account_id: next.account_id, before: last, starts_at: at, ends_at: null };
        begins.push(open);
      }
    }
    last = next.account_id ?? last;
    piece = next;
  }
  // How it ends is known where what it ends with is, whoever looks no further.
  if (open !== null && Number.isFinite(piece.until)) open.ends_at = piece.until;
  return begins;
}

/**
 * What is to be checked at `now`, and when to look again: at the next check, and within a day at the latest. What was
 * checked already is for the caller to leave out.
 */
export function shiftChecksAt(
  schedule: Schedule,
  now: number,
): { due: ShiftBegin[]; next: number } {
  const zone = new Zone(schedule.timezone);
  const range = { from: now - LATE_CHECK, until: now + DAY + EARLIEST };
  const begins = shiftBegins(schedule, range)
    .filter(({ starts_at, ends_at }) => (ends_at ?? Infinity) - starts_at >= CHECK_SECONDS)
    .map((begin) => ({ begin, at: checkTime(begin.starts_at, zone) }));
  const wakesNobody = !isNight(secondOfDay(now + zone.offsetAt(now)));
  const due = begins.filter(({ at, begin }) => {
    const isOver = begin.ends_at !== null && begin.ends_at <= now;
    return wakesNobody && at <= now && at > now - LATE_CHECK && !isOver;
  });
  const ahead = begins.map(({ at }) => at).filter((at) => at > now);
  return { due: due.map(({ begin }) => begin), next: Math.min(now + DAY, ...ahead) };
}
