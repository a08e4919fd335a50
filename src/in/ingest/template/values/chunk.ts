import type { ShapeBuffer } from "../text/buffer.ts";
import {
  classOf,
  DIGIT,
  INNER,
  isAsciiDigit,
  isAsciiLetter,
  isNameUnit,
  isUpper,
} from "../text/classes.ts";
import {
  AT,
  BACKSLASH,
  BANG,
  CLOSE_PAREN,
  COLON,
  DASH,
  DOT,
  HASH,
  OPEN_PAREN,
  PERCENT,
  PLUS,
  QUESTION,
  SLASH,
  STAR,
  TILDE,
  UNDERSCORE,
} from "../text/codes.ts";
import { WILD } from "../text/marks.ts";
import { isHost, isHostAndPort } from "./hosts.ts";
import { isBlob, keptPrefix, keptSuffix, looksRandom } from "./names.ts";
import { allHex, type Chunk, isHexId, isNumeric, startsWithVersion } from "./numbers.ts";

/** Longer words vary. */
export const LONGEST_WORD = 64;

/** Writes a chunk's shape: surrounding punctuation stays; its core stays, is variable, or keeps a prefix. */
export function putChunk(buffer: ShapeBuffer, chunk: Chunk): void {
  const { text } = chunk;
  let from = chunk.from;
  let to = chunk.to;
  while (from < to && classOf(text.charCodeAt(from)) === INNER) {
    if (startsPath(text, from, to)) {
      putPath(buffer, text, from, to);
      return;
    }
    if (startsNumber(text, from, to)) break;
    if (text.charCodeAt(from) === AT && from > chunk.from && to - from > 1) {
      buffer.mask();
      return;
    }
    buffer.put(text.charCodeAt(from++));
  }
  while (to > from && isTail(text.charCodeAt(to - 1))) to--;
  if (to > from) putCore(buffer, { text, from, to, next: to < chunk.to ? 0 : chunk.next });
  for (; to < chunk.to; to++) {
    const code = text.charCodeAt(to);
    if ((code !== PERCENT && code !== HASH) || buffer.last() !== WILD) buffer.put(code);
  }
}

function isTail(code: number): boolean {
  return classOf(code) === INNER && code !== UNDERSCORE;
}

/** A sign, a point or a `#` directly before a digit. */
function startsNumber(text: string, from: number, to: number): boolean {
  const code = text.charCodeAt(from);
  if (code !== DASH && code !== PLUS && code !== DOT && code !== HASH) return false;
  return from + 1 < to && classOf(text.charCodeAt(from + 1)) === DIGIT;
}

function startsPath(text: string, from: number, to: number): boolean {
  const code = text.charCodeAt(from);
  if (from + 1 >= to) return false;
  const second = text.charCodeAt(from + 1);
  if (code === SLASH) return second !== SLASH && second !== STAR ? true : to - from > 3;
  if (code === TILDE || code === DOT) {
    return second === SLASH || (second === DOT && text.charCodeAt(from + 2) === SLASH);
  }
  return code === BACKSLASH && second === BACKSLASH && to - from > 3;
}

function putPath(buffer: ShapeBuffer, text: string, from: number, end: number): void {
  let to = end;
  while (to > from + 1 && isPathTail(text.charCodeAt(to - 1))) to--;
  buffer.mask();
  buffer.putText(text, to, end);
}

function isPathTail(code: number): boolean {
  return code === COLON || code === DOT || code === BANG || code === QUESTION;
}

function putCore(buffer: ShapeBuffer, core: Chunk): void {
  const { text, from, to } = core;
  let digits = 0;
  let slashes = 0;
  let backslashes = 0;
  let dots = 0;
  let colons = 0;
  for (let i = from; i < to; i++) {
    const code = text.charCodeAt(i);
    if (isAsciiDigit(code)) digits++;
    else if (code === DOT) dots++;
    else if (code === COLON) colons++;
    else if (code === SLASH) slashes++;
    else if (code === BACKSLASH) backslashes++;
    else if ((code === AT && i > from) || (code === PERCENT && text.startsWith("%40", i))) {
      buffer.mask();
      return;
    } else if (code > 127 && classOf(code) === DIGIT) digits++;
  }
  if (slashes > 1 || backslashes > 1 || (slashes === 1 && dots > 1)) {
    if (digits === 0 || !startsWithVersion(core)) {
      buffer.mask();
      return;
    }
  }
  if (digits === 0) {
    putWord(buffer, core, { dots, colons });
    return;
  }
  if (isValue(core, { digits, dots, colons })) {
    buffer.mask();
    return;
  }
  if (colons > 0) {
    putParts(buffer, core);
    return;
  }
  if (classOf(text.charCodeAt(from)) === DIGIT || startsNumber(text, from, to)) {
    putCounted(buffer, core);
  } else putNamed(buffer, core);
}

/** Whether the whole chunk, which has digits, is variable. */
function isValue(core: Chunk, seen: { digits: number; dots: number; colons: number }): boolean {
  const { text, from, to } = core;
  if (isNumeric(core) || isHexId(core, seen.digits)) return true;
  if (seen.colons === 1 && isHostAndPort(core)) return true;
  if (seen.dots > 0 && seen.colons === 0 && isHost(core)) return true;
  if (to - from > LONGEST_WORD || isBlob(text, from, to)) return true;
  return to - from >= 20 && looksRandom(text, from, to);
}

function putWord(
  buffer: ShapeBuffer,
  core: Chunk,
  { dots, colons }: { dots: number; colons: number },
): void {
  const { text, from, to } = core;
  const length = to - from;
  if (length > LONGEST_WORD || (length >= 24 && looksRandom(text, from, to))) {
    buffer.mask();
    return;
  }
  if (length >= 8 && colons === 0 && dots === 0 && allHex(text, from, to)) {
    buffer.mask();
    return;
  }
  if (dots > 0 && colons === 0 && isHost(core)) {
    buffer.mask();
    return;
  }
  buffer.putText(text, from, to);
}

/** Splits at colons, so that `state:5` keeps its name and `10.0.0.1:80:Got` its word. */
function putParts(buffer: ShapeBuffer, { text, from, to, next }: Chunk): void {
  let start = from;
  for (let i = from; i <= to; i++) {
    if (i < to && text.charCodeAt(i) !== COLON) continue;
    if (i > start) putChunk(buffer, { text, from: start, to: i, next: i < to ? COLON : next });
    if (i < to) putColon(buffer, text, i);
    start = i + 1;
  }
}

/** The colon between a host and its port is part of the variable. */
function putColon(buffer: ShapeBuffer, text: string, at: number): void {
  const joins = buffer.last() === WILD && isAsciiDigit(text.charCodeAt(at + 1));
  if (!joins) buffer.put(COLON);
  else buffer.length--;
}

/** A chunk that begins with a digit: a number and its unit, or an id; `64-bit` keeps its word. */
function putCounted(buffer: ShapeBuffer, { text, from, to }: Chunk): void {
  buffer.mask();
  let at = from + 1;
  while (at < to && classOf(text.charCodeAt(at)) === DIGIT) at++;
  if (text.charCodeAt(at) !== DASH || to - at < 3) return;
  for (let i = at + 1; i < to; i++) {
    if (!isAsciiLetter(text.charCodeAt(i)) || isUpper(text.charCodeAt(i))) return;
  }
  buffer.putText(text, at, to);
}

function putNamed(buffer: ShapeBuffer, { text, from, to, next }: Chunk): void {
  const called = next === OPEN_PAREN && text.charCodeAt(to + 1) === CLOSE_PAREN;
  const kept = keptPrefix(text, { from, to, called });
  buffer.putText(text, from, kept);
  if (kept === to) return;
  buffer.mask();
  const apart = kept > from && !isNameUnit(text.charCodeAt(kept - 1));
  if (apart) buffer.putText(text, keptSuffix(text, kept, to), to);
}
