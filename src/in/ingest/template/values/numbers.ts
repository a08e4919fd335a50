import { classOf, DIGIT, INNER, isAsciiDigit, isAsciiLetter, isHex } from "../text/classes.ts";
import { BACKSLASH, COLON, DASH, DOT, LOWER_X, PERCENT, UPPER_T, UPPER_Z } from "../text/codes.ts";

/** A part of a message without blanks, brackets or quotes. `next` is the unit after it, 0 at the end. */
export interface Chunk {
  text: string;
  from: number;
  to: number;
  next: number;
}

/** Digits with the signs of numbers, times, dates, versions, addresses and ranges. */
export function isNumeric({ text, from, to }: Chunk): boolean {
  for (let i = from; i < to; i++) {
    const code = text.charCodeAt(i);
    const kind = classOf(code);
    if (kind === DIGIT || (kind === INNER && code !== BACKSLASH)) continue;
    const joins = (code === UPPER_T || code === LOWER_X) && i > from && i + 1 < to; // 2024-01-02T10, 0x…
    if (joins && classOf(text.charCodeAt(i - 1)) === DIGIT) continue;
    if (code === UPPER_Z && i === to - 1) continue; // …T10:00:00Z
    return false;
  }
  return true;
}

/** Hex with digits in it: object ids, UUIDs, hardware and IPv6 addresses, hashes. */
export function isHexId({ text, from, to }: Chunk, digits: number): boolean {
  let hex = 0;
  let groups = 0;
  let start = from;
  if (isAsciiDigit(text.charCodeAt(from)) && (text.charCodeAt(from + 1) | 32) === LOWER_X)
    start = from + 2;
  for (let i = start; i < to; i++) {
    const code = text.charCodeAt(i);
    if (isHex(code)) hex++;
    else if (code === COLON || code === DASH) groups++;
    else if (code === PERCENT && groups > 1)
      break; // fe80::1%eth0
    else return false;
  }
  if (start > from) return hex > 0;
  return groups === 0 ? hex >= 6 : groups > 1 && (hex >= 8 || digits > 0) && hex <= 40;
}

export function allHex(text: string, from: number, to: number): boolean {
  for (let i = from; i < to; i++) {
    if (!isHex(text.charCodeAt(i))) return false;
  }
  return true;
}

/** `HTTP/1.1` and the like: a word, one slash, digits and points. */
export function startsWithVersion({ text, from, to }: Chunk): boolean {
  const slash = text.indexOf("/", from);
  if (slash <= from || !isAsciiDigit(text.charCodeAt(slash + 1))) return false;
  for (let i = from; i < slash; i++) {
    if (!isAsciiLetter(text.charCodeAt(i))) return false;
  }
  for (let i = slash + 1; i < to; i++) {
    const code = text.charCodeAt(i);
    if (!isAsciiDigit(code) && code !== DOT) return false;
  }
  return true;
}
