/** Longer messages are cut, and the rest is dropped. */
const MOST = 65_536;
const MOST_DIGITS = 7;
const [NUL, LF, CR, SPACE, ZERO, NINE] = [0, 10, 13, 32, 48, 57];

/** One message of a stream. */
export interface Framed {
  bytes: Buffer;
  /** It was longer, or its stream ended inside it. */
  cut: boolean;
}

/** Finds the messages in a stream, with either framing of RFC 6587. */
export type Frames = ReturnType<typeof createFrames>;

type State = "gap" | "count" | "counted" | "line";

/** Framing of messages in a stream, other than syslog's. */
interface Framing {
  /** A message can begin with its length in digits. */
  counts: boolean;
  /** The bytes that end a message without a length. */
  ends: readonly number[];
  /** How a message begins: the rest of a broken connection is used only if it begins so. */
  begins: string;
  /** Bytes of a message that are kept. */
  most: number;
}

const SYSLOG: Framing = { counts: true, ends: [LF, NUL], begins: "<", most: MOST };
const GAPS: readonly number[] = [NUL, LF, CR, SPACE];

/** Holds at most one message, for syslog 64 KiB. */
export function createFrames({ counts, ends, begins, most }: Framing = SYSLOG) {
  const held = createHolder(most);
  let state: State = "gap";
  let count = "";
  let need = 0;
  let broken = false;

  const begin = (byte: number): boolean => {
    if (GAPS.includes(byte)) return true;
    state = counts && byte > ZERO && byte <= NINE ? "count" : "line";
    count = "";
    return false;
  };

  const digit = (byte: number) => {
    if (byte >= ZERO && byte <= NINE && count.length < MOST_DIGITS) {
      count += String.fromCharCode(byte);
      return;
    }
    need = Number(count);
    broken = byte !== SPACE || need > MOST;
    state = "counted";
  };

  /** Reads what it can from `at` on; returns where it stopped. */
  const step = (chunk: Buffer, at: number, out: Framed[]): number => {
    if (state === "gap") return begin(chunk[at] ?? 0) ? at + 1 : at;
    if (state === "count") {
      digit(chunk[at] ?? 0);
      return at + 1;
    }
    const end = state === "counted" ? Math.min(chunk.length, at + need) : endOf(chunk, at, ends);
    held.add(chunk.subarray(at, end));
    if (state === "counted") need -= end - at;
    const whole = state === "counted" ? need === 0 : end < chunk.length;
    if (!whole) return end;
    out.push(held.take());
    const next = state === "counted" ? end : end + 1;
    state = "gap";
    return next;
  };

  return {
    push(chunk: Buffer): Framed[] {
      const out: Framed[] = [];
      for (let at = 0; at < chunk.length && !broken; ) at = step(chunk, at, out);
      return out;
    },
    /** The rest at the end of the stream, if it begins like a message. */
    end(): Framed[] {
      const left = held.take();
      return !broken && left.bytes.length > 0 && left.bytes[0] === begins.charCodeAt(0)
        ? [{ ...left, cut: left.cut || state === "counted" }]
        : [];
    },
    /** An invalid count: the start of the next message is unknown. */
    get broken() {
      return broken;
    },
  };
}

function endOf(chunk: Buffer, from: number, ends: readonly number[]): number {
  let end = chunk.length;
  for (const byte of ends) {
    // Searches only up to the nearest found so far: a missing byte would otherwise be searched in the whole chunk for
    // each message.
    const at = chunk.subarray(from, end).indexOf(byte);
    if (at !== -1) end = from + at;
  }
  return end;
}

/** A growing buffer, cheap for many small pieces. */
function createHolder(most: number) {
  let bytes = Buffer.alloc(0);
  let size = 0;
  let cut = false;
  return {
    add(part: Buffer) {
      const fitting = part.subarray(0, most - size);
      cut ||= fitting.length < part.length;
      if (size + fitting.length > bytes.length) {
        const larger = Buffer.allocUnsafe(Math.max(1024, (size + fitting.length) * 2));
        bytes.copy(larger, 0, 0, size);
        bytes = larger;
      }
      fitting.copy(bytes, size);
      size += fitting.length;
    },
    take(): Framed {
      const frame = { bytes: Buffer.from(bytes.subarray(0, size)), cut };
      [bytes, size, cut] = [Buffer.alloc(0), 0, false];
      return frame;
    },
  };
}
