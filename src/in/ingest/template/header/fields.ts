import { isAsciiDigit, isUpper } from "../text/classes.ts";
import {
  BAR,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  DASH,
  DOT,
  DOUBLE_QUOTE,
  EQUALS,
  OPEN_BRACKET,
  OPEN_PAREN,
  SPACE,
  TAB,
  UNDERSCORE,
  UPPER_Z,
} from "../text/codes.ts";
import { LEVELS } from "../text/words.ts";
import { digitsEnd, timestampEnd } from "../values/timestamp.ts";

const LONGEST_TOKEN = 80;
const MOST_FIELDS = 14;

/** The part between the first time stamp and the logger or the message. */
export interface Fields {
  end: number;
  leveled: boolean;
}

/** Reads more time stamps, numbers, dashes, bracketed fields and the level. */
export function fieldsEnd(text: string, from: number): Fields {
  let at = text.charCodeAt(from) === BAR ? barsEnd(text, from) : from;
  let leveled = false;
  for (let field = 0; field < MOST_FIELDS; field++) {
    const start = blanksEnd(text, at);
    const end = fieldEnd(text, start, leveled);
    if (end === start) break;
    if (isLevel(text, start, end)) leveled = true;
    at = end;
  }
  return { end: at, leveled };
}

/** `…|Component|1234|`: fields between bars. */
function barsEnd(text: string, from: number): number {
  let at = from;
  for (let field = 0; field < 2; field++) {
    let next = at + 1;
    while (next - at < LONGEST_TOKEN && text.charCodeAt(next) > SPACE) {
      if (text.charCodeAt(next) === BAR) break;
      next++;
    }
    if (text.charCodeAt(next) !== BAR) break;
    at = next;
  }
  return at + 1;
}

function fieldEnd(text: string, from: number, leveled: boolean): number {
  const code = text.charCodeAt(from);
  if (code === OPEN_BRACKET) return bracketEnd(text, from);
  const end = tokenEnd(text, from);
  if (end === from) return from;
  if (end - from === 1 && (code === DASH || code === BAR)) return end;
  if (leveled) return isThread(text, from, end) ? end : from;
  const stamp = stampEnd(text, from);
  if (stamp > from) return stamp;
  if (isLevel(text, from, end)) return end;
  if (digitsEnd(text, from) === end && end - from <= 10) return end;
  if (code > UPPER_Z && end - from > 1 && !isCode(text, from, end)) return from;
  return levelAhead(text, from) ? end : from;
}

/** A thread between level and message: `7 --- [main]`. */
function isThread(text: string, from: number, end: number): boolean {
  if (text.startsWith("---", from)) return end - from === 3;
  return digitsEnd(text, from) === end && text.startsWith(" --- ", end);
}

/** Whether a level or another time stamp follows after only ids and words in capitals. */
function levelAhead(text: string, from: number): boolean {
  let at = from;
  for (let field = 0; field < 5; field++) {
    const end = tokenEnd(text, at);
    if (end === at) return false;
    if (field > 0 && (isLevel(text, at, end) || stampEnd(text, at) > at)) return true;
    if (!isCode(text, at, end) && !allCapitals(text, at, end)) return false;
    at = blanksEnd(text, end);
  }
  return false;
}

function allCapitals(text: string, from: number, to: number): boolean {
  for (let i = from; i < to; i++) {
    if (!isUpper(text.charCodeAt(i)) && text.charCodeAt(i) !== UNDERSCORE) return false;
  }
  return true;
}

function isLevel(text: string, from: number, to: number): boolean {
  let end = to;
  if (text.charCodeAt(end - 1) === COLON || text.charCodeAt(end - 1) === COMMA) end--;
  if (text.charCodeAt(from) === OPEN_BRACKET) return LEVELS.has(text.slice(from + 1, end - 1));
  if (end - from === 1) return "DIWEVFT".includes(text.charAt(from)) && end === to;
  return end - from <= 11 && LEVELS.has(text.slice(from, end));
}

/** A time stamp, with or without brackets, up to the blank or bar after it. */
export function stampEnd(text: string, from: number): number {
  const bracketed = text.charCodeAt(from) === OPEN_BRACKET;
  const start = bracketed ? from + 1 : from;
  const end = timestampEnd(text, start);
  if (end === start) return from;
  const next = text.charCodeAt(end);
  if (bracketed) {
    if (next === CLOSE_BRACKET) return end + 1;
    const close = next === SPACE ? bracketEnd(text, from) : from;
    return close;
  }
  if (next === COMMA || next === COLON)
    return isBlankOrEnd(text.charCodeAt(end + 1)) ? end + 1 : from;
  return isBlankOrEnd(next) || next === BAR || next === CLOSE_BRACKET ? end : from;
}

function isBlankOrEnd(code: number): boolean {
  return !(code > SPACE);
}

/** A field that can't be prose: it has a digit or a dot, or is a dash. */
export function isCode(text: string, from: number, to: number): boolean {
  if (to - from === 1 && text.charCodeAt(from) === DASH) return true;
  let telling = false;
  for (let i = from; i < to; i++) {
    const code = text.charCodeAt(i);
    if (isAsciiDigit(code)) telling = true;
    else if (code === DOT && i + 1 < to) telling = true;
    else if (code === EQUALS || code === DOUBLE_QUOTE || code === OPEN_PAREN || code === COMMA)
      return false;
  }
  return telling && text.charCodeAt(to - 1) !== COLON;
}

export function endsWithColon(text: string, end: number): boolean {
  return text.charCodeAt(end - 1) === COLON;
}

export function tokenEnd(text: string, from: number): number {
  let at = from;
  while (at - from < LONGEST_TOKEN && text.charCodeAt(at) > SPACE) at++;
  return at - from === LONGEST_TOKEN ? from : at;
}

export function blanksEnd(text: string, from: number): number {
  let at = from;
  while (text.charCodeAt(at) === SPACE || text.charCodeAt(at) === TAB) at++;
  return at;
}

/** The position after the bracket that closes the one at `from`; `from` when none follows soon. */
export function bracketEnd(text: string, from: number): number {
  let depth = 0;
  for (let at = from; at < from + 200 && at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === OPEN_BRACKET) depth++;
    else if (code === CLOSE_BRACKET && --depth === 0) {
      return text.charCodeAt(at + 1) === COLON ? at + 2 : at + 1;
    }
  }
  return from;
}
