import { classOf, DIGIT, INNER, LETTER, WIDE } from "../text/classes.ts";
import {
  BACKSLASH,
  CLOSE_BRACE,
  CLOSE_PAREN,
  COMMA,
  DOUBLE_QUOTE,
  EQUALS,
  OPEN_BRACE,
  OPEN_PAREN,
  QUESTION,
  SLASH,
  SPACE,
} from "../text/codes.ts";

/** One `key=value` of a logfmt line. Positions in the line; for a quoted value those inside its quotes. */
export interface Pair {
  key: string;
  from: number;
  to: number;
}

/** The pairs of a line that is entirely logfmt, at least two; null for any other. */
export function logfmtPairs(text: string, from: number, to: number): Pair[] | null {
  const pairs: Pair[] = [];
  let at = from;
  while (at < to) {
    const code = text.charCodeAt(at);
    if (code <= SPACE) {
      at++;
      continue;
    }
    const key = keyEnd(text, at, to);
    if (key === at || text.charCodeAt(key) !== EQUALS) return null;
    const end = valueEnd(text, key + 1, to);
    if (end < 0) return null;
    const quoted = text.charCodeAt(key + 1) === DOUBLE_QUOTE ? 1 : 0;
    pairs.push({ key: text.slice(at, key), from: key + 1 + quoted, to: end - quoted });
    at = end;
  }
  return pairs.length > 1 ? pairs : null;
}

/** Digits in a key come after a letter: `node-23` is a name with a number in it. */
function keyEnd(text: string, from: number, to: number): number {
  let at = from;
  let before = 0;
  while (at < to && at - from < 128) {
    const kind = classOf(text.charCodeAt(at));
    const isDigit = kind === DIGIT && (before === LETTER || before === DIGIT);
    const isSign = kind === INNER && at > from;
    if (kind !== LETTER && kind !== WIDE && !isDigit && !isSign) break;
    before = kind;
    at++;
  }
  return at;
}

/** The end of a value, or -1 when it isn't one of logfmt's: brackets, or a second `=` outside a URL. */
function valueEnd(text: string, from: number, to: number): number {
  if (text.charCodeAt(from) === DOUBLE_QUOTE) {
    for (let at = from + 1; at < to; at++) {
      const code = text.charCodeAt(at);
      if (code === BACKSLASH) at++;
      else if (code === DOUBLE_QUOTE)
        return at + 1 >= to || text.charCodeAt(at + 1) <= SPACE ? at + 1 : -1;
    }
    return -1;
  }
  let at = from;
  let url = false;
  for (; at < to; at++) {
    const code = text.charCodeAt(at);
    if (code <= SPACE) break;
    if (code === SLASH || code === QUESTION) url = true;
    if (
      code === OPEN_PAREN ||
      code === CLOSE_PAREN ||
      code === OPEN_BRACE ||
      code === CLOSE_BRACE ||
      code === DOUBLE_QUOTE
    )
      return -1;
    if (code === EQUALS && !url && text.charCodeAt(at + 1) > SPACE) return -1;
  }
  return text.charCodeAt(at - 1) === COMMA ? -1 : at;
}
