/** A part of a message without blanks, brackets or quotes. `next` is the unit after it, 0 at the end. */
export interface Chunk {
  text: string;
  from: number;
  to: number;
  next: number;
}
