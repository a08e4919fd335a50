/** A closed tenant's seal: the tokens in its store, and the state of the store's file. */
export interface Seal {
  tenantId: string;
  /** The epoch that was read before the tokens. */
  epoch: number;
  /** See `storeStamp`. */
  files: string;
  /** SHA-256 of each token, in hexadecimal. */
  hashes: readonly string[];
}

/**
 * Seals of closed tenants. A seal is only a hint that can save opening a store: its reader compares `files` with the
 * present file, and opens the store where they differ.
 */
export interface Seals {
  /** Grows with each seal that is written or broken. */
  epoch(tenantId: string): Promise<number>;
  /** False, and nothing is written, where another seal was written or broken since this one's epoch. */
  put(seal: Seal): Promise<boolean>;
  /** Called before and after writing to a store that isn't served here. Returns the new epoch. */
  break(tenantId: string): Promise<number>;
  /** The file's state in the seal, and whether the token is among its tokens; null without a seal. */
  judge(tenantId: string, hash: string): Promise<{ files: string; knows: boolean } | null>;
  /** The file's state in each hosted tenant's seal, null without one; by id, those after `after`, at most `limit`. */
  list(page: { after: string; limit: number }): Promise<{ id: string; files: string | null }[]>;
}
