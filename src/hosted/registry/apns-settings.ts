export interface ApnsSettings {
  keyId: string;
  teamId: string;
  /** The app's bundle id. */
  topic: string;
  /** "https://host[:port]". */
  endpoint: string;
  /** PEM of the only trusted authority; null: those of the runtime. */
  ca: string | null;
  /** The .p8 file's text. */
  key: string;
}

export type StoredApns =
  | { kind: "none" }
  /** Sealed under a missing key: it must be set again. */
  | { kind: "unreadable" }
  | { kind: "set"; version: number; settings: ApnsSettings };

/** The provider token with which all nodes send. */
interface StoredToken {
  /** When it was made, in Unix seconds. */
  iat: number;
  /** Null: sealed under a missing key. */
  jwt: string | null;
}

export interface Apns {
  set(settings: ApnsSettings): Promise<void>;
  get(): Promise<StoredApns>;
  /** Grows with every `set`, which deletes the provider token; 0: never set. Cheap: each push asks for it. */
  version(): Promise<number>;
  /** The stored provider token, if any, and the registry's time in Unix seconds. */
  token(): Promise<{ at: number; token: StoredToken | null }>;
  /**
   * Stores a new token in place of the one made at `instead` (null: of none). False, and nothing is stored, where
   * another token is stored by now, or the settings' version isn't `version` any more.
   */
  keepToken(fresh: {
    version: number;
    iat: number;
    jwt: string;
    instead: number | null;
  }): Promise<boolean>;
}

/** What the key and the token are sealed for. */
export const apnsPlaces = { key: "apns|key", token: "apns|token" } as const;
