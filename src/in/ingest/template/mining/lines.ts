import { isAsciiDigit, isAsciiLetter } from "../text/classes.ts";
import { COLON, ZERO } from "../text/codes.ts";

const LONGEST = 1_024;
const SMALLEST = 65_536;
const LARGEST = 4_194_304;
/** Bytes of remembered lines for each slot of the index. */
const SLOT_BYTES = 64;

/** Characters after which digits matter: `s3`, `utf8`, and the port in `redis:6379`. */
const TELLS = new Uint8Array(128).map((_, code) => (isAsciiLetter(code) ? 1 : 0));

/**
 * Caches the results of recent lines. Two lines that differ only in the digits of their numbers, not in how many, have
 * one shape: so the key is the line with zeros for these digits. The lines themselves are stored and compared, so
 * nobody can cause a false match. A ring buffer of at most 4 MiB that grows with use.
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

  /** The result of the line, if it is remembered. */
  get(message: string): V | undefined {
    this.#length = 0;
    if (message.length === 0 || message.length > LONGEST) return undefined;
    this.#length = this.#read(message);
    const slot = this.#hash & (this.#starts.length - 1);
    if (this.#holds(slot)) return this.#values[slot];
    return this.#holds(slot ^ 1) ? this.#values[slot ^ 1] : undefined;
  }

  /** Remembers the result of the last line that `get` was called with, unless that is too long. */
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

  /** Replaces digits that don't matter by zeros, and hashes the line. Returns its number of bytes. */
  #read(message: string): number {
    const line = this.#line;
    let at = 0;
    let hash = message.length;
    let telling = false;
    let before = 0;
    for (let i = 0; i < message.length; i++) {
      let code = message.charCodeAt(i);
      if (code > 127) {
        // three bytes, the first of which can't be ASCII
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

  /** Of a line's two slots the one that was written longer ago. */
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
