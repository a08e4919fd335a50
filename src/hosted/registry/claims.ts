/** How long a hold lasts. */
export const HOLD_SECONDS = 15;
/** How long a claim is remembered after it was taken or done last. */
export const CLAIM_SECONDS = 48 * 3_600;

/** What makes two requests the same page (contract §7). */
export interface ClaimKey {
  tenantId: string;
  alertId: string;
  event: string;
  timestamp: number;
}

/** A claim that is held: whoever has it pushes, and settles it. */
export interface Claim {
  id: number;
  holder: string;
}

export type ClaimTaken =
  /** `reached`: the handsets that an earlier try has rung already. */
  | { kind: "taken"; claim: Claim; reached: string[] }
  | { kind: "in_flight" }
  /** The relay key is none of this tenant's live ones, whatever became of the page. */
  | { kind: "revoked" }
  | { kind: "done"; devices: number };

export interface Claims {
  /**
   * Takes a hold of `HOLD_SECONDS` by the registry's clock on a page that nobody has done or holds. `relayKeyId`: the
   * key that the page was signed with, which must be live in the very change that takes the hold; null: of no box.
   */
  take(key: ClaimKey, by: { relayKeyId: string | null }): Promise<ClaimTaken>;
  /**
   * Ends a hold and keeps which handsets were reached. With `done` the page is over and `devices` is
   * its answer from now on; without, the next request with its key tries again. Whoever lost the hold
   * ends nothing, but what it reached counts. To ask twice changes nothing more.
   */
  settle(
    claim: Claim,
    result: { reached: readonly string[]; done: boolean; devices: number },
  ): Promise<void>;
  /** The holders of the tenant's holds that are live now. */
  holders(tenantId: string): Promise<string[]>;
  /** Frees the holds that this node had before it was started: nobody else can have them. */
  releaseMine(): Promise<void>;
}
