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
/** How far a stretch is followed, either way. */
const LONGEST = 31 * DAY;

/** The hand-overs within (from, until], in order. Where several come or go at once, who comes takes over from who goes. */
export function handOversIn(
  schedule: Schedule,
  { from, until }: { from: number; until: number },
): HandOver[] {
  const pieceAt = readSchedule(schedule);
  const found: HandOver[] = [];
  let piece = pieceAt(from);
  let before = piece.accounts;
  let open: HandOver[] = [];
  for (let looked = 0; looked < MOST_PIECES && Number.isFinite(piece.until); looked += 1) {
    const at = piece.until;
    if (at > until && (open.length === 0 || at > until + LONGEST)) break;
    const next = pieceAt(at);
    const made = handedOver({ at, from: piece.accounts, before, to: next.accounts });
    if (made.length > 0) {
      // One to nobody ends with any change.
      const isOver = ({ to }: HandOver) => to === null || !next.accounts.includes(to);
      for (const one of open) if (isOver(one)) one.until = at;
      open = open.filter((one) => !isOver(one));
      if (at <= until) {
        open.push(...made);
        found.push(...made);
      }
    }
    if (next.accounts.length > 0) before = next.accounts;
    piece = next;
  }
  // One that is followed no further ends with its piece, for all that is known.
  if (Number.isFinite(piece.until)) for (const one of open) one.until = piece.until;
  return found;
}

/** What passes on at one moment, from those who had it to those who have it. `before`: who had it last. */
function handedOver(of: {
  at: number;
  from: readonly string[];
  before: readonly string[];
  to: readonly string[];
}): HandOver[] {
  const go = of.from.filter((account) => !of.to.includes(account));
  const come = of.to.filter((account) => !of.from.includes(account));
  return Array.from({ length: Math.max(go.length, come.length) }, (_, i): HandOver => {
    const from = go[i] ?? null;
    const last = of.from.length === 0 ? of.before[i] : from;
    return { at: of.at, from, before: last ?? null, to: come[i] ?? null, until: null };
  });
}

/** Since when a person who has a schedule at `at` has had it without a break, or nobody (null); at most 31 days back. */
export function heldSince(schedule: Schedule, at: number, account: string | null): number {
  const pieceAt = readSchedule(schedule);
  let piece = pieceAt(at);
  for (let looked = 0; looked < MOST_PIECES && piece.since > at - LONGEST; looked += 1) {
    const earlier = pieceAt(piece.since - 1);
    const isHeld =
      account === null ? earlier.accounts.length === 0 : earlier.accounts.includes(account);
    if (!isHeld) break;
    piece = earlier;
  }
  return Math.max(piece.since, at - LONGEST);
}
