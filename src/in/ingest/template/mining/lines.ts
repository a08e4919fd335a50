import { isAsciiDigit, isAsciiLetter } from "../text/classes.ts";
import { COLON, ZERO } from "../text/codes.ts";

const LONGEST = 1_024;
const SMALLEST = 65_536;
const LARGEST = 4_194_304;
/** Bytes of remembered lines for each slot of the index. */
const SLOT_BYTES = 64;

/** Whether the digits behind a unit can tell: `s3`, `utf8`, and in `redis:6379` the port. */
const TELLS = new Uint8Array(128).map((_, code) => (isAsciiLetter(code) ? 1 : 0));

/**
 * Remembers what recent lines became. Two lines that differ in the digits of their numbers only, not in how many there
 * are, have one shape, so both are found by the line with zeros for those digits. The lines themselves are kept and
 * compared: no two of them can be confused on purpose. Bounded: a ring of at most 4 MiB, which grows as it is used.
 */
export class LineCache<V> {
  readonly #line = new Uint8Array(LONGEST * 3);
  #length = 0;
  #hash = 0;
  #size = SMALLEST;
  #ring = new Uint8Array(SMALLEST);
  /** Bytes ever written; the ring holds the last `#size` of them. */
  #written = 1;
  #starts = new Float64Array(SMALLEST / SLOT_BYTES);
  #lengths = new Uint16Array(SMALLEST / SLOT_BYTES);
  #values: (V | undefined)[] = new Array(SMALLEST / SLOT_BYTES).fill(undefined);

  /** What the line became, if it is remembered. */
  get(message: string): V | undefined {
    this.#length = 0;
    if (message.length === 0 || message.length > LONGEST) return undefined;
    this.#length = this.#read(message);
    const slot = this.#hash & (this.#starts.length - 1);
    if (this.#holds(slot)) return this.#values[slot];
    return this.#holds(slot ^ 1) ? this.#values[slot ^ 1] : undefined;
  }

  /** Remembers the line that was last asked for, unless it is too long. */
  put(value: V): void {
    const length = this.#length;
    if (length === 0) return;
    let start = this.#written % this.#size;
    if (start + length > this.#size) {
      this.#written += this.#size - start;
      start = 0;
      if (this.#size < LARGEST) this.#grow();
    }
    const slot = this.#freeSlot(this.#hash & (this.#starts.length - 1));
    this.#ring.set(this.#line.subarray(0, length), start);
    this.#starts[slot] = this.#written;
    this.#lengths[slot] = length;
    this.#values[slot] = value;
    this.#written += length;
  }

  /** Zeros for the digits that don't tell, and a hash of the result. Returns the bytes it takes. */
  #read(message: string): number {
    const line = this.#line;
    let at = 0;
    let hash = message.length;
    let telling = false;
    let before = 0;
    for (let i = 0; i < message.length; i++) {
      let code = message.charCodeAt(i);
      if (code > 127) {
        // three bytes, of which the first can't be ASCII
        line[at++] = 128 | (code >>> 12);
        line[at++] = (code >>> 6) & 63;
        hash = Math.imul(hash ^ code, 0x01000193);
        telling = true;
        before = 0;
        code &= 63;
      } else if (isAsciiDigit(code)) {
        if (!telling) code = ZERO;
      } else {
        telling = TELLS[code] === 1 || (code === COLON && TELLS[before] === 1);
        before = code;
      }
      line[at++] = code;
      hash = Math.imul(hash ^ code, 0x01000193);
    }
    hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
    this.#hash = (hash ^ (hash >>> 13)) >>> 0;
    return at;
  }

  #holds(slot: number): boolean {
    const length = this.#length;
    const start = this.#starts[slot] as number;
    if (this.#lengths[slot] !== length || start === 0 || this.#written - start > this.#size) {
      return false;
    }
    const ring = this.#ring;
    const line = this.#line;
    const from = start % this.#size;
    for (let i = 0; i < length; i++) if (ring[from + i] !== line[i]) return false;
    return true;
  }

  /** Of the two slots a line may have, the one written longer ago. */
  #freeSlot(slot: number): number {
    return (this.#starts[slot] as number) <= (this.#starts[slot ^ 1] as number) ? slot : slot ^ 1;
  }

  #grow(): void {
    this.#size *= 8;
    const slots = this.#size / SLOT_BYTES;
    this.#ring = new Uint8Array(this.#size);
    this.#starts = new Float64Array(slots);
    this.#lengths = new Uint16Array(slots);
    this.#values = new Array(slots).fill(undefined);
    this.#written = 1;
  }
}
