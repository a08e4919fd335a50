/** A span in which nobody served, in seconds. */
export interface Outage {
  from: number;
  to: number;
}

export interface Uptime {
  /** The service comes up: the time since it was last seen alive was an outage. The latest ones, this one included. */
  begin(): Promise<Outage[]>;
  /** The service is alive. */
  beat(): Promise<void>;
}

/** Outages that are remembered. */
export const MOST_OUTAGES = 1000;

/** The seconds from `since` on in which nobody served. */
export function downSince(outages: readonly Outage[], since: number): number {
  return outages.reduce((sum, { from, to }) => sum + Math.max(0, to - Math.max(from, since)), 0);
}
