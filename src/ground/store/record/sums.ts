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
export type PageSums = ReturnType<typeof createPageSums>;

export function createPageSums() {
  let hashes = new BigInt64Array(256);
  let count = 0;
  let sum = 0n;
  /** 0 for a page that isn't there. */
  const of = (page: number) => (page <= count ? (hashes[page - 1] ?? 0n) : 0n);
  return {
    get count() {
      return count;
    },
    get sum(): bigint {
      return sum;
    },
    of,
    set(page: number, hash: bigint) {
      if (page > hashes.length) {
        const more = new BigInt64Array(Math.max(page, 2 * hashes.length));
        more.set(hashes);
        hashes = more;
      }
      sum ^= of(page) ^ hash;
      hashes[page - 1] = hash;
      count = Math.max(count, page);
    },
    /** Forgets the pages after the first `count`. */
    cut(to: number) {
      for (let page = to + 1; page <= count; page++) sum ^= of(page);
      hashes.fill(0n, to);
      count = Math.min(count, to);
    },
  };
}
