import { readSchedule } from "./roster.ts";
import type { Schedule } from "./schedule.ts";
import { DAY } from "./zone.ts";

/** A moment at which a schedule passes from one person to another, or to or from nobody. Times in Unix seconds. */
export interface HandOver {
  at: number;
  /** Who had it until then; null: nobody. */
  from: string | null;
  /** Who had it last; null where that was nobody since the look began. */
  before: string | null;
  /** Who has it from then on; null: nobody. */
  to: string | null;
  /** When the new one's time ends; null: it goes on for as long as anybody looks. */
  until: number | null;
}

const MOST_PIECES = 5_000;

/** The hand-overs within (from, until], in order. */
export function handOversIn(
  schedule: Schedule,
  { from, until }: { from: number; until: number },
): HandOver[] {
  const pieceAt = readSchedule(schedule);
  const found: HandOver[] = [];
  let piece = pieceAt(from);
  let before = piece.account_id;
  let open: HandOver | null = null;
  for (let looked = 0; looked < MOST_PIECES && Number.isFinite(piece.until); looked += 1) {
    const at = piece.until;
    if (at > until && (open === null || at > until + DAY)) break;
    const next = pieceAt(at);
    if (next.account_id !== piece.account_id) {
      if (open !== null) open.until = at;
      open = null;
      if (at <= until) {
        open = { at, from: piece.account_id, before, to: next.account_id, until: null };
        found.push(open);
      }
    }
    before = next.account_id ?? before;
    piece = next;
  }
  // How it ends is known where what it ends with is, whoever looks no further.
  if (open !== null && Number.isFinite(piece.until)) open.until = piece.until;
  return found;
}

/** How far back a stretch is followed. */
const LONGEST = 31 * DAY;

/** Since when the person who has a schedule at `at` has had it without a break; at most 31 days back. */
export function heldSince(schedule: Schedule, at: number): number {
  const pieceAt = readSchedule(schedule);
  let piece = pieceAt(at);
  for (let looked = 0; looked < MOST_PIECES && piece.since > at - LONGEST; looked += 1) {
    const earlier = pieceAt(piece.since - 1);
    if (earlier.account_id !== piece.account_id) break;
    piece = earlier;
  }
  return Math.max(piece.since, at - LONGEST);
}
