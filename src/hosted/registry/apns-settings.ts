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
  | { kind: "set"; settings: ApnsSettings };

export interface Apns {
  set(settings: ApnsSettings): Promise<void>;
  get(): Promise<StoredApns>;
  /** Rises with every `set`; 0: never set. Cheap, so that a change is noticed at the next push. */
  version(): Promise<number>;
}

/** What the key is sealed for. */
export const apnsKeyPlace = "apns|key";
