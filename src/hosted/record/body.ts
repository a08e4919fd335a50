import { constants, zstdCompressSync, zstdDecompressSync } from "node:zlib";
import type { KeptPage } from "../../ground/store/record/record.ts";
import { PAGE } from "../../ground/store/record/sums.ts";

/** What comes out has room for one page: the default's 16 KiB for each page keeps the garbage collector busy. */
const ROOM = { chunkSize: PAGE };
const QUICK = { ...ROOM, params: { [constants.ZSTD_c_compressionLevel]: 1 } };

/** A page as it lies in the database: compressed where that makes it shorter. */
const bodyOf = (image: Uint8Array): Uint8Array => {
  const short = zstdCompressSync(image, QUICK);
  return short.length < PAGE ? short : image;
};

/** null for a body that is none. */
export function imageOf(body: Uint8Array): Buffer | null {
  try {
    const image = body.length === PAGE ? Buffer.from(body) : zstdDecompressSync(body, ROOM);
    return image.length === PAGE ? image : null;
  } catch {
    return null;
  }
}

/** The hash of each page of a store, in one value. */
export const HASHES =
  "(SELECT string_agg(int4send(page) || int8send(hash), ''::bytea) FROM tenant_pages WHERE tenant_id = $1)";

export function hashesIn(pages: Buffer | null): { page: number; hash: bigint }[] {
  const all = pages ?? Buffer.of();
  return Array.from({ length: all.length / 12 }, (_, i) => ({
    page: all.readInt32BE(12 * i),
    hash: all.readBigInt64BE(12 * i + 4),
  }));
}

/** For a statement that inserts and updates: an update before new pages would fill their block again. */
export const newFirst = (pages: readonly KeptPage[]): KeptPage[] =>
  pages.toSorted((a, b) => b.page - a.page);

/**
 * Pages as values of a statement: numbers, hashes, and where each body begins in one value, and how long it is. A list of
 * byte values would travel as text.
 */
export function pageValues(pages: readonly KeptPage[]) {
  const bodies = pages.map(({ image }) => bodyOf(image));
  let at = 1;
  return {
    numbers: pages.map(({ page }) => page),
    hashes: pages.map(({ hash }) => String(hash)),
    starts: bodies.map(({ length }) => {
      at += length;
      return at - length;
    }),
    lengths: bodies.map(({ length }) => length),
    bodies: Buffer.concat(bodies),
  };
}
