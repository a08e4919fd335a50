import type { ShapeBuffer } from "../text/buffer.ts";

/** Where reading stands inside one message. */
export interface Scan {
  readonly buffer: ShapeBuffer;
  readonly text: string;
  at: number;
  to: number;
  /** Where in the buffer the last `(` was written; -1 for none. */
  open: number;
  /** Where in the buffer each `key=value` of the running series begins. */
  pairs: number[];
  /** For a kind of quote: up to where one was looked for that closes a value, and none is. */
  unclosed: Map<number, number>;
  /** Whether a key without a value was met: what logfmt never writes. */
  empty: boolean;
}

/** Reads a text from `from` to its end. */
export function scanOf(buffer: ShapeBuffer, text: string, from: number): Scan {
  const unclosed = new Map<number, number>();
  return { buffer, text, at: from, to: text.length, open: -1, pairs: [], unclosed, empty: false };
}
