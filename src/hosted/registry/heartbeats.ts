/** A page that a box's people are owed. */
export interface OwedPage {
  tenantId: string;
  boxUrl: string | null;
  /** `twin`: two boxes page with its key. */
  news: "silent" | "back" | "twin";
  /** When it became owed, in seconds: tells this page from an earlier one. */
  at: number;
  /** When the box was last heard. */
  heardAt: number;
}

/** What a look found; `held`: it called nobody silent, because it is this service that isn't reached. */
export interface HeartbeatLook {
  /** When it was, in seconds by the registry's clock. */
  at: number;
  held: boolean;
  /** Since when looks have been held, in seconds; null while they aren't. */
  heldSince: number | null;
  /** Boxes that are watched and not known to be silent, and those of them that miss a heartbeat. */
  watched: number;
  unheard: number;
  /** Keys with which two boxes page. */
  twins: number;
}

/** What a box says of itself, in an event of time `stamp` (seconds), signed with a key of its tenant. */
export interface BoxSign {
  tenantId: string;
  relayKeyId: string;
  stamp: number;
  /** Which start of a box it is; absent where it is too old to say. */
  boot?: string;
}

/**
 * `twin`: two boxes say that they live with one key, by turns. Null where its key isn't live any more, and then nothing
 * is noted.
 */
export type HeardBox = "heard" | "twin" | null;

/** So many times the other start of a box must have come back, each within so long of the last, until they are two. */
export const TWIN_SWAPS = 2;
export const TWIN_SECONDS = 300;

export interface Heartbeats {
  /** A box says that it lives. */
  beat(sign: BoxSign): Promise<HeardBox>;
  /** A box stops as planned: it isn't missed until its next heartbeat. */
  goodbye(sign: BoxSign): Promise<HeardBox>;
  /**
   * Looks for boxes that have been silent for longer than their tenant allows, and notes that their
   * people are owed a page. Silence counts only while somebody looked: after `gapSeconds` without a
   * look, or a clock set back, every box starts afresh. Where most boxes go unheard together the look
   * is held (`judgeSurvey`).
   */
  look(gapSeconds: number): Promise<HeartbeatLook>;
  /** The pages still owed, the oldest first. */
  owed(limit: number): Promise<OwedPage[]>;
  /** This page was sent, unless the news has changed since. */
  paid(page: OwedPage): Promise<void>;
}
