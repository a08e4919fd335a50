export interface ApnsSettings {
  keyId: string;
  teamId: string;
  /** The app's bundle id. */
  topic: string;
  /** "https://host[:port]". */
  endpoint: string;
  /** PEM of the only authority to trust there; null: those the runtime trusts. */
  ca: string | null;
  /** The .p8 file's text. */
  key: string;
}

export type StoredApns =
  | { kind: "none" }
  /** Sealed under a key that is not at hand: it must be set again. */
  | { kind: "unreadable" }
  | { kind: "set"; version: number; settings: ApnsSettings };

/** The provider token that all nodes send with. */
export interface StoredToken {
  /** When it was made, in Unix seconds. */
  iat: number;
  /** Null: sealed under a key that is not at hand. */
  jwt: string | null;
}

export interface Apns {
  set(settings: ApnsSettings): Promise<void>;
  get(): Promise<StoredApns>;
  /** Rises with every `set`, which forgets the provider token; 0: never set. Cheap, so that a change is noticed at the next push. */
  version(): Promise<number>;
  /** The stored provider token, if there is one, and the time in Unix seconds by the registry's clock. */
  token(): Promise<{ at: number; token: StoredToken | null }>;
  /**
   * Stores a fresh token in place of the one made at `instead` (null: of none). False, and nothing is stored, where
   * that is no longer the stored one, or the settings are no more those of `version`.
   */
  keepToken(fresh: {
    version: number;
    iat: number;
    jwt: string;
    instead: number | null;
  }): Promise<boolean>;
}

/** What the key, and the token made with it, are sealed for. */
export const apnsPlaces = { key: "apns|key", token: "apns|token" } as const;
