/** Writes protobuf and snappy for tests; the program only reads them. */

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = BigInt(value);
  for (; rest > 127n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128);
  return Buffer.from([...bytes, Number(rest)]);
}

/** A field of text, bytes or messages. */
export function part(field: number, ...inner: (Buffer | string)[]): Buffer {
  const bytes = Buffer.concat(inner.map((one) => Buffer.from(one)));
  return Buffer.concat([varint(field * 8 + 2), varint(bytes.length), bytes]);
}

/** A field of a whole number. */
export function whole(field: number, value: number): Buffer {
  return Buffer.concat([varint(field * 8), varint(value)]);
}

/** A field of eight fixed bytes. */
export function fixed(field: number, value: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(value);
  return Buffer.concat([varint(field * 8 + 1), bytes]);
}

/** A block of snappy, its repeats of ten bytes as copies. */
export function snappy(bytes: Buffer): Buffer {
  const out = [varint(bytes.length)];
  for (let at = 0; at < bytes.length; ) {
    const repeat = bytes.subarray(at, at + 10);
    const before = bytes.subarray(Math.max(0, at - 2000), at).lastIndexOf(repeat);
    const back = before === -1 ? 0 : Math.min(at, 2000) - before;
    if (repeat.length === 10 && back > 0) {
      out.push(Buffer.from([1 | (6 << 2) | ((back >> 8) << 5), back & 255]));
    } else out.push(Buffer.from([(repeat.length - 1) << 2]), repeat);
    at += repeat.length;
  }
  return Buffer.concat(out);
}

/** Headers as a request gives them. */
export const typed = (type: string) => ({
  header: (name: string) => (name === "content-type" ? type : undefined),
});
