import { randomBytes } from "node:crypto";

/** The frames of a WebSocket (RFC 6455, section 5). */

export const opcodes = { continuation: 0x0, text: 0x1, close: 0x8, ping: 0x9, pong: 0xa } as const;

export interface SocketFrame {
  opcode: number;
  /** Whether this is the last frame of its message. */
  isLast: boolean;
  data: Buffer;
}

/** Reads a server's frames from what arrives. `most`: bytes of a frame. null for invalid or longer frames. */
export function frameReader(most: number): (chunk: Buffer) => SocketFrame[] | null {
  let parts: Buffer[] = [];
  let held = 0;
  /** Bytes of the next frame with its head; 0 while they aren't known. */
  let whole = 0;
  return (chunk) => {
    parts.push(chunk);
    held += chunk.length;
    if (held < whole) return [];
    let bytes = Buffer.concat(parts);
    whole = 0;
    const frames: SocketFrame[] = [];
    for (let head = headOf(bytes); head !== null; head = headOf(bytes)) {
      if (!head.isServers || head.length > most) return null;
      const end = head.from + head.length;
      if (bytes.length < end) {
        whole = end;
        break;
      }
      const { opcode, isLast } = head;
      frames.push({ opcode, isLast, data: bytes.subarray(head.from, end) });
      bytes = bytes.subarray(end);
    }
    parts = [bytes];
    held = bytes.length;
    return frames;
  };
}

/** null: not complete yet. */
function headOf(bytes: Buffer) {
  const [first = 0, second = 0] = bytes;
  const short = second & 0x7f;
  const from = short === 126 ? 4 : short === 127 ? 10 : 2;
  if (bytes.length < from) return null;
  return {
    opcode: first & 0x0f,
    isLast: first > 0x7f,
    // The other bits belong to extensions, and none was agreed on. A server masks nothing.
    isServers: (first & 0x70) === 0 && second <= 0x7f,
    from,
    length:
      short === 126
        ? bytes.readUInt16BE(2)
        : short === 127
          ? Number(bytes.readBigUInt64BE(2))
          : short,
  };
}

/** A client's message in one frame, which is masked. */
export function clientFrame(opcode: number, data: Buffer): Buffer {
  const { length } = data;
  const size = length < 126 ? 0 : length < 65_536 ? 2 : 8;
  const head = Buffer.alloc(2 + size);
  head[0] = 0x80 | opcode;
  head[1] = 0x80 | (size === 0 ? length : size === 2 ? 126 : 127);
  if (size === 2) head.writeUInt16BE(length, 2);
  if (size === 8) head.writeBigUInt64BE(BigInt(length), 2);
  const mask = randomBytes(4);
  const masked = Buffer.from(data.map((byte, i) => byte ^ (mask[i % 4] ?? 0)));
  return Buffer.concat([head, mask, masked]);
}
