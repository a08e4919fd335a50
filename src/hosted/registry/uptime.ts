/** A time in which nobody served, in seconds. */
export interface Outage {
  from: number;
  to: number;
}

export interface Uptime {
  /**
   * Called when a process starts. The time since any process was last seen alive was an outage (where several serve,
   * only from `OUTAGE_SECONDS` on). Returns the latest outages, with this one, oldest first.
   */
  begin(): Promise<Outage[]>;
  /** Called while this process serves. Returns an outage of `OUTAGE_SECONDS` that ended since its last beat. */
  beat(): Promise<Outage | null>;
}

/** An outage is at least so long. */
export const OUTAGE_SECONDS = 30;
/** Outages that are remembered. */
export const MOST_OUTAGES = 1000;

/** The seconds after `since` in which nobody served. */
export function downSince(outages: readonly Outage[], since: number): number {
  return outages.reduce((sum, { from, to }) => sum + Math.max(0, to - Math.max(from, since)), 0);
}
