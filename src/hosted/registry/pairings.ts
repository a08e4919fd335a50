import type { RelayCredential } from "./relay-keys.ts";

export interface Pairing {
  accountId: string;
  boxAccountId: string;
  createdAt: number;
  /** Null while live. */
  revokedAt: number | null;
}

export interface NewPairing {
  tenantId: string;
  accountId: string;
  boxAccountId: string;
}

export type FirstPairing =
  | { kind: "paired"; pairing: Pairing; credential: RelayCredential }
  /** The tenant has had a pairing, live or revoked: a receipt is needed. */
  | { kind: "receipt_needed" }
  /** No such tenant, or it is reserved for another account: callers can't tell which. */
  | { kind: "not_found" }
  | { kind: "hosted" };

export type LaterPairing =
  | { kind: "paired"; pairing: Pairing }
  /** The account or the box account has a live pairing with this tenant. */
  | { kind: "already_paired" }
  /** The box's tenant id isn't the one in the receipt. */
  | { kind: "other_box" };

export type Revocation =
  | { kind: "revoked"; now: boolean }
  | { kind: "not_found" }
  | { kind: "not_allowed" };

export interface Pairings {
  /**
   * The tenant's first pairing ever, decided inside the transaction. It needs no receipt, makes the account the owner
   * and creates the relay credential (contract §7).
   */
  first(pairing: NewPairing): Promise<FirstPairing>;
  /** Whether the account or the box account has a live pairing with this tenant. */
  isPaired(pairing: NewPairing): Promise<boolean>;
  /** A pairing whose receipt was valid; `boxTenantId` is the tenant id in the receipt. */
  later(pairing: NewPairing & { boxTenantId: string }): Promise<LaterPairing>;
  /** All pairings, oldest first, with revoked ones. */
  list(tenantId: string): Promise<Pairing[]>;
  /** Ends an account's live pairing. An owner can end any, a member their own. The membership stays. */
  revoke(change: { tenantId: string; accountId: string; by: string }): Promise<Revocation>;
}
