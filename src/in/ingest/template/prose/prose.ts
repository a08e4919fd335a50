import type { ShapeBuffer } from "../text/buffer.ts";
import {
  BLANK,
  CONTROL,
  classOf,
  isAsciiDigit,
  isAsciiLetter,
  isNameUnit,
  QUOTE,
  SEPARATOR,
} from "../text/classes.ts";
import {
  BACKSLASH,
  CLOSE_BRACE,
  CLOSE_PAREN,
  COLON,
  COMMA,
  DASH,
  DOT,
  DOUBLE_QUOTE,
  EQUALS,
  GREATER,
  LESS,
  NEWLINE,
  OPEN_BRACE,
  OPEN_PAREN,
  RETURN,
  SPACE,
  STAR,
  TAB,
  UNDERSCORE,
} from "../text/codes.ts";
import { HEADER, WILD } from "../text/marks.ts";
import { LONG_UNITS, METHODS } from "../text/words.ts";
import type { Scan } from "./scan.ts";
import { putToken } from "./token.ts";

const LONGEST_QUOTED = 1_024;

/** A quoted value is variable, except at the beginning of a message, as a key, and as an HTTP request line. */
function putQuote(scan: Scan, code: number): void {
  const { buffer, text, at, to } = scan;
  const last = buffer.last();
  const opens = last === 0 || last === HEADER || last === SPACE || !isWordUnit(last);
  const close = opens ? closingQuote(scan, code) : -1;
  if (close < 0 || last === 0 || last === HEADER) {
    buffer.put(code);
    scan.at++;
    return;
  }
  if (text.charCodeAt(close + 1) === COLON && isKey(text, at + 1, close)) {
    buffer.putText(text, at, close + 1);
  } else if (code === DOUBLE_QUOTE && isRequest(text, at + 1, close)) {
    const blank = text.indexOf(" ", at);
    buffer.putText(text, at, blank + 1);
    buffer.mask();
    buffer.put(code);
  } else buffer.mask();
  scan.at = Math.min(close + 1, to);
}

/** A name, in which a number comes after a letter. */
function isKey(text: string, from: number, to: number): boolean {
  if (to - from > 64) return false;
  let before = 0;
  for (let i = from; i < to; i++) {
    const code = text.charCodeAt(i);
    if (isAsciiDigit(code) && !isAsciiLetter(before) && !isAsciiDigit(before)) return false;
    if (!isNameUnit(code) && code !== DASH && code !== DOT) return false;
    before = code;
  }
  return true;
}

function isRequest(text: string, from: number, to: number): boolean {
  const blank = text.indexOf(" ", from);
  return blank > from && blank < to && blank - from < 8 && METHODS.has(text.slice(from, blank));
}

function isWordUnit(code: number): boolean {
  return code === WILD || isAsciiLetter(code) || isAsciiDigit(code) || code === UNDERSCORE;
}

/** The quote that ends the value, not followed by a letter or digit; -1 when there is none near. */
function closingQuote({ text, at, to, unclosed }: Scan, code: number): number {
  const end = Math.min(to, at + LONGEST_QUOTED);
  let i = Math.max(at + 1, unclosed.get(code) ?? 0);
  for (; i < end; i++) {
    const c = text.charCodeAt(i);
    if (c === BACKSLASH) i++;
    else if (c === code && !isNameUnit(text.charCodeAt(i + 1))) return i;
    else if (c === NEWLINE) break;
  }
  unclosed.set(code, i);
  return -1;
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
  } else if (code === TAB) buffer.putText("\\t");
  else if (code === RETURN) buffer.putText("\\r");
  else buffer.putText(`\\u${code.toString(16).padStart(4, "0")}`);
}

function putSeparator(scan: Scan, code: number): void {
  const { buffer, text } = scan;
  const next = text.charCodeAt(scan.at + 1);
  if (code === LESS) {
    if (next === STAR && text.charCodeAt(scan.at + 2) === GREATER) {
      buffer.putText("\\<*>");
      scan.at += 3;
      return;
    }
    const last = buffer.last();
    if (
      isAsciiDigit(next) &&
      (last === SPACE || last === EQUALS || last === HEADER || last === 0)
    ) {
      scan.at++;
      return;
    }
  }
  scan.at++;
  if (code === CLOSE_PAREN && scan.open >= 0) {
    closeBracket(scan);
    return;
  }
  if (code === OPEN_PAREN) scan.open = buffer.length;
  if (code === EQUALS && isPadding(scan)) return;
  if (code === CLOSE_BRACE && closeObject(buffer)) return;
  buffer.put(code);
  if (code === EQUALS && isValueEnd(scan)) {
    buffer.mask();
    scan.empty = true;
  }
}

/** `ws=WorkSource{10113}`: a value with its type. */
function closeObject(buffer: ShapeBuffer): boolean {
  let at = buffer.length - 3;
  if (at < 1 || buffer.last() !== WILD || buffer.codes[at + 1] !== OPEN_BRACE) return false;
  while (at > 0 && isNameUnit(buffer.codes[at] as number)) at--;
  if (buffer.codes[at] !== EQUALS) return false;
  buffer.length = at + 1;
  buffer.mask();
  return true;
}

/** The `=` that pads base64. */
function isPadding({ buffer, text, at, to }: Scan): boolean {
  if (buffer.last() !== WILD || classOf(text.charCodeAt(at - 2)) === BLANK) return false;
  const next = at < to ? text.charCodeAt(at) : 0;
  return next === EQUALS || !(isNameUnit(next) || classOf(next) === QUOTE || next > 127);
}

/** Whether a key has no value: `ruser= rhost=…`. */
function isValueEnd({ text, at, to, buffer }: Scan): boolean {
  if (at < to && text.charCodeAt(at) !== SPACE) return false;
  const before = buffer.codes[buffer.length - 2] ?? 0;
  if (!isNameUnit(before)) return false;
  let next = at;
  while (next < to && text.charCodeAt(next) === SPACE) next++;
  if (next >= to) return true;
  while (next < to && isNameUnit(text.charCodeAt(next))) next++;
  return text.charCodeAt(next) === EQUALS;
}

/** `(5.05 KB)` after a value repeats the value, and `()` is an empty one: neither is part of the shape. */
function closeBracket(scan: Scan): void {
  const { buffer } = scan;
  const open = scan.open;
  scan.open = -1;
  const inside = buffer.length - open - 1;
  const only = inside === 0 || (inside === 1 && buffer.codes[open + 1] === WILD);
  if (only && open >= 2 && buffer.codes[open - 1] === SPACE && isValueAt(buffer, open - 2)) {
    buffer.length = open - 1;
    return;
  }
  if (only && open >= 3 && repeatsGroup(buffer, open)) {
    buffer.length -= inside + 1;
    while (buffer.last() === SPACE || buffer.last() === COMMA) buffer.length--;
    return;
  }
  buffer.put(CLOSE_PAREN);
}

/** `(…), (…)`: rows of one statement, however many. */
function repeatsGroup(buffer: ShapeBuffer, open: number): boolean {
  let at = open - 1;
  while (at > 2 && (buffer.codes[at] === SPACE || buffer.codes[at] === COMMA)) at--;
  return at < open - 1 && buffer.codes[at] === CLOSE_PAREN && buffer.codes[at - 1] === WILD;
}

function isValueAt(buffer: ShapeBuffer, at: number): boolean {
  if (buffer.codes[at] === WILD) return true;
  let from = at;
  while (from > 0 && isAsciiLetter(buffer.codes[from] as number)) from--;
  if (buffer.codes[from] !== SPACE || buffer.codes[from - 1] !== WILD || at - from > 12)
    return false;
  return LONG_UNITS.has(buffer.slice(from + 1, at + 1));
}
