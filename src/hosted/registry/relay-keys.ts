/** A relay credential as the box gets it; the secret is never shown again. */
export interface RelayCredential {
  /** `rk_` and 16 hex characters. */
  keyId: string;
  /** 43 base62 characters. */
  secret: string;
}

/** The tenant of a key; `tenantId` is null for an unknown or revoked key. */
export interface RelayKey {
  tenantId: string | null;
  /** For an unknown key a secret that nobody has; null where the sealed one can't be opened. */
  secret: string | null;
  /** It came from memory: the statement that uses it checks whether it is live. */
  isRemembered?: boolean;
}

export type Rotation =
  | { kind: "rotated"; credential: RelayCredential }
  /** No such tenant, or the caller isn't a member: callers can't tell which. */
  | { kind: "not_found" }
  | { kind: "not_owner" }
  | { kind: "hosted" };

export interface RelayKeys {
  /** Finds a key with the same work whether it is known or not. */
  find(keyId: string): Promise<RelayKey>;
  /**
   * Whether a key that `find` gave is live, for a caller that asks the registry nothing else. It costs the query that a
   * remembered key saved, so unknown, revoked and badly signed requests take the same time. A revoked key is forgotten.
   */
  lives(keyId: string, key: RelayKey): Promise<boolean>;
  /** Creates a key for a box tenant and revokes every earlier one; only for the owner. */
  rotate(change: { tenantId: string; by: string }): Promise<Rotation>;
}

/** What a key's secret is sealed for. */
export function relayKeyPlace(keyId: string): string {
  return `relay_keys|${keyId}`;
}
