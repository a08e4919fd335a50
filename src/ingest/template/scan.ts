import type { ShapeBuffer } from "./buffer.ts";
import {
  BLANK,
  CONTROL,
  classOf,
  DIGIT,
  HEADER,
  INNER,
  isAsciiDigit,
  isAsciiLetter,
  LETTER,
  QUOTE,
  SEPARATOR,
  SURROGATE,
  WIDE,
  WILD,
} from "./chars.ts";
import { putChunk } from "./chunk.ts";
import { timestampEnd } from "./timestamp.ts";
import { LONG_UNITS, METHODS, MONTHS, NULLS, UNITS, WEEKDAYS, ZONES } from "./words.ts";

const CLOSE = 41;
const CLOSE_BRACE = 125;
const COLON = 58;
const COMMA = 44;
const EQUALS = 61;
const LESS = 60;
const NEWLINE = 10;
const OPEN = 40;
const OPEN_BRACE = 123;
const RETURN = 13;
const LONGEST_QUOTED = 1_024;

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
  /** Whether a key without a value was met: what logfmt never writes. */
  empty: boolean;
}

/** Reads `text` from `at` to `to` into the buffer, in one pass by character class. */
export function scanProse(scan: Scan): void {
  const { buffer, text, to } = scan;
  while (scan.at < to) {
    const code = text.charCodeAt(scan.at);
    switch (classOf(code)) {
      case BLANK:
        buffer.blank();
        scan.at++;
        break;
      case SEPARATOR:
        putSeparator(scan, code);
        break;
      case QUOTE:
        putQuote(scan, code);
        break;
      case CONTROL:
        putControl(scan, code);
        break;
      default:
        putToken(scan);
    }
  }
  buffer.trimEnd();
}

function putControl(scan: Scan, code: number): void {
  const { buffer, text } = scan;
  scan.at++;
  if (code === RETURN && text.charCodeAt(scan.at) === NEWLINE) return;
  if (code === NEWLINE) {
    buffer.trimEnd();
    if (scan.at < scan.to && buffer.length > 0 && !buffer.endsWith("\\n")) buffer.putText("\\n");
  } else if (code === 9) buffer.putText("\\t");
  else if (code === RETURN) buffer.putText("\\r");
  else buffer.putText(`\\u${code.toString(16).padStart(4, "0")}`);
}

function putSeparator(scan: Scan, code: number): void {
  const { buffer, text } = scan;
  const next = text.charCodeAt(scan.at + 1);
  if (code === LESS) {
    if (next === 42 && text.charCodeAt(scan.at + 2) === 62) {
      buffer.putText("\\<*>");
      scan.at += 3;
      return;
    }
    const last = buffer.last();
    if (isAsciiDigit(next) && (last === 32 || last === EQUALS || last === HEADER || last === 0)) {
      scan.at++;
      return;
    }
  }
  scan.at++;
  if (code === CLOSE && scan.open >= 0) {
    closeBracket(scan);
    return;
  }
  if (code === OPEN) scan.open = buffer.length;
  if (code === EQUALS && isPadding(scan)) return;
  if (code === CLOSE_BRACE && closeObject(buffer)) return;
  buffer.put(code);
  if (code === EQUALS && isValueEnd(scan)) {
    buffer.mask();
    scan.empty = true;
  }
}

/** `ws=WorkSource{10113}`: a value that says its type. */
function closeObject(buffer: ShapeBuffer): boolean {
  let at = buffer.length - 3;
  if (at < 1 || buffer.last() !== WILD || buffer.codes[at + 1] !== OPEN_BRACE) return false;
  while (at > 0 && isNameEnd(buffer.codes[at] as number)) at--;
  if (buffer.codes[at] !== EQUALS) return false;
  buffer.length = at + 1;
  buffer.mask();
  return true;
}

/** The `=` that fills up base64. */
function isPadding({ buffer, text, at, to }: Scan): boolean {
  if (buffer.last() !== WILD || classOf(text.charCodeAt(at - 2)) === BLANK) return false;
  const next = at < to ? text.charCodeAt(at) : 0;
  return next === EQUALS || !(isNameEnd(next) || classOf(next) === QUOTE || next > 127);
}

/** The class, package or screen that a value names: `name=com.example.app`. */
function isQualified({ buffer, text }: Scan, from: number, end: number): boolean {
  const last = buffer.lastSolid();
  if (last !== EQUALS && last !== 124) return false;
  let dots = 0;
  for (let i = from; i < end; i++) {
    const code = text.charCodeAt(i);
    if (code === 46) dots++;
    else if (!isNameEnd(code) && code !== 36) return false;
  }
  return dots > 1 && isNameEnd(text.charCodeAt(end - 1));
}

/** Whether a key has no value: `ruser= rhost=…`. */
function isValueEnd({ text, at, to, buffer }: Scan): boolean {
  if (at < to && text.charCodeAt(at) !== 32) return false;
  const before = buffer.codes[buffer.length - 2] ?? 0;
  if (!isNameEnd(before)) return false;
  let next = at;
  while (next < to && text.charCodeAt(next) === 32) next++;
  if (next >= to) return true;
  while (next < to && isNameEnd(text.charCodeAt(next))) next++;
  return text.charCodeAt(next) === EQUALS;
}

function isNameEnd(code: number): boolean {
  return isAsciiLetter(code) || isAsciiDigit(code) || code === 95;
}

/** `(5.05 KB)` behind a value says the value again, and `()` is an empty one: neither is part of the shape. */
function closeBracket(scan: Scan): void {
  const { buffer } = scan;
  const open = scan.open;
  scan.open = -1;
  const inside = buffer.length - open - 1;
  const only = inside === 0 || (inside === 1 && buffer.codes[open + 1] === WILD);
  if (only && open >= 2 && buffer.codes[open - 1] === 32 && isValueAt(buffer, open - 2)) {
    buffer.length = open - 1;
    return;
  }
  if (only && open >= 3 && repeatsGroup(buffer, open)) {
    buffer.length -= inside + 1;
    while (buffer.last() === 32 || buffer.last() === COMMA) buffer.length--;
    return;
  }
  buffer.put(CLOSE);
}

/** `(…), (…)`: rows of one statement, however many. */
function repeatsGroup(buffer: ShapeBuffer, open: number): boolean {
  let at = open - 1;
  while (at > 2 && (buffer.codes[at] === 32 || buffer.codes[at] === COMMA)) at--;
  return at < open - 1 && buffer.codes[at] === CLOSE && buffer.codes[at - 1] === WILD;
}

function isValueAt(buffer: ShapeBuffer, at: number): boolean {
  if (buffer.codes[at] === WILD) return true;
  let from = at;
  while (from > 0 && isAsciiLetter(buffer.codes[from] as number)) from--;
  if (buffer.codes[from] !== 32 || buffer.codes[from - 1] !== WILD || at - from > 12) return false;
  return LONG_UNITS.has(buffer.slice(from + 1, at + 1));
}

/** A quoted value varies; a message that begins with a quote, a quoted key and an HTTP request line are text. */
function putQuote(scan: Scan, code: number): void {
  const { buffer, text, at, to } = scan;
  const last = buffer.last();
  const opens = last === 0 || last === HEADER || last === 32 || !isWordUnit(last);
  const close = opens ? closingQuote(scan, code) : -1;
  if (close < 0 || last === 0 || last === HEADER) {
    buffer.put(code);
    scan.at++;
    return;
  }
  if (text.charCodeAt(close + 1) === COLON && isKey(text, at + 1, close)) {
    buffer.putText(text, at, close + 1);
  } else if (code === 34 && isRequest(text, at + 1, close)) {
    const blank = text.indexOf(" ", at);
    buffer.putText(text, at, blank + 1);
    buffer.mask();
    buffer.put(code);
  } else buffer.mask();
  scan.at = Math.min(close + 1, to);
}

function isKey(text: string, from: number, to: number): boolean {
  if (to - from > 64 || isAsciiDigit(text.charCodeAt(from))) return false;
  for (let i = from; i < to; i++) {
    const code = text.charCodeAt(i);
    if (!isNameEnd(code) && code !== 45 && code !== 46) return false;
  }
  return true;
}

function isRequest(text: string, from: number, to: number): boolean {
  const blank = text.indexOf(" ", from);
  return blank > from && blank < to && blank - from < 8 && METHODS.has(text.slice(from, blank));
}

function isWordUnit(code: number): boolean {
  return code === WILD || isAsciiLetter(code) || isAsciiDigit(code) || code === 95;
}

/** The quote that ends the value, followed by no letter or digit; -1 when there is none near. */
function closingQuote({ text, at, to }: Scan, code: number): number {
  const end = Math.min(to, at + LONGEST_QUOTED);
  for (let i = at + 1; i < end; i++) {
    const c = text.charCodeAt(i);
    if (c === 92) i++;
    else if (c === code && !isNameEnd(text.charCodeAt(i + 1))) return i;
    else if (c === NEWLINE) return -1;
  }
  return -1;
}

function putToken(scan: Scan): void {
  const { buffer, text, at, to } = scan;
  const first = text.charCodeAt(at);
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

/** Digits, or the first letters of a weekday's or a month's name. */
function mayBeStamp(text: string, at: number, first: number): boolean {
  if (isAsciiDigit(first))
    return isStampSign(text.charCodeAt(at + 2)) || isStampSign(text.charCodeAt(at + 4));
  const third = text.charCodeAt(at + 3);
  return third === 32 || third === COMMA;
}

function isStampSign(code: number): boolean {
  return code === 45 || code === 47 || code === COLON || code === 46 || code === 32;
}

function endsToken(code: number): boolean {
  return !(code > 32) || code === 93 || code === 41 || code === COMMA || code === 34 || code === 59;
}

/** A token ends at a blank, a separator or a quote, and between letters of a script without blanks and ASCII. */
function tokenEnd({ text, at, to }: Scan): number {
  let end = at;
  let wide = classOf(text.charCodeAt(at)) === WIDE;
  let link = text.charCodeAt(at) === 47;
  for (; end < to; end++) {
    const code = text.charCodeAt(end);
    const kind = classOf(code);
    if (kind === LETTER || kind === INNER || kind === DIGIT) {
      if (wide && kind !== INNER) break;
      if (code === 47 && text.charCodeAt(end - 1) === 47 && text.charCodeAt(end - 2) === COLON)
        link = true;
    } else if (kind === WIDE || kind === SURROGATE) {
      if (kind === WIDE && !wide && end > at && classOf(text.charCodeAt(end - 1)) !== INNER) break;
      wide = kind === WIDE;
    } else if (link && (code === EQUALS || code === 59 || code === 123 || code === 125)) {
      // a URL or a path goes on over its query
    } else if (code === 39 && end > at && isAsciiLetter(text.charCodeAt(end + 1))) {
      // an apostrophe
    } else break;
  }
  return end;
}

/** Notes where a `key=` begins; a token that is no key ends the series. */
function notePair({ buffer, text, pairs, at: from }: Scan, end: number): void {
  const spaced = buffer.length === 0 || buffer.last() === 32 || buffer.last() === HEADER;
  if (!spaced || from < 0) return;
  if (text.charCodeAt(end) === EQUALS) pairs.push(buffer.length);
  else pairs.length = 0;
}

/** Words that belong to a neighbouring value: units, time zones, months; `null` as a value. */
function isSpecialWord({ buffer, text, to }: Scan, from: number, end: number): boolean {
  const length = end - from;
  if (length > 9) return false;
  const last = buffer.last();
  if (
    last === EQUALS ||
    last === COMMA ||
    last === OPEN ||
    (last === 32 && buffer.lastSolid() === EQUALS)
  ) {
    if (length < 3 || !NULLS.has(text.slice(from, end))) return false;
    buffer.mask();
    return true;
  }
  if (last === 32 && buffer.lastSolid() === COMMA && text.slice(from, end) === "NULL") {
    buffer.mask();
    return true;
  }
  if (last === 32 && buffer.codes[buffer.length - 2] === WILD) {
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
  if (next !== 32 || !isAsciiDigit(text.charCodeAt(end + 1))) return false;
  if (!MONTHS.has(text.slice(from, end))) return false;
  buffer.mask();
  return true;
}

/** `an14 an15 an16`: a list of one kind of name, however long. */
function dropRepeat(buffer: ShapeBuffer, from: number): void {
  const length = buffer.length - from;
  if (length < 2 || buffer.last() !== WILD || from <= length) return;
  let gap = from - 1;
  while (gap > 0 && (buffer.codes[gap] === 32 || buffer.codes[gap] === COMMA)) gap--;
  const start = gap + 1 - length;
  if (gap === from - 1 || start < 0) return;
  for (let i = 0; i < length; i++) {
    if (buffer.codes[start + i] !== buffer.codes[from + i]) return;
  }
  if (start > 0 && isNameEnd(buffer.codes[start - 1] as number)) return;
  buffer.length = gap + 1;
}
