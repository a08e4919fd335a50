import { finish, type Work } from "../../ground/kit/slices.ts";
import { type RosterPiece, readSchedule } from "./roster.ts";
import type { Schedule } from "./schedule.ts";
import { DAY } from "./zone.ts";

/**
 * Who is on call, from when, until when (contract §5, On-call schedules). Everything here is a
 * function of its arguments; every time is in Unix seconds, every range is [start, end).
 * All of it throws RangeError for a time zone that `isTimezone` refuses.
 *
 * A question that follows the schedule over time is `Work`: it yields how many layers each step looked
 * at, so that a server can answer others in between. `finish` runs one to its end.
 */

/** One person's unbroken stretch in the final schedule, whichever layers or overrides it comes from. */
export interface Duty {
  account_id: string;
  /** Looked for 366 days back; a stretch older than that may be given a later start than it had. */
  starts_at: number;
  /** Null: the stretch goes on for more than 366 days. */
  ends_at: number | null;
  /** What decides at the instant asked about; null under an override. */
  layer: string | null;
  override_id: string | null;
}

/** A stretch by one person through one layer or one override. */
export interface Shift {
  account_id: string;
  starts_at: number;
  ends_at: number;
  layer: string | null;
  override_id: string | null;
}

export interface Preview {
  shifts: Shift[];
  /** Nobody is on call, and somebody should be: what the schedule doesn't promise is neither. */
  gaps: { starts_at: number; ends_at: number }[];
  /** How far the answer reaches: less than was asked for only when the schedule changes too often. */
  until: number;
}

/** How far a stretch is followed, either way. */
const LOOK = 366 * DAY;

/** Most pieces one question looks at: for a year, a change every 17 minutes. */
export const MOST_PIECES = 30_000;

/** The account on call at this instant, or null. The cheapest question: no stretch is followed. */
export function whoIsOnCall(schedule: Schedule, at: number): string | null {
  return readSchedule(schedule)(at).account_id;
}

/** Whether nobody is on call at this instant and nobody was promised. */
export function isOffAt(schedule: Schedule, at: number): boolean {
  return readSchedule(schedule)(at).isOff === true;
}

/** Who is on call at this instant and for which stretch, or null when nobody is. */
export function onCallAt(schedule: Schedule, at: number): Duty | null {
  return finish(followDuty(schedule, at));
}

/** The first stretch that begins after this instant, and within 366 days of it; null if none does. */
export function nextOnCall(schedule: Schedule, at: number): Duty | null {
  return finish(followNext(schedule, at));
}

/** Every shift and every gap of [from, until), in order and cut to it: together they tile what is promised. */
export function preview(schedule: Schedule, from: number, until: number): Preview {
  return finish(followPreview(schedule, { from, until }));
}

/** `onCallAt` in steps. */
export function* followDuty(schedule: Schedule, at: number): Work<Duty | null> {
  const reading = readingOf(schedule);
  return yield* dutyOf(reading, reading.pieceAt(at), at);
}

/** `nextOnCall` in steps. */
export function* followNext(schedule: Schedule, at: number): Work<Duty | null> {
  const reading = readingOf(schedule);
  let before = reading.pieceAt(at);
  for (let looked = 0; looked < MOST_PIECES && before.until <= at + LOOK; looked += 1) {
    yield reading.looks;
    const piece = reading.pieceAt(before.until);
    if (piece.account_id !== before.account_id && piece.account_id !== null) {
      return yield* dutyOf(reading, piece, before.until);
    }
    before = piece;
  }
  return null;
}

/** `preview` in steps. */
export function followPreview(schedule: Schedule, range: Range): Work<Preview> {
  return previewOf(readingOf(schedule), range);
}

/**
 * The shifts of a preview, but the first with the time it began at instead of being cut to `from`.
 * A calendar knows a shift by its start, which must not move with the day on which it is fetched.
 */
export function* followCalendar(schedule: Schedule, range: Range): Work<Shift[]> {
  const reading = readingOf(schedule);
  const [first, ...rest] = (yield* previewOf(reading, range)).shifts;
  if (first === undefined) return [];
  const { from } = range;
  const starts_at =
    first.starts_at === from
      ? yield* startOf(reading, { piece: reading.pieceAt(from), at: from, same: sameShift })
      : first.starts_at;
  return [{ ...first, starts_at }, ...rest];
}

/** [from, until) in Unix seconds. */
export interface Range {
  from: number;
  until: number;
  /** Pieces that are looked at; left out: MOST_PIECES. */
  most?: number;
}

interface Reading {
  pieceAt: (at: number) => RosterPiece;
  /** Layers that one piece looks at. */
  looks: number;
}

function readingOf(schedule: Schedule): Reading {
  // An override is compared, a layer computed.
  const looks = 1 + schedule.layers.length + Math.floor(schedule.overrides.length / 20);
  return { pieceAt: readSchedule(schedule), looks };
}

function* previewOf(
  { pieceAt, looks }: Reading,
  { from, until, most = MOST_PIECES }: Range,
): Work<Preview> {
  const shifts: Shift[] = [];
  const gaps: Preview["gaps"] = [];
  let last: RosterPiece | undefined;
  let open: { ends_at: number } = { ends_at: from };
  let at = from;
  for (let looked = 0; looked < most && at < until; looked += 1) {
    yield looks;
    const piece = pieceAt(at);
    const ends_at = Math.min(piece.until, until);
    if (last !== undefined && sameShift(piece, last)) {
      open.ends_at = ends_at;
    } else {
      const { account_id, layer, override_id } = piece;
      if (piece.isOff) open = { ends_at };
      else if (account_id === null) open = pushed(gaps, { starts_at: at, ends_at });
      else open = pushed(shifts, { account_id, starts_at: at, ends_at, layer, override_id });
    }
    last = piece;
    at = ends_at;
  }
  return { shifts, gaps, until: at };
}

function pushed<T>(list: T[], item: T): T {
  list.push(item);
  return item;
}

function* dutyOf(reading: Reading, piece: RosterPiece, at: number): Work<Duty | null> {
  const { account_id, layer, override_id } = piece;
  if (account_id === null) return null;
  return {
    account_id,
    starts_at: yield* startOf(reading, { piece, at, same: samePerson }),
    ends_at: yield* endOf(reading, piece, at),
    layer,
    override_id,
  };
}

interface Backwards {
  piece: RosterPiece;
  at: number;
  same: (a: RosterPiece, b: RosterPiece) => boolean;
}

function* startOf({ pieceAt, looks }: Reading, { piece, at, same }: Backwards): Work<number> {
  let first = piece;
  for (let looked = 0; looked < MOST_PIECES && first.since > at - LOOK; looked += 1) {
    yield looks;
    // Times are whole seconds, so the second before a piece is the end of the one before it.
    const before = pieceAt(first.since - 1);
    if (!same(before, first)) break;
    first = before;
  }
  return first.since;
}

function* endOf({ pieceAt, looks }: Reading, piece: RosterPiece, at: number): Work<number | null> {
  let last = piece;
  for (let looked = 0; looked < MOST_PIECES && last.until <= at + LOOK; looked += 1) {
    yield looks;
    const after = pieceAt(last.until);
    if (!samePerson(after, last)) return last.until;
    last = after;
  }
  return null;
}

function samePerson(a: RosterPiece, b: RosterPiece): boolean {
  return a.account_id === b.account_id;
}

function sameShift(a: RosterPiece, b: RosterPiece): boolean {
  if (a.isOff !== b.isOff) return false;
  return samePerson(a, b) && a.layer === b.layer && a.override_id === b.override_id;
}
