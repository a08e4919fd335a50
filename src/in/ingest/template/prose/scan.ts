import type { ShapeBuffer } from "../text/buffer.ts";

/** The state of reading one message. */
export interface Scan {
  readonly buffer: ShapeBuffer;
  readonly text: string;
  at: number;
  to: number;
  /** Where in the buffer the last `(` was written; -1 for none. */
  open: number;
  /** Where in the buffer each `key=value` of the present series begins. */
  pairs: number[];
  /** For each kind of quote: the position up to which no closing quote was found. */
  unclosed: Map<number, number>;
  /** Whether a key without a value was found, which logfmt never has. */
  empty: boolean;
}

/** Reads a text from `from` to its end. */
export function scanOf(buffer: ShapeBuffer, text: string, from: number): Scan {
  const unclosed = new Map<number, number>();
  return { buffer, text, at: from, to: text.length, open: -1, pairs: [], unclosed, empty: false };
}
