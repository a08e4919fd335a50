import { BAR, COMMA, DASH, SPACE } from "./codes.ts";
import { HEADER, isWild, NAME, WILD } from "./marks.ts";

const CAPACITY = 8_192;

/** Builds the shape of one message: UTF-16 units, bounded, reused for every message. */
export class ShapeBuffer {
  readonly codes: Uint16Array = new Uint16Array(CAPACITY + 64);
  length = 0;

  reset(): void {
    this.length = 0;
  }

  put(code: number): void {
    if (this.length < CAPACITY) this.codes[this.length++] = code;
  }

  putText(text: string, from = 0, to: number = text.length): void {
    const end = Math.min(to, from + CAPACITY - this.length);
    let at = this.length;
    for (let i = from; i < end; i++) this.codes[at++] = text.charCodeAt(i);
    this.length = at;
  }

  /** Writes one blank, never at the start and never two. */
  blank(): void {
    const last = this.last();
    if (this.length > 0 && last !== SPACE && last !== HEADER) this.put(SPACE);
  }

  last(): number {
    return this.length === 0 ? 0 : (this.codes[this.length - 1] as number);
  }

  /** The last unit that is no blank. */
  lastSolid(): number {
    let at = this.length - 1;
    while (at >= 0 && this.codes[at] === SPACE) at--;
    return at < 0 ? 0 : (this.codes[at] as number);
  }

  /**
   * Writes a variable part. Adjacent ones, with only blanks, commas, bars or dashes between them, are one list, so its
   * length doesn't matter.
   */
  mask(mark: typeof WILD | typeof NAME = WILD): void {
    let at = this.length - 1;
    while (at >= 0 && isListGap(this.codes[at] as number)) at--;
    const listed = at >= 0 && isWild(this.codes[at] as number);
    if (!listed || (at < this.length - 1 && !gapIsList(this, at + 1))) {
      this.put(mark);
      return;
    }
    this.length = at + 1;
    if (mark === NAME) this.codes[at] = NAME;
  }

  trimEnd(): void {
    while (this.length > 0 && this.codes[this.length - 1] === SPACE) this.length--;
  }

  endsWith(text: string): boolean {
    const from = this.length - text.length;
    if (from < 0) return false;
    for (let i = 0; i < text.length; i++) {
      if (this.codes[from + i] !== text.charCodeAt(i)) return false;
    }
    return true;
  }

  slice(from: number, to: number): string {
    return String.fromCharCode.apply(null, this.codes.subarray(from, to) as unknown as number[]);
  }

  toString(): string {
    return this.slice(0, this.length);
  }
}

function isListGap(code: number): boolean {
  return code === SPACE || code === COMMA || code === DASH || code === BAR;
}

/** At most a blank, a sign and a blank: more signs are punctuation. */
function gapIsList(buffer: ShapeBuffer, from: number): boolean {
  let signs = 0;
  for (let i = from; i < buffer.length; i++) {
    if (buffer.codes[i] !== SPACE) signs++;
  }
  return signs <= 1;
}
