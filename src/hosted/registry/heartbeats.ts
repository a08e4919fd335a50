/** A page that is owed to a box's people. */
export interface OwedPage {
  tenantId: string;
  boxUrl: string | null;
  /** `twin`: two boxes page with the same key. */
  news: "silent" | "back" | "twin";
  /** When it became owed, in seconds; tells this page from an earlier one. */
  at: number;
  /** When the box was last heard. */
  heardAt: number;
}

/** The result of a look; `held`: no box was called silent, because the service itself seems unreachable. */
export interface HeartbeatLook {
  /** Its time, in seconds by the registry's clock. */
  at: number;
  held: boolean;
  /** Since when looks have been held, in seconds; null while they aren't. */
  heldSince: number | null;
  /** Boxes that are watched and not known to be silent, and how many of them missed a heartbeat. */
  watched: number;
  unheard: number;
  /** Keys with which two boxes page. */
  twins: number;
}

/** A box's report about itself, in an event of time `stamp` (seconds), signed with a key of its tenant. */
export interface BoxSign {
  tenantId: string;
  relayKeyId: string;
  stamp: number;
  /** Identifies one start of the box; absent for an old program. */
  boot?: string;
}

/** `twin`: two boxes report with one key, by turns. Null where the key was revoked; then nothing is stored. */
export type HeardBox = "heard" | "twin" | null;

/** Two boxes are assumed when the other start came back so many times, each within so many seconds. */
export const TWIN_SWAPS = 2;
export const TWIN_SECONDS = 300;

export interface Heartbeats {
  /** A box reports that it is alive. */
  beat(sign: BoxSign): Promise<HeardBox>;
  /** A box stops as planned: it isn't missed until its next heartbeat. */
  goodbye(sign: BoxSign): Promise<HeardBox>;
  /**
   * Looks for boxes that have been silent for longer than their tenant allows, and stores that their people are owed a
   * page. Silence counts only between looks: after `gapSeconds` without a look, or after the clock was set back, every
   * box counts as heard now. Where most boxes are unheard together, the look is held (`judgeSurvey`).
   */
  look(gapSeconds: number): Promise<HeartbeatLook>;
  /** The owed pages, oldest first. */
  owed(limit: number): Promise<OwedPage[]>;
  /** The page was sent: it is owed no more, unless it has changed since. */
  paid(page: OwedPage): Promise<void>;
}
