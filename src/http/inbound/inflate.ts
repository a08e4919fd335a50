import { promisify } from "node:util";
import { brotliDecompress, gunzip, inflate, inflateRaw } from "node:zlib";

/** More than this from one byte is no honest text. */
const MOST_RATIO = 200;
/** What may come of a short body whatever the ratio. */
const ALWAYS = 64 * 1024;

export class TooLarge extends Error {}
/** The body isn't what its Content-Encoding says. */
export class BadEncoding extends Error {}

type Inflate = (body: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>;

const zlibInflate: Inflate = promisify(inflate);
const zlibInflateRaw: Inflate = promisify(inflateRaw);

/** What calls itself deflate comes with a header of zlib's, and from some senders without. */
const deflate: Inflate = (body, options) =>
  ((body[0] ?? 0) & 0x0f) === 8 ? zlibInflate(body, options) : zlibInflateRaw(body, options);

const encodings: Readonly<Record<string, Inflate>> = {
  gzip: promisify(gunzip),
  "x-gzip": promisify(gunzip),
  deflate,
  br: promisify(brotliDecompress),
};

/** The body as it was before its Content-Encoding, at most `most` bytes. Throws TooLarge, BadEncoding. */
export async function inflated(
  body: Buffer,
  encoding: string | undefined,
  most: number,
): Promise<Buffer> {
  const name = (encoding ?? "identity").trim().toLowerCase();
  if (name === "identity" || name === "") return body;
  const open = Object.hasOwn(encodings, name) ? encodings[name] : undefined;
  if (open === undefined) throw new BadEncoding();
  const maxOutputLength = Math.min(most, Math.max(ALWAYS, body.length * MOST_RATIO));
  try {
    return await open(body, { maxOutputLength });
  } catch (error) {
    const { code } = error as { code?: string };
    throw code === "ERR_BUFFER_TOO_LARGE" ? new TooLarge() : new BadEncoding();
  }
}
