export const [NUL, LF, SPACE] = [0, 10, 32];

/**
 * The lines of a body that aren't empty, in order: at most `most`, and one more where there are more. They lie in the body:
 * as a text of its own a long one takes twice the bytes, and each line of it again as much.
 */
export function byteLines(body: Buffer, most: number, ends: readonly number[] = [LF]): Buffer[] {
  const lines: Buffer[] = [];
  let from = 0;
  let isFilled = false;
  for (let at = 0; at <= body.length && lines.length <= most; at++) {
    const byte = body[at];
    if (byte !== undefined && !ends.includes(byte)) {
      isFilled ||= byte > SPACE;
      continue;
    }
    if (isFilled) lines.push(body.subarray(from, at));
    from = at + 1;
    isFilled = false;
  }
  return lines;
}
