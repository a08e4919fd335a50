/** How a process stands to a store whose commits are in a second place as well. Nothing here waits, or asks anybody. */

/** A moment by both clocks: neither alone tells how long a process stood still. */
export interface BothClocks {
  mono: number;
  now: number;
}

interface StandingState {
  /** When was asked what was answered last: the store was ours then. */
  sure: BothClocks | null;
  /** Ticks in which an answer was missing. A process that stood still has none more, so it asks before it concludes. */
  ticks: number;
  /** Since when this disk alone has to be enough, by the monotonic clock; null: it hasn't. */
  aloneSince: number | null;
  /** Whether this disk alone may be enough. Else the store is given up. */
  goesOn: boolean;
}

export type StandingEvent =
  /** A tick has passed; `waits`: an answer is missing. */
  | { is: "tick"; waits: boolean }
  /** The place has answered something. */
  | { is: "heard" }
  /** It has everything that was there when it was asked. */
  | { is: "kept"; asked: BothClocks };

export const TICK_MS = 250;
/** How long nobody has to hear anything, in ticks: shorter than what an answer waits at most (`mayTell`). */
export const PATIENCE = 18;
/** After so many a store that doesn't go on alone is given up: before anybody else may take it. */
const GIVEN_UP = 28;
/**
 * How long the place's word is believed, from when it was asked: shorter than a process lives there. A process that stood
 * still asks again before it tells or sends anything.
 */
const SURE_MS = 8_000;

export const atFirst: StandingState = { sure: null, ticks: 0, aloneSince: null, goesOn: true };

export function standingAfter(
  state: StandingState,
  event: StandingEvent,
  now: BothClocks,
): StandingState {
  if (event.is === "heard") return { ...state, ticks: 0 };
  if (event.is === "tick") {
    const ticks = state.ticks + (event.waits ? 1 : 0);
    const isAlone = state.goesOn && ticks >= PATIENCE && state.aloneSince === null;
    return { ...state, ticks, aloneSince: isAlone ? now.mono : state.aloneSince };
  }
  const kept = { ...state, sure: event.asked };
  return isSure(kept, now) ? { ...kept, aloneSince: null } : kept;
}

export const isGivenUp = ({ goesOn, ticks }: StandingState): boolean =>
  !goesOn && ticks >= GIVEN_UP;

export function isSure({ sure }: StandingState, { mono, now }: BothClocks): boolean {
  return sure !== null && mono - sure.mono < SURE_MS && Math.abs(now - sure.now) < SURE_MS;
}

/** What was told by this disk alone, and the number of its commit. */
export interface Told {
  commit: number;
}

/**
 * What has to be handed over to whoever took the store: what isn't in the place, whose history of ours ended with the commit
 * `ended`. In the order of the commits, so that it is the same each time.
 */
export function toHandOver<Line extends Told>(lines: readonly Line[], ended: number): Line[] {
  return lines.filter(({ commit }) => commit > ended).toSorted((a, b) => a.commit - b.commit);
}

/** What of it wasn't taken yet, where the latest that was taken has the number `last`. */
export function notTaken<Row extends { n: number }>(rows: readonly Row[], last: number): Row[] {
  return rows.filter(({ n }) => n > last).toSorted((a, b) => a.n - b.n);
}
