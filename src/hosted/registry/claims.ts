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
  | { kind: "done"; devices: number };

export interface Claims {
  take(key: ClaimKey): Promise<ClaimTaken>;
  /**
   * Ends a hold and keeps which handsets were reached. With `done` the page is over and `devices` is
   * its answer from now on; without, the next request with its key tries again.
   */
  settle(
    claim: Claim,
    result: { reached: readonly string[]; done: boolean; devices: number },
  ): Promise<void>;
  /** Frees every hold: for the one process that serves, before it does, since no other lives. */
  releaseAll(): Promise<void>;
}

/** How long a claim is remembered. */
export const CLAIM_SECONDS = 48 * 3_600;
