import { isAsciiDigit, isAsciiLetter, isNameUnit } from "../text/classes.ts";
import {
  BACKSLASH,
  COLON,
  DASH,
  DOT,
  DOUBLE_QUOTE,
  NEWLINE,
  SPACE,
  UNDERSCORE,
} from "../text/codes.ts";
import { HEADER, WILD } from "../text/marks.ts";
import { METHODS } from "../text/words.ts";
import type { Scan } from "./scan.ts";

const LONGEST_QUOTED = 1_024;

/** A quoted value is variable, except at the beginning of a message, as a key, and as an HTTP request line. */
export function putQuote(scan: Scan, code: number): void {
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
