import { hash } from "node:crypto";

/** The size of every page of our stores. */
export const PAGE = 4096;

const named = Buffer.alloc(4 + PAGE);

/** 64 bits that tell a page's number and content. */
export function pageHash(page: number, image: Uint8Array): bigint {
  named.writeUInt32BE(page, 0);
  named.set(image, 4);
  return hash("sha256", named, "buffer").readBigInt64BE(0);
}

/** The hash of each page of a database, and their sum: of equal databases it is equal. */
export interface PageSums {
  readonly count: number;
  readonly sum: bigint;
  /** 0 for a page that isn't there. */
  of(page: number): bigint;
  set(page: number, hash: bigint): void;
  /** Forgets the pages after the first `count`. */
  cut(count: number): void;
}

export function createPageSums(): PageSums {
  let hashes = new BigInt64Array(256);
  let count = 0;
  let sum = 0n;
  const of = (page: number) => (page <= count ? (hashes[page - 1] ?? 0n) : 0n);
  return {
    get count() {
      return count;
    },
    get sum() {
      return sum;
    },
    of,
    set(page, hash) {
      if (page > hashes.length) {
        const more = new BigInt64Array(Math.max(page, 2 * hashes.length));
        more.set(hashes);
        hashes = more;
      }
      sum ^= of(page) ^ hash;
      hashes[page - 1] = hash;
      count = Math.max(count, page);
    },
    cut(to) {
      for (let page = to + 1; page <= count; page++) sum ^= of(page);
      hashes.fill(0n, to);
      count = Math.min(count, to);
    },
  };
}
