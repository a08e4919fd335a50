/** A page that a box's people are owed. */
export interface OwedPage {
  tenantId: string;
  boxUrl: string | null;
  news: "silent" | "back";
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
}

/** What a box says of itself, in an event of time `stamp` (seconds), signed with a key of its tenant. */
export interface BoxSign {
  tenantId: string;
  relayKeyId: string;
  stamp: number;
}

export interface Heartbeats {
  /** A box says that it lives. False, and nothing is noted, where its key isn't live any more. */
  beat(sign: BoxSign): Promise<boolean>;
  /** A box stops as planned: it isn't missed until its next heartbeat. False as above. */
  goodbye(sign: BoxSign): Promise<boolean>;
  /**
   * Looks for boxes that have been silent for longer than their tenant allows, and notes that their
   * people are owed a page. Silence counts only while somebody looked: after `gapSeconds` without a
   * look, or a clock set back, every box starts afresh. Where most boxes go unheard together the look
   * is held (`judgeLook`).
   */
  look(gapSeconds: number): Promise<HeartbeatLook>;
  /** The pages still owed, the oldest first. */
  owed(limit: number): Promise<OwedPage[]>;
  /** This page was sent, unless the news has changed since. */
  paid(page: OwedPage): Promise<void>;
}
