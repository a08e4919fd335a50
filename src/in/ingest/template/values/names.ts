import {
  classOf,
  DIGIT,
  isAsciiDigit,
  isAsciiLetter,
  isUpper,
  LETTER,
  WIDE,
} from "../text/classes.ts";
import { DASH, DOLLAR, DOT, PLUS, SLASH, UNDERSCORE, UPPER_Z } from "../text/codes.ts";

import { TECHNICAL } from "../text/words.ts";

interface Named {
  from: number;
  to: number;
  /** Whether a `(` follows: a function's name stays whole. */
  called: boolean;
}

/**
 * The end of a name's constant part: `node-129` keeps `node-`, `eth0` keeps `eth`, `blk_-17` keeps `blk_`; a name with
 * a random part (`web-7d9f8b6c5-x2x9k`) keeps nothing; `Log4jAdapter` stays whole.
 */
export function keptPrefix(text: string, named: Named): number {
  const { from, to, called } = named;
  if (to - from <= 8 && TECHNICAL.has(text.slice(from, to).toLowerCase())) return to;
  if (isDotted(text, from, to)) return to;
  let segment = from;
  let kept = -1;
  for (let i = from; i <= to; i++) {
    if (i < to && isNamePart(text.charCodeAt(i))) continue;
    if (i > segment) {
      const verdict = segmentKept(text, segment, i);
      if (verdict === RANDOM) return from;
      if (
        verdict < i &&
        kept < 0 &&
        !(called && verdict > segment && digitsIn(text, segment, i) < 3)
      ) {
        kept = segment === from ? verdict : segment;
      }
    }
    segment = i + 1;
  }
  if (kept < 0) return to;
  while (kept > from && isLooseSign(text, kept - 1, from)) kept--;
  return kept;
}

const RANDOM = -1;

/** `psycopg2.OperationalError`, `workers2.properties`: each part is a word, with a digit or two. */
function isDotted(text: string, from: number, to: number): boolean {
  let digits = 0;
  let dots = 0;
  let start = true;
  for (let i = from; i < to; i++) {
    const code = text.charCodeAt(i);
    if (code === DOT) {
      dots++;
      if (start) return false;
      start = true;
    } else if (isAsciiDigit(code)) {
      digits++;
      if (start) return false;
    } else if (isAsciiLetter(code) || code === UNDERSCORE || code === DOLLAR) start = false;
    else return false;
  }
  return dots > 0 && digits < 4 && !start && !isAsciiDigit(text.charCodeAt(to - 1));
}

function isNamePart(code: number): boolean {
  const kind = classOf(code);
  return kind === LETTER || kind === DIGIT || kind === WIDE;
}

/** The minus in `blk_-17` belongs to the number. */
function isLooseSign(text: string, at: number, from: number): boolean {
  return text.charCodeAt(at) === DASH && at > from && !isNamePart(text.charCodeAt(at - 1));
}

function digitsIn(text: string, from: number, to: number): number {
  let digits = 0;
  for (let i = from; i < to; i++) if (classOf(text.charCodeAt(i)) === DIGIT) digits++;
  return digits;
}

/** For a segment of letters and digits: the end of its constant part (`to` for all of it), or RANDOM. */
function segmentKept(text: string, from: number, to: number): number {
  let digits = 0;
  let turns = 0;
  let letters = 0;
  let first = -1;
  for (let i = from; i < to; i++) {
    const digit = classOf(text.charCodeAt(i)) === DIGIT;
    if (digit) {
      if (first < 0) first = i;
      digits++;
    } else letters++;
    if (i > from && digit !== (classOf(text.charCodeAt(i - 1)) === DIGIT)) turns++;
  }
  if (digits === 0) return to - from > 32 ? RANDOM : to;
  if (letters === 0) return from;
  const inside = first > from && classOf(text.charCodeAt(to - 1)) !== DIGIT;
  if (inside && turns === 2 && digits <= 2 && (letters >= 4 || to - from <= 4)) {
    const odd = to - from > 32 || (to - from >= 12 && allCapitals(text, from, to));
    return odd ? RANDOM : to;
  }
  if (turns >= 2 && to - from >= 5 && (turns >= 3 || digits >= 2)) return RANDOM;
  if (to - from >= 20) return RANDOM;
  return first;
}

function allCapitals(text: string, from: number, to: number): boolean {
  for (let i = from; i < to; i++) {
    const code = text.charCodeAt(i);
    if (!isUpper(code) && !isAsciiDigit(code)) return false;
  }
  return true;
}

/** The start of the constant end of a name whose only number stands alone: `LINK-3-UPDOWN`, `web-7-prod`. */
export function keptSuffix(text: string, from: number, to: number): number {
  let at = from;
  while (at < to && !isNamePart(text.charCodeAt(at))) at++;
  while (at < to && isAsciiDigit(text.charCodeAt(at))) at++;
  const sign = text.charCodeAt(at);
  if (at >= to || (sign !== DASH && sign !== UNDERSCORE && sign !== DOT)) return to;
  for (let i = at + 1; i < to; i++) {
    if (!isAsciiLetter(text.charCodeAt(i)) && text.charCodeAt(i) !== sign) return to;
  }
  return at;
}

/** Forty or more letters, digits and base64 signs without a gap. */
export function isBlob(text: string, from: number, to: number): boolean {
  if (to - from < 40) return false;
  for (let i = from; i < to; i++) {
    const kind = kindOf(text.charCodeAt(i));
    if (kind === 0 || (kind === SIGN && text.charCodeAt(i) > UPPER_Z)) return false;
  }
  return true;
}

/** A long run in which letters and digits alternate as in base64, not as in CamelCase. */
export function looksRandom(text: string, from: number, to: number): boolean {
  let turns = 0;
  let previous = 0;
  let upper = 0;
  let digits = 0;
  for (let i = from; i < to; i++) {
    const kind = kindOf(text.charCodeAt(i));
    if (kind === 0) return false;
    if (kind === UPPER) upper++;
    if (kind === NUMBER) digits++;
    if (kind !== previous && !(previous === UPPER && kind === LOWER)) turns++;
    previous = kind;
  }
  const length = to - from;
  return digits > 0 ? turns > length * 0.3 : upper > length * 0.3 && upper < length * 0.7;
}

const UPPER = 1;
const LOWER = 2;
const NUMBER = 3;
const SIGN = 4;

/** Capital, small letter, digit or a base64 sign; 0 for anything else. */
function kindOf(code: number): number {
  if (isUpper(code)) return UPPER;
  if (isAsciiLetter(code)) return LOWER;
  if (isAsciiDigit(code)) return NUMBER;
  return code === PLUS || code === SLASH || code === DASH || code === UNDERSCORE ? SIGN : 0;
}
