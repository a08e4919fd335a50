/** How long a hold, a lease on a page, lasts. */
export const HOLD_SECONDS = 15;
/** How long a claim is remembered after its last try or its end. */
export const CLAIM_SECONDS = 48 * 3_600;

/** Two requests with the same key are the same page (contract §7). */
export interface ClaimKey {
  tenantId: string;
  alertId: string;
  event: string;
  timestamp: number;
}

/** A claim with a live hold: its holder pushes the page and then settles it. */
export interface Claim {
  id: number;
  holder: string;
}

export type ClaimTaken =
  /** `reached`: devices that an earlier try has rung. */
  | { kind: "taken"; claim: Claim; reached: string[] }
  | { kind: "in_flight" }
  /** The relay key isn't a live one of this tenant, whatever the page's state. */
  | { kind: "revoked" }
  | { kind: "done"; devices: number };

export interface Claims {
  /**
   * Takes a hold of `HOLD_SECONDS`, by the registry's clock, on a page that isn't done or held. `relayKeyId`: the key
   * that signed the page; the same transaction checks that it is live; null: no box sent it.
   */
  take(key: ClaimKey, by: { relayKeyId: string | null }): Promise<ClaimTaken>;
  /**
   * Ends a hold and stores which devices were reached. With `done` the page is over, and `devices` is its answer from
   * now on; without, the next request tries again. A caller that lost its hold ends nothing, but its devices count.
   * Repeating it changes nothing.
   */
  settle(
    claim: Claim,
    result: { reached: readonly string[]; done: boolean; devices: number },
  ): Promise<void>;
  /** The holders of the tenant's live holds. */
  holders(tenantId: string): Promise<string[]>;
  /** Frees the holds of this node's previous process. */
  releaseMine(): Promise<void>;
}
