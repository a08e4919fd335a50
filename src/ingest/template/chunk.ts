import type { ShapeBuffer } from "./buffer.ts";
import {
  classOf,
  DIGIT,
  INNER,
  isAsciiDigit,
  isAsciiLetter,
  isHex,
  isNameUnit,
  isUpper,
  WILD,
} from "./chars.ts";
import { isHost, isHostAndPort } from "./hosts.ts";
import { isBlob, keptPrefix, keptSuffix, looksRandom } from "./naming.ts";

const AT = 64;
const BACKSLASH = 92;
const COLON = 58;
const DASH = 45;
const DOT = 46;
const HASH = 35;
const PERCENT = 37;
const PLUS = 43;
const SLASH = 47;
const TILDE = 126;
const LONGEST_WORD = 64;

/** One run of a message without blanks, brackets or quotes. `next` is the unit behind it, 0 at the end. */
export interface Chunk {
  text: string;
  from: number;
  to: number;
  next: number;
}

/** Writes a chunk's shape: punctuation around it stays, its core stays, varies, or keeps a prefix. */
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
  return classOf(code) === INNER && code !== 95;
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
  if (code === SLASH) return second !== SLASH && second !== 42 ? true : to - from > 3;
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
  return code === COLON || code === DOT || code === 33 || code === 63;
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

/** With digits in it, and a variable as a whole. */
function isValue(core: Chunk, seen: { digits: number; dots: number; colons: number }): boolean {
  const { text, from, to } = core;
  if (isNumeric(core) || isHexId(core, seen.digits)) return true;
  if (seen.colons === 1 && isHostAndPort(core)) return true;
  if (seen.dots > 0 && seen.colons === 0 && isHost(core)) return true;
  if (to - from > LONGEST_WORD || isBlob(text, from, to)) return true;
  return to - from >= 20 && looksRandom(text, from, to);
}

/** `HTTP/1.1` and its like: a word, one slash, digits and points. */
function startsWithVersion({ text, from, to }: Chunk): boolean {
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

/** Digits with the signs of numbers, times, dates, versions, addresses and ranges. */
function isNumeric({ text, from, to }: Chunk): boolean {
  for (let i = from; i < to; i++) {
    const code = text.charCodeAt(i);
    const kind = classOf(code);
    if (kind === DIGIT || (kind === INNER && code !== BACKSLASH)) continue;
    const joins = (code === 84 || code === 120) && i > from && i + 1 < to; // 2024-01-02T10, 0x…
    if (joins && classOf(text.charCodeAt(i - 1)) === DIGIT) continue;
    if (code === 90 && i === to - 1) continue; // …T10:00:00Z
    return false;
  }
  return true;
}

/** Hex with digits in it: object ids, UUIDs, hardware and IPv6 addresses, hashes. */
function isHexId({ text, from, to }: Chunk, digits: number): boolean {
  let hex = 0;
  let groups = 0;
  let start = from;
  if (isAsciiDigit(text.charCodeAt(from)) && (text.charCodeAt(from + 1) | 32) === 120)
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

function allHex(text: string, from: number, to: number): boolean {
  for (let i = from; i < to; i++) {
    if (!isHex(text.charCodeAt(i))) return false;
  }
  return true;
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

/** Between a host and its port the colon goes with them. */
function putColon(buffer: ShapeBuffer, text: string, at: number): void {
  const joins = buffer.last() === 1 && isAsciiDigit(text.charCodeAt(at + 1));
  if (!joins) buffer.put(COLON);
  else buffer.length--;
}

/** Begins with a digit: a number and its unit, or an id; `64-bit` keeps its word. */
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
  const called = next === 40 && text.charCodeAt(to + 1) === 41;
  const kept = keptPrefix(text, { from, to, called });
  buffer.putText(text, from, kept);
  if (kept === to) return;
  buffer.mask();
  const apart = kept > from && !isNameUnit(text.charCodeAt(kept - 1));
  if (apart) buffer.putText(text, keptSuffix(text, kept, to), to);
}
