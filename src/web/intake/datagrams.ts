/** Datagrams on a connection between two machines of a box: who sent each, and its bytes. */

/** A datagram as it came to a port. */
export interface Datagram {
  /** Of its sender. */
  address: string;
  bytes: Buffer;
}

const HEAD = 3;

/** An address has less than 256 bytes, a datagram less than 65,536. */
export function packedDatagram({ address, bytes }: Datagram): Buffer {
  const from = Buffer.from(address.slice(0, 255), "latin1");
  const head = Buffer.alloc(HEAD);
  head.writeUInt8(from.length, 0);
  head.writeUInt16BE(bytes.length, 1);
  return Buffer.concat([head, from, bytes]);
}

/** Finds the datagrams in a connection's bytes, in whatever pieces they come. */
export function createDatagramReader(): (chunk: Buffer) => Datagram[] {
  let rest: Buffer = Buffer.alloc(0);
  return (chunk) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    const found: Datagram[] = [];
    for (let at = 0; ; ) {
      const whole =
        rest.length - at < HEAD ? null : HEAD + rest.readUInt8(at) + rest.readUInt16BE(at + 1);
      if (whole === null || rest.length - at < whole) {
        rest = rest.subarray(at);
        return found;
      }
      const body = at + HEAD + rest.readUInt8(at);
      found.push({
        address: rest.toString("latin1", at + HEAD, body),
        bytes: rest.subarray(body, at + whole),
      });
      at += whole;
    }
  };
}
