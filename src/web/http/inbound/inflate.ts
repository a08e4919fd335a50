import type { Transform } from "node:stream";
import {
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  createZstdDecompress,
} from "node:zlib";

/** More than this from one byte is no honest text. */
const MOST_RATIO = 200;
/** What may come of a short body whatever the ratio. */
const ALWAYS = 64 * 1024;

export class TooLarge extends Error {}
/** The body isn't what its Content-Encoding says. */
export class BadEncoding extends Error {}

type Inflate = (body: Buffer) => Transform;

const CHUNK = { chunkSize: 64 * 1024 };

/** What calls itself deflate comes with a header of zlib's, and from some senders without. */
const deflate: Inflate = (body) =>
  ((body[0] ?? 0) & 0x0f) === 8 ? createInflate(CHUNK) : createInflateRaw(CHUNK);

const encodings: Readonly<Record<string, Inflate>> = {
  gzip: () => createGunzip(CHUNK),
  "x-gzip": () => createGunzip(CHUNK),
  deflate,
  br: () => createBrotliDecompress(CHUNK),
  zstd: () => createZstdDecompress(CHUNK),
};

/**
 * The body as it was before its Content-Encoding, at most `most` bytes; `hold` is told of each piece as it comes, and
 * what it throws ends it. Throws TooLarge, BadEncoding.
 */
export async function inflated(
  body: Buffer,
  encoding: string | undefined,
  { most, hold }: { most: number; hold(bytes: number): void },
): Promise<Buffer> {
  const name = (encoding ?? "identity").trim().toLowerCase();
  if (name === "identity" || name === "") return body;
  const open = Object.hasOwn(encodings, name) ? encodings[name] : undefined;
  if (open === undefined) throw new BadEncoding();
  const longest = Math.min(most, Math.max(ALWAYS, body.length * MOST_RATIO));
  const opening = open(body);
  opening.end(body);
  // It grows in place: pieces joined at the end would be in memory twice.
  const whole = new ArrayBuffer(0, { maxByteLength: longest });
  let size = 0;
  let broken: unknown = null;
  opening.once("error", (error) => {
    broken = error;
  });
  try {
    for await (const chunk of opening as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > longest) throw new TooLarge();
      hold(chunk.length);
      whole.resize(size);
      new Uint8Array(whole, size - chunk.length).set(chunk);
      free(chunk);
    }
  } catch (error) {
    throw error === broken ? new BadEncoding() : error;
  }
  return Buffer.from(whole, 0, size);
}

/**
 * Gives a chunk's memory back at once where nothing else lies in it. Left to the collector, 30 MB of chunks bring about
 * several whole collections, and where no core is idle the loop does all their work itself.
 */
function free({ buffer, byteLength }: Buffer): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0);
}
