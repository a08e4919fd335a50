import type { Clock } from "../kit/clock.ts";

/** What memory holds of one endpoint while it has something to send. */
export interface Lane {
  readonly endpoint: string;
  /** Row ids under way. */
  readonly inFlight: Set<number>;
  /** Failed attempts in a row. */
  failures: number;
  /** Monotonic time before which a failing endpoint is not probed. */
  probeAt: number;
  /** How many may be under way: grows with each success, one again with a failure. */
  width: number;
  /** While rows up to this id wait, the lane sends one at a time: a backlog drains in order. */
  serialUntil: number;
  /** When to look again, in Unix milliseconds; null = nothing waits. */
  nextAt: number | null;
  /** Whether an outcome ends an outage, after which the backlog is due at once. */
  recovers(well: boolean): boolean;
  finished(rowId: number, well: boolean, clock: Clock): void;
}

const WIDEST = 32;
/** A streak from which on an endpoint counts as having been away. */
const OUTAGE = 3;
const LONGEST_PROBE_GAP_MS = 5000;

export function createLane(endpoint: string, failures: number): Lane {
  return {
    endpoint,
    inFlight: new Set(),
    failures,
    probeAt: 0,
    width: 1,
    serialUntil: 0,
    nextAt: 0,
    recovers(well) {
      return well && this.failures >= OUTAGE;
    },
    finished(rowId, well, clock) {
      this.inFlight.delete(rowId);
      this.nextAt = 0;
      if (well) {
        this.failures = 0;
        this.width = Math.min(WIDEST, this.width + 1);
        return;
      }
      this.failures++;
      this.width = 1;
      this.probeAt = clock.mono() + probeGap(this.failures);
    },
  };
}

/** How many more attempts the lane may start. A failing endpoint gets one probe at a time. */
export function laneRoom(lane: Lane, probes: boolean): number {
  const width = (probes && lane.failures > 0) || lane.serialUntil > 0 ? 1 : lane.width;
  return Math.max(0, width - lane.inFlight.size);
}

/** Rest between two probes of a failing endpoint: rows not yet tried don't wait longer than this for their turn. */
export function probeGap(failures: number): number {
  return Math.min(LONGEST_PROBE_GAP_MS, 250 * 2 ** Math.min(failures, 8));
}
