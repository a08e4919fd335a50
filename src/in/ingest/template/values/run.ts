/** One run of a message without blanks, brackets or quotes. `next` is the unit behind it, 0 at the end. */
export interface Chunk {
  text: string;
  from: number;
  to: number;
  next: number;
}
