import { type Piece, readSchedule } from "./roster.ts";
import { DAY } from "./zone.ts";

/**
 * Who is on call, from when, until when (decisions §5, On-call schedules). Everything here is a
 * function of its arguments; every time is in Unix seconds, every range is [start, end).
 * All of it throws RangeError for a time zone that `isTimezone` refuses.
 */

/** One layer (api §2, On-call schedule). `shift_minutes` ≥ 1. */
export interface Layer {
  name: string;
  /** Account ids in the order they take turns. */
  participants: string[];
  rotation_start: number;
  shift_minutes: number;
  /** Null: always. `days` 0 (Sunday) to 6, none is every day; minutes of the local day. */
  restriction: { days: number[]; start_minute: number; end_minute: number } | null;
}

/** One override (api §2, On-call override). */
export interface Override {
  id: string;
  account_id: string;
  starts_at: number;
  ends_at: number;
}

export interface Schedule {
  timezone: string;
  /** The later layer wins where it covers. */
  layers: Layer[];
  /** In the order they were made, oldest first: the newer wins. */
  overrides: Override[];
}

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
  gaps: { starts_at: number; ends_at: number }[];
  /** How far the answer reaches: less than was asked for only when the schedule changes too often. */
  until: number;
}

/** How far a stretch is followed, either way. */
const LOOK = 366 * DAY;

/** Most pieces one question looks at: for a year, a change every 17 minutes. */
const MOST_PIECES = 30_000;

/** The account on call at this instant, or null. The cheapest question: no stretch is followed. */
export function whoIsOnCall(schedule: Schedule, at: number): string | null {
  return readSchedule(schedule)(at).account_id;
}

/** Who is on call at this instant and for which stretch, or null when nobody is. */
export function onCallAt(schedule: Schedule, at: number): Duty | null {
  const pieceAt = readSchedule(schedule);
  return dutyOf(pieceAt, pieceAt(at), at);
}

/** The first stretch that begins after this instant, and within 366 days of it; null if none does. */
export function nextOnCall(schedule: Schedule, at: number): Duty | null {
  const pieceAt = readSchedule(schedule);
  let before = pieceAt(at);
  for (let looked = 0; looked < MOST_PIECES && before.until <= at + LOOK; looked += 1) {
    const piece = pieceAt(before.until);
    if (piece.account_id !== before.account_id && piece.account_id !== null) {
      return dutyOf(pieceAt, piece, before.until);
    }
    before = piece;
  }
  return null;
}

/** Every shift and every gap of [from, until), in order and cut to it: together they tile it. */
export function preview(schedule: Schedule, from: number, until: number): Preview {
  return previewOf(readSchedule(schedule), from, until);
}

/**
 * The shifts of a preview, but the first with the time it began at instead of being cut to `from`.
 * A calendar knows a shift by its start, which must not move with the day on which it is fetched.
 */
export function calendarShifts(schedule: Schedule, from: number, until: number): Shift[] {
  const pieceAt = readSchedule(schedule);
  const [first, ...rest] = previewOf(pieceAt, from, until).shifts;
  if (first === undefined) return [];
  const starts_at =
    first.starts_at === from
      ? startOf(pieceAt, { piece: pieceAt(from), at: from, same: sameShift })
      : first.starts_at;
  return [{ ...first, starts_at }, ...rest];
}

type PieceAt = (at: number) => Piece;

function previewOf(pieceAt: PieceAt, from: number, until: number): Preview {
  const shifts: Shift[] = [];
  const gaps: Preview["gaps"] = [];
  let last: Piece | undefined;
  let open: { ends_at: number } = { ends_at: from };
  let at = from;
  for (let looked = 0; looked < MOST_PIECES && at < until; looked += 1) {
    const piece = pieceAt(at);
    const ends_at = Math.min(piece.until, until);
    if (last !== undefined && sameShift(piece, last)) {
      open.ends_at = ends_at;
    } else {
      const { account_id, layer, override_id } = piece;
      if (account_id === null) open = pushed(gaps, { starts_at: at, ends_at });
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

function dutyOf(pieceAt: PieceAt, piece: Piece, at: number): Duty | null {
  const { account_id, layer, override_id } = piece;
  if (account_id === null) return null;
  return {
    account_id,
    starts_at: startOf(pieceAt, { piece, at, same: samePerson }),
    ends_at: endOf(pieceAt, piece, at),
    layer,
    override_id,
  };
}

interface Backwards {
  piece: Piece;
  at: number;
  same: (a: Piece, b: Piece) => boolean;
}

function startOf(pieceAt: PieceAt, { piece, at, same }: Backwards): number {
  let first = piece;
  for (let looked = 0; looked < MOST_PIECES && first.since > at - LOOK; looked += 1) {
    // Times are whole seconds, so the second before a piece is the end of the one before it.
    const before = pieceAt(first.since - 1);
    if (!same(before, first)) break;
    first = before;
  }
  return first.since;
}

function endOf(pieceAt: PieceAt, piece: Piece, at: number): number | null {
  let last = piece;
  for (let looked = 0; looked < MOST_PIECES && last.until <= at + LOOK; looked += 1) {
    const after = pieceAt(last.until);
    if (!samePerson(after, last)) return last.until;
    last = after;
  }
  return null;
}

function samePerson(a: Piece, b: Piece): boolean {
  return a.account_id === b.account_id;
}

function sameShift(a: Piece, b: Piece): boolean {
  return samePerson(a, b) && a.layer === b.layer && a.override_id === b.override_id;
}
