/** A span in which nobody served, in seconds. */
export interface Outage {
  from: number;
  to: number;
}

export interface Uptime {
  /**
   * A process comes up: the time since anybody was last seen alive was an outage (where several serve, only one of
   * `OUTAGE_SECONDS` or more). The latest ones, this one included, the oldest first.
   */
  begin(): Promise<Outage[]>;
  /** This process serves. The outage that has ended since its beat before, where nobody did for `OUTAGE_SECONDS`. */
  beat(): Promise<Outage | null>;
}

/** For how long nobody must have been alive. */
export const OUTAGE_SECONDS = 30;
/** Outages that are remembered. */
export const MOST_OUTAGES = 1000;

/** The seconds from `since` on in which nobody served. */
export function downSince(outages: readonly Outage[], since: number): number {
  return outages.reduce((sum, { from, to }) => sum + Math.max(0, to - Math.max(from, since)), 0);
}
