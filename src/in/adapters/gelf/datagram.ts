import { gunzipSync, inflateSync } from "node:zlib";

/** Bytes of a message after decompression. */
const MOST_BYTES = 1024 * 1024;
const MOST_CHUNKS = 128;
const MOST_MS = 5000;
const MOST_MESSAGES = 1000;
const MOST_HELD = 8 * 1024 * 1024;
const HEAD = 12;

interface Waiting {
  parts: (Buffer | undefined)[];
  missing: number;
  size: number;
  /** Monotonic milliseconds. */
  since: number;
}

/**
 * Joins the chunks of messages. At most 1,000 messages and 8 MiB wait for their chunks, each for five seconds;
 * above that the oldest is dropped.
 */
export function createChunks() {
  const waiting = new Map<string, Waiting>();
  let held = 0;

  const forget = (id: string) => {
    held -= waiting.get(id)?.size ?? 0;
    waiting.delete(id);
  };
  const makeRoom = (mono: number) => {
    for (const [id, { since }] of waiting) {
      const isOver = mono - since > MOST_MS;
      if (!isOver && waiting.size <= MOST_MESSAGES && held <= MOST_HELD) break;
      forget(id);
    }
  };

  const take = (datagram: Buffer, id: string, mono: number): Buffer | null => {
    const [index, count] = [datagram[10] ?? 0, datagram[11] ?? 0];
    if (count === 0 || count > MOST_CHUNKS || index >= count) {
      forget(id);
      return null;
    }
    let message = waiting.get(id);
    if (message === undefined || message.parts.length !== count) {
      forget(id);
      message = { parts: Array(count).fill(undefined), missing: count, size: 0, since: mono };
      waiting.set(id, message);
    }
    if (message.parts[index] !== undefined) return null;
    const part = Buffer.from(datagram.subarray(HEAD));
    message.parts[index] = part;
    message.missing -= 1;
    message.size += part.length;
    held += part.length;
    if (message.missing > 0) return null;
    const whole = Buffer.concat(message.parts.filter((one) => one !== undefined));
    forget(id);
    return whole;
  };

  return {
    /** The message that a datagram contains or completes; null while chunks are missing, and for an invalid one. */
    add(datagram: Buffer, { peer, mono }: { peer: string; mono: number }): Buffer | null {
      makeRoom(mono);
      if (datagram[0] !== 0x1e || datagram[1] !== 0x0f) return datagram;
      if (datagram.length < HEAD) return null;
      const whole = take(datagram, `${peer} ${datagram.toString("hex", 2, 10)}`, mono);
      makeRoom(mono);
      return whole;
    },
    /** Bytes of incomplete messages. */
    get held() {
      return held;
    },
  };
}

/** The decompressed payload, at most 1 MiB; null where that fails. */
export function inflatedGelf(payload: Buffer): Buffer | null {
  const options = { maxOutputLength: MOST_BYTES };
  try {
    if (payload[0] === 0x1f && payload[1] === 0x8b) return gunzipSync(payload, options);
    if (payload[0] === 0x78) return inflateSync(payload, options);
  } catch {
    return null;
  }
  return payload;
}
