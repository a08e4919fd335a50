/** A relay credential as its box gets it; the secret is never shown again. */
export interface RelayCredential {
  /** `rk_` and 16 hex characters. */
  keyId: string;
  /** 43 base62 characters. */
  secret: string;
}

/** Whose key it is. `tenantId` is null for a key that is unknown or revoked. */
export interface RelayKey {
  tenantId: string | null;
  /** For an unknown key a secret nobody has; null where the sealed one can't be opened. */
  secret: string | null;
  /** It came from memory, without a look at the registry: whether it still lives is asked by what acts. */
  isRemembered?: boolean;
}

export type Rotation =
  | { kind: "rotated"; credential: RelayCredential }
  /** No such tenant, or the caller is no member of it: the two look the same. */
  | { kind: "not_found" }
  | { kind: "not_owner" }
  | { kind: "hosted" };

export interface RelayKeys {
  /** Looks a key up with the same work whether it is known or not. */
  find(keyId: string): Promise<RelayKey>;
  /**
   * Whether a key lives that `find` gave, for whoever asks nothing else of the registry, or is refused. It costs the look
   * that a remembered key saved, so that unknown, revoked and badly signed take the same time; and one that was revoked is
   * forgotten.
   */
  lives(keyId: string, key: RelayKey): Promise<boolean>;
  /** Mints a fresh key for a box tenant and revokes every earlier one; the owner's alone. */
  rotate(change: { tenantId: string; by: string }): Promise<Rotation>;
}

/** What a key's secret is sealed for. */
export function relayKeyPlace(keyId: string): string {
  return `relay_keys|${keyId}`;
}
