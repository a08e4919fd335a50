/** A closed tenant's seal: the tokens of its store, and what the store's file looked like. */
export interface Seal {
  tenantId: string;
  /** The epoch that was read before the tokens were. */
  epoch: number;
  /** See `storeStamp`. */
  files: string;
  /** SHA-256 of each token, in hexadecimal. */
  hashes: readonly string[];
}

/**
 * Seals of closed tenants. A seal is only a hint that saves an opening: whoever reads one compares `files` with the
 * file as it is, and opens the store where they differ.
 */
export interface Seals {
  /** Grows with each seal that is put or broken. */
  epoch(tenantId: string): Promise<number>;
  /** False, and nothing is written, where another seal was put or broken since its epoch. */
  put(seal: Seal): Promise<boolean>;
  /** For whoever writes to a store that it doesn't serve, before and after; the new epoch. */
  break(tenantId: string): Promise<number>;
  /** The file that the seal speaks of, and whether it knows the token; null without a seal. */
  judge(tenantId: string, hash: string): Promise<{ files: string; knows: boolean } | null>;
  /** The file that each hosted tenant's seal speaks of, null without one; by id, those after `after`, at most `limit`. */
  list(page: { after: string; limit: number }): Promise<{ id: string; files: string | null }[]>;
}
