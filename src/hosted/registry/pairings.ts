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
  /** There has been one already, live or revoked: a receipt is needed. */
  | { kind: "receipt_needed" }
  /** No such tenant, or it waits for another account: the two look the same. */
  | { kind: "not_found" }
  | { kind: "hosted" };

export type LaterPairing =
  | { kind: "paired"; pairing: Pairing }
  /** The account or the box account has a live pairing here. */
  | { kind: "already_paired" }
  /** The box goes by another tenant id than the receipt said. */
  | { kind: "other_box" };

export type Revocation =
  | { kind: "revoked"; now: boolean }
  | { kind: "not_found" }
  | { kind: "not_allowed" };

export interface Pairings {
  /**
   * The tenant's first pairing ever, decided inside the transaction: it needs no receipt, makes the
   * account the owner and mints the relay credential (contract §7).
   */
  first(pairing: NewPairing): Promise<FirstPairing>;
  /** Whether the account or the box account has a live pairing here. */
  isPaired(pairing: NewPairing): Promise<boolean>;
  /** A pairing whose receipt was good; `boxTenantId` is the tenant the receipt named. */
  later(pairing: NewPairing & { boxTenantId: string }): Promise<LaterPairing>;
  /** All of them, oldest first, revoked ones included. */
  list(tenantId: string): Promise<Pairing[]>;
  /** Ends an account's live pairing: an owner any, a member their own. Membership stays. */
  revoke(change: { tenantId: string; accountId: string; by: string }): Promise<Revocation>;
}
