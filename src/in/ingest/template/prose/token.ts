import type { ShapeBuffer } from "../text/buffer.ts";
import {
  classOf,
  DIGIT,
  INNER,
  isAsciiDigit,
  isAsciiLetter,
  isHex,
  isNameUnit,
  LETTER,
  SURROGATE,
  WIDE,
} from "../text/classes.ts";
import {
  APOSTROPHE,
  BACKTICK,
  BAR,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  CLOSE_PAREN,
  COLON,
  COMMA,
  DASH,
  DOLLAR,
  DOT,
  DOUBLE_QUOTE,
  EQUALS,
  OPEN_BRACE,
  OPEN_PAREN,
  SEMICOLON,
  SLASH,
  SPACE,
} from "../text/codes.ts";
import { HEADER, WILD } from "../text/marks.ts";
import { MONTHS, NULLS, UNITS, WEEKDAYS, ZONES } from "../text/words.ts";
import { putChunk } from "../values/chunk.ts";
import { timestampEnd } from "../values/timestamp.ts";
import type { Scan } from "./scan.ts";

/** Longer words are checked for randomness. */
const LONGEST_PLAIN = 23;

/** A class, package or screen as a value: `name=com.example.app`. */
function isQualified({ buffer, text }: Scan, from: number, end: number): boolean {
  const last = buffer.lastSolid();
  if (last !== EQUALS && last !== BAR) return false;
  let dots = 0;
  for (let i = from; i < end; i++) {
    const code = text.charCodeAt(i);
    if (code === DOT) dots++;
    else if (!isNameUnit(code) && code !== DOLLAR) return false;
  }
  return dots > 1 && isNameUnit(text.charCodeAt(end - 1));
}

/** Writes the token at `scan.at`: a plain word unchanged, any other by its content. */
export function putToken(scan: Scan): void {
  const { buffer, text, at, to } = scan;
  const first = text.charCodeAt(at);
  if (isLower(first) && putPlainWord(scan)) return;
  if (isAsciiDigit(first) || isAsciiLetter(first)) {
    const stamp = mayBeStamp(text, at, first) ? timestampEnd(text, at) : at;
    if (stamp > at + 4 && stamp <= to && endsToken(text.charCodeAt(stamp))) {
      buffer.mask();
      scan.at = stamp;
      return;
    }
  }
  const end = tokenEnd(scan);
  scan.at = end;
  notePair(scan, end);
  if (isSpecialWord(scan, at, end)) return;
  if (isQualified(scan, at, end)) {
    buffer.mask();
    return;
  }
  const next = end < to ? text.charCodeAt(end) : 0;
  const before = buffer.length;
  putChunk(buffer, { text, from: at, to: end, next });
  dropRepeat(buffer, before);
}

/** Most tokens: small letters up to a blank or the end, with nothing before that makes them a value. */
function putPlainWord(scan: Scan): boolean {
  const { buffer, text, at, to } = scan;
  let end = at + 1;
  while (end < to && isLower(text.charCodeAt(end))) end++;
  const length = end - at;
  if (length > LONGEST_PLAIN || (end < to && text.charCodeAt(end) !== SPACE)) return false;
  const last = buffer.last();
  if (last === SPACE) {
    const solid = buffer.codes[buffer.length - 2];
    if (solid === WILD || solid === EQUALS || solid === COMMA) return false;
  } else if (last === EQUALS || last === COMMA || last === OPEN_PAREN) return false;
  if (length > 7 && isHex(text.charCodeAt(at)) && isHex(text.charCodeAt(at + 1))) return false;
  if (scan.pairs.length > 0 && (last === SPACE || last === HEADER)) scan.pairs.length = 0;
  scan.at = end;
  buffer.putText(text, at, end);
  return true;
}

function isLower(code: number): boolean {
  return code >= 97 && code <= 122;
}

/** Digits, or the first letters of a weekday or month. */
function mayBeStamp(text: string, at: number, first: number): boolean {
  if (isAsciiDigit(first))
    return isStampSign(text.charCodeAt(at + 2)) || isStampSign(text.charCodeAt(at + 4));
  const third = text.charCodeAt(at + 3);
  return first < 97 && (third === SPACE || third === COMMA);
}

function isStampSign(code: number): boolean {
  return code === DASH || code === SLASH || code === COLON || code === DOT || code === SPACE;
}

function endsToken(code: number): boolean {
  return (
    !(code > SPACE) ||
    code === CLOSE_BRACKET ||
    code === CLOSE_PAREN ||
    code === COMMA ||
    code === DOUBLE_QUOTE ||
    code === SEMICOLON
  );
}

/** A token ends at a blank, a separator or a quote, and between ASCII and letters of a script without blanks. */
function tokenEnd({ text, at, to }: Scan): number {
  let end = at;
  let wide = classOf(text.charCodeAt(at)) === WIDE;
  let link = text.charCodeAt(at) === SLASH;
  for (; end < to; end++) {
    const code = text.charCodeAt(end);
    const kind = classOf(code);
    if (kind === LETTER || kind === INNER || kind === DIGIT) {
      if (wide && kind !== INNER && !isAddress(text, end, to)) break;
      if (
        code === SLASH &&
        text.charCodeAt(end - 1) === SLASH &&
        text.charCodeAt(end - 2) === COLON
      )
        link = true;
    } else if (kind === WIDE || kind === SURROGATE) {
      const joins = end === at || wide || classOf(text.charCodeAt(end - 1)) === INNER;
      if (kind === WIDE && !joins && !isAddress(text, end, to)) break;
      wide = kind === WIDE;
    } else if (
      link &&
      (code === EQUALS || code === SEMICOLON || code === OPEN_BRACE || code === CLOSE_BRACE)
    ) {
      // the query belongs to a URL or path
    } else if (code === APOSTROPHE && end > at && isAsciiLetter(text.charCodeAt(end + 1))) {
      // an apostrophe
    } else if (end > at && isAddressSign(code) && isAddress(text, end, to)) {
      // almost any character can stand before an @
    } else break;
  }
  return end;
}

function isAddressSign(code: number): boolean {
  return code === APOSTROPHE || code === BACKTICK || (code >= OPEN_BRACE && code <= CLOSE_BRACE);
}

/** Whether an `@` follows before the next blank: then the whole is one address. */
function isAddress(text: string, from: number, to: number): boolean {
  const at = text.indexOf("@", from);
  return at >= 0 && at < to && text.lastIndexOf(" ", at) < from;
}

/** Notes where a `key=` begins; a token that is no key ends the series. */
function notePair({ buffer, text, pairs, at: from }: Scan, end: number): void {
  const spaced = buffer.length === 0 || buffer.last() === SPACE || buffer.last() === HEADER;
  if (!spaced || from < 0) return;
  if (text.charCodeAt(end) === EQUALS) pairs.push(buffer.length);
  else if (pairs.length > 0) pairs.length = 0;
}

/** Words that belong to a value next to them: units, time zones, months; `null` as a value. */
function isSpecialWord({ buffer, text, to }: Scan, from: number, end: number): boolean {
  const length = end - from;
  if (length > 9) return false;
  const last = buffer.last();
  if (
    last === EQUALS ||
    last === COMMA ||
    last === OPEN_PAREN ||
    (last === SPACE && buffer.lastSolid() === EQUALS)
  ) {
    if (length < 3 || !NULLS.has(text.slice(from, end))) return false;
    buffer.mask();
    return true;
  }
  if (last === SPACE && buffer.lastSolid() === COMMA && text.slice(from, end) === "NULL") {
    buffer.mask();
    return true;
  }
  if (last === SPACE && buffer.codes[buffer.length - 2] === WILD) {
    const word = text.slice(from, end);
    const bare = word.endsWith(".") ? word.slice(0, -1) : word;
    if (UNITS.has(bare) || ZONES.has(word) || MONTHS.has(word) || WEEKDAYS.has(word)) {
      buffer.length--;
      if (bare !== word) buffer.put(46);
      return true;
    }
    return false;
  }
  if (length < 3 || end >= to) return false;
  const next = text.charCodeAt(end);
  if (next !== SPACE || !isAsciiDigit(text.charCodeAt(end + 1))) return false;
  if (!MONTHS.has(text.slice(from, end))) return false;
  buffer.mask();
  return true;
}

/** `an14 an15 an16`: a list of one kind of name, of any length. */
function dropRepeat(buffer: ShapeBuffer, from: number): void {
  const length = buffer.length - from;
  if (length < 2 || buffer.last() !== WILD || from <= length) return;
  let gap = from - 1;
  while (gap > 0 && (buffer.codes[gap] === SPACE || buffer.codes[gap] === COMMA)) gap--;
  const start = gap + 1 - length;
  if (gap === from - 1 || start < 0) return;
  for (let i = 0; i < length; i++) {
    if (buffer.codes[start + i] !== buffer.codes[from + i]) return;
  }
  if (start > 0 && isNameUnit(buffer.codes[start - 1] as number)) return;
  buffer.length = gap + 1;
}
