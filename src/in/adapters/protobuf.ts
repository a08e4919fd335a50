/** Bytes that are no message of protobuf. */
export class BrokenProtobuf extends Error {}

/** A field on the wire: `number` for a varint or a fixed length, `bytes` for others. */
export type OnField = (field: number, number: bigint, bytes: Buffer) => void;

const NONE = Buffer.alloc(0);

/** Calls `on` for each field, in order; proto3 has no groups. Throws BrokenProtobuf. */
export function readProtobuf(message: Buffer, on: OnField): void {
  let at = 0;
  const wide = (): bigint => {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = message[at++];
      if (byte === undefined) break;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asUintN(64, value);
    }
    throw new BrokenProtobuf();
  };
  /** A length or tag: a plain number, because there can be millions. */
  const varint = (): number => {
    let value = 0;
    const from = at;
    for (let unit = 1; unit <= 2 ** 35; unit *= 128) {
      const byte = message[at++];
      if (byte === undefined) throw new BrokenProtobuf();
      value += (byte & 0x7f) * unit;
      if (byte < 0x80) return value;
    }
    at = from;
    return Number(wide());
  };
  const take = (length: number): Buffer => {
    if (length > message.length - at) throw new BrokenProtobuf();
    at += length;
    return message.subarray(at - length, at);
  };
  while (at < message.length) {
    const tag = varint();
    const field = Math.floor(tag / 8);
    switch (tag % 8) {
      case 0:
        on(field, wide(), NONE);
        break;
      case 1:
        on(field, take(8).readBigUInt64LE(), NONE);
        break;
      case 2:
        on(field, 0n, take(varint()));
        break;
      case 5:
        on(field, BigInt(take(4).readUInt32LE()), NONE);
        break;
      default:
        throw new BrokenProtobuf();
    }
  }
}
