import { constants, zstdCompressSync, zstdDecompressSync } from "node:zlib";
import type { KeptPage } from "../../ground/store/record/record.ts";
import { PAGE } from "../../ground/store/record/sums.ts";

const QUICK = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };

/** A page as it lies in the database: compressed where that makes it shorter. */
const bodyOf = (image: Uint8Array): Uint8Array => {
  const short = zstdCompressSync(image, QUICK);
  return short.length < PAGE ? short : image;
};

/** Throws for a body that is none. */
export function imageOf(body: Uint8Array): Buffer {
  const image = body.length === PAGE ? Buffer.from(body) : zstdDecompressSync(body);
  if (image.length !== PAGE) throw new Error("a page of another length");
  return image;
}

/**
 * Pages as values of a statement: numbers, hashes, and where each body begins in one value, and how long it is. A list of
 * byte values would travel as text.
 */
export function pageValues(pages: readonly KeptPage[]): {
  numbers: number[];
  hashes: string[];
  starts: number[];
  lengths: number[];
  bodies: Uint8Array;
} {
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
