/** Bytes that are no block of snappy. */
export class BrokenSnappy extends Error {}

/** The format expands a byte by less than this: three bytes copy 64. */
const MOST_RATIO = 32;

/** Decompresses a snappy block. Throws BrokenSnappy, also for more than `most` bytes of output. */
export function unsnappy(block: Buffer, most: number): Buffer {
  let at = 0;
  const next = (): number => {
    const byte = block[at++];
    if (byte === undefined) throw new BrokenSnappy();
    return byte;
  };
  const number = (bytes: number): number => {
    let value = 0;
    for (let i = 0; i < bytes; i++) value += next() * 2 ** (8 * i);
    return value;
  };
  const length = lengthOf(next);
  if (length > most || length > block.length * MOST_RATIO) throw new BrokenSnappy();
  const out = Buffer.alloc(length);
  let size = 0;
  const literal = (count: number) => {
    if (count > block.length - at || count > length - size) throw new BrokenSnappy();
    block.copy(out, size, at, at + count);
    at += count;
    size += count;
  };
  const copy = (count: number, back: number) => {
    if (back === 0 || back > size || count > length - size) throw new BrokenSnappy();
    // Byte by byte, because source and target can overlap.
    for (let i = 0; i < count; i++, size++) out[size] = out[size - back] ?? 0;
  };
  while (at < block.length) {
    const tag = next();
    const high = tag >> 2;
    if ((tag & 3) === 0) literal(1 + (high < 60 ? high : number(high - 59)));
    else if ((tag & 3) === 1) copy(4 + (high & 7), ((tag >> 5) << 8) + next());
    else copy(1 + high, number((tag & 3) === 2 ? 2 : 4));
  }
  if (size !== length) throw new BrokenSnappy();
  return out;
}

function lengthOf(next: () => number): number {
  let length = 0;
  for (let i = 0; i < 5; i++) {
    const byte = next();
    length += (byte & 0x7f) * 2 ** (7 * i);
    if (byte < 0x80) return length;
  }
  throw new BrokenSnappy();
}
