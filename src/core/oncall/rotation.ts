import { finish, type Work } from "../../ground/kit/slices.ts";
import { type RosterPiece, readSchedule } from "./roster.ts";
import type { Schedule } from "./schedule.ts";
import { DAY } from "./zone.ts";

/**
 * Who is on call, from when, until when (contract §5, On-call schedules). Everything here is a
 * function of its arguments; every time is in Unix seconds, every range is [start, end).
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
type Shift = Duty & { ends_at: number };

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

/** The accounts on call at this instant; none: nobody. The cheapest question: no stretch is followed. */
export function whoIsOnCall(schedule: Schedule, at: number): readonly string[] {
  return readSchedule(schedule)(at).accounts;
}

/** Whether nobody is on call at this instant and nobody was promised. */
export function isOffAt(schedule: Schedule, at: number): boolean {
  return readSchedule(schedule)(at).isOff === true;
}

/**
 * Every shift and every gap of [from, until), in order and cut to it: together they cover what is promised, and only shifts
 * of a layer that takes several lie over each other.
 */
export function preview(schedule: Schedule, from: number, until: number): Preview {
  return finish(followPreview(schedule, { from, until }));
}

/** Everybody who is on call at this instant, each for their own stretch, in steps. */
export function* followDuties(schedule: Schedule, at: number): Work<Duty[]> {
  const reading = readingOf(schedule);
  const piece = reading.pieceAt(at);
  const duties: Duty[] = [];
  for (const account of piece.accounts) duties.push(yield* dutyOf(reading, { piece, at, account }));
  return duties;
}

/** The first stretch that begins after this instant, and within 366 days of it; null if none does. In steps. */
export function* followNext(schedule: Schedule, at: number): Work<Duty | null> {
  const reading = readingOf(schedule);
  let before = reading.pieceAt(at);
  for (let looked = 0; looked < MOST_PIECES && before.until <= at + LOOK; looked += 1) {
    yield reading.looks;
    const piece = reading.pieceAt(before.until);
    const { accounts } = before;
    const come = piece.accounts.find((account) => !accounts.includes(account));
    if (come !== undefined)
      return yield* dutyOf(reading, { piece, at: before.until, account: come });
    before = piece;
  }
  return null;
}

/** `preview` in steps. */
export function followPreview(schedule: Schedule, range: Range): Work<Preview> {
  return previewOf(readingOf(schedule), range);
}

/**
 * The shifts of a preview, but those that go on at `from` with the time they began at instead of being cut to it.
 * A calendar knows a shift by its start, which must not move with the day on which it is fetched.
 */
export function* followCalendar(schedule: Schedule, range: Range): Work<Shift[]> {
  const reading = readingOf(schedule);
  const { shifts } = yield* previewOf(reading, range);
  const { from } = range;
  const piece = reading.pieceAt(from);
  for (const shift of shifts) {
    if (shift.starts_at !== from) break;
    const isSame = (one: RosterPiece) => sameSource(one, piece) && hasIn(one, shift.account_id);
    shift.starts_at = yield* startOf(reading, { piece, at: from, isSame });
  }
  return shifts;
}

/** [from, until) in Unix seconds. */
export interface Range {
  from: number;
  until: number;
  /** Pieces that are looked at; left out: MOST_PIECES. */
  most?: number;
}

type Reading = ReturnType<typeof readingOf>;

function readingOf(schedule: Schedule) {
  // An override is compared, a layer computed.
  const looks = 1 + schedule.layers.length + Math.floor(schedule.overrides.length / 20);
  return {
    pieceAt: readSchedule(schedule),
    /** Layers that one piece looks at. */
    looks,
  };
}

function* previewOf(
  { pieceAt, looks }: Reading,
  { from, until, most = MOST_PIECES }: Range,
): Work<Preview> {
  const shifts: Shift[] = [];
  const gaps: Preview["gaps"] = [];
  let last: RosterPiece | undefined;
  // What goes on where the next piece has it too, by whose it is; null: a gap.
  let open = new Map<string | null, { ends_at: number }>();
  let at = from;
  for (let looked = 0; looked < most && at < until; looked += 1) {
    yield looks;
    const piece = pieceAt(at);
    const ends_at = Math.min(piece.until, until);
    const { layer, override_id } = piece;
    const before = last !== undefined && sameSource(piece, last) ? open : NOTHING;
    open = new Map();
    for (const account_id of whose(piece)) {
      const times = { starts_at: at, ends_at };
      const goesOn = before.get(account_id);
      if (goesOn !== undefined) goesOn.ends_at = ends_at;
      const begun =
        account_id === null
          ? () => pushed(gaps, times)
          : () => pushed(shifts, { account_id, ...times, layer, override_id });
      open.set(account_id, goesOn ?? begun());
    }
    last = piece;
    at = ends_at;
  }
  return { shifts, gaps, until: at };
}

const NOTHING: ReadonlyMap<string | null, { ends_at: number }> = new Map();
const GAP = [null];

/** Who has a piece; null: nobody, and somebody should. */
function whose({ accounts, isOff }: RosterPiece): readonly (string | null)[] {
  return accounts.length > 0 || isOff ? accounts : GAP;
}

function pushed<T>(list: T[], item: T): T {
  list.push(item);
  return item;
}

function* dutyOf(
  reading: Reading,
  { piece, at, account }: { piece: RosterPiece; at: number; account: string },
): Work<Duty> {
  const { layer, override_id } = piece;
  const from = { piece, at, isSame: (one: RosterPiece) => hasIn(one, account) };
  return {
    account_id: account,
    starts_at: yield* startOf(reading, from),
    ends_at: yield* endOf(reading, from),
    layer,
    override_id,
  };
}

interface Followed {
  piece: RosterPiece;
  at: number;
  /** Whether what is followed goes on in a piece. */
  isSame: (one: RosterPiece) => boolean;
}

function* startOf({ pieceAt, looks }: Reading, { piece, at, isSame }: Followed): Work<number> {
  let first = piece;
  for (let looked = 0; looked < MOST_PIECES && first.since > at - LOOK; looked += 1) {
    yield looks;
    // Times are whole seconds, so the second before a piece is the end of the one before it.
    const before = pieceAt(first.since - 1);
    if (!isSame(before)) break;
    first = before;
  }
  return first.since;
}

function* endOf({ pieceAt, looks }: Reading, { piece, at, isSame }: Followed): Work<number | null> {
  let last = piece;
  for (let looked = 0; looked < MOST_PIECES && last.until <= at + LOOK; looked += 1) {
    yield looks;
    const after = pieceAt(last.until);
    if (!isSame(after)) return last.until;
    last = after;
  }
  return null;
}

function hasIn({ accounts }: RosterPiece, account: string): boolean {
  return accounts.includes(account);
}

/** Whether the same layer or override decides in both. */
function sameSource(a: RosterPiece, b: RosterPiece): boolean {
  return a.isOff === b.isOff && a.layer === b.layer && a.override_id === b.override_id;
}
