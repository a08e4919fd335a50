import type { Clock } from "../../ground/kit/clock.ts";
import type { Recorded } from "./queue.ts";
import { noTurns, type Turns } from "./turns.ts";

/** What memory holds of one endpoint while it has something to send. */
export interface Lane {
  readonly endpoint: string;
  /** Row ids under way. */
  readonly inFlight: Set<number>;
  /** How many of them went well and are only to be written: their places are free. */
  unwritten: number;
  /** Which rule and level had the last turn. */
  readonly turns: Turns;
  /** Failed attempts in a row. */
  failures: number;
  /** Monotonic time before which a failing endpoint is not probed. */
  probeAt: number;
  /** How many may be under way: grows with each success, one again with a failure. */
  width: number;
  /**
   * While rows up to this id wait, the lane sends one at a time: what piled up behind an endpoint that was away drains in
   * order, rule by rule. null = it is to be looked how far that reaches.
   */
  serialUntil: number | null;
  /** When to look again, in Unix milliseconds; null = when told. */
  nextAt: number | null;
}

const WIDEST = 64;
/** Runs of one action at a time: what an action does may be slow, and its failing says nothing about the next. */
const ACTION_WIDTH = 8;
/** A streak from which on an endpoint counts as having been away. */
const OUTAGE = 3;
const LONGEST_PROBE_GAP_MS = 5000;
/** A page that was never tried waits no longer than this for an endpoint that asked to be left alone. */
const LONGEST_REST_MS = 60_000;

export function createLane(endpoint: string, failures: number): Lane {
  return {
    endpoint,
    inFlight: new Set(),
    unwritten: 0,
    turns: noTurns(),
    failures,
    probeAt: 0,
    width: 1,
    // What waits from before was held up by the box, not by its endpoint.
    serialUntil: 0,
    nextAt: 0,
  };
}

/** Whether an outcome ends an outage, after which the backlog is due at once. */
export function recovers(lane: Lane, { well }: Recorded): boolean {
  return well === true && lane.failures >= OUTAGE;
}

/** An attempt is over and written. */
export function attemptOver(
  lane: Lane,
  rowId: number,
  { well, restMs = 0 }: Recorded,
  clock: Clock,
): void {
  lane.inFlight.delete(rowId);
  if (well === null) return;
  if (well) {
    lane.failures = 0;
    lane.width = Math.min(WIDEST, lane.width + 1);
    return;
  }
  lane.failures++;
  lane.width = 1;
  lane.probeAt =
    clock.mono() + Math.max(probeGap(lane.failures), Math.min(restMs, LONGEST_REST_MS));
}

/** The endpoint is known to be well: what piled up drains in order from now on. */
export function forgiven(lane: Lane): void {
  lane.failures = 0;
  lane.serialUntil = null;
}

/** How many more attempts the lane may start. A failing endpoint gets one probe at a time. */
export function laneCapacity(lane: Lane, probes: boolean): number {
  const serial = (lane.serialUntil ?? 0) > 0;
  const width = !probes ? ACTION_WIDTH : lane.failures > 0 || serial ? 1 : lane.width;
  return Math.max(0, width - (lane.inFlight.size - lane.unwritten));
}

/** Rest between two probes of a failing endpoint: rows not yet tried don't wait longer than this for their turn. */
function probeGap(failures: number): number {
  return Math.min(LONGEST_PROBE_GAP_MS, 250 * 2 ** Math.min(failures, 8));
}
