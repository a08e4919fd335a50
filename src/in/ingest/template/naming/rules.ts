import { isAsciiDigit, isAsciiLetter, isUpper } from "../text/classes.ts";
import {
  AT,
  CLOSE_BRACKET,
  CLOSE_PAREN,
  COLON,
  DASH,
  DOT,
  DOUBLE_QUOTE,
  EQUALS,
  OPEN_BRACKET,
  OPEN_PAREN,
  SLASH,
  SPACE,
  UNDERSCORE,
} from "../text/codes.ts";
import { WILD } from "../text/marks.ts";
import { LEVELS, PREPOSITIONS, TELLING } from "../text/words.ts";
import {
  ANNOUNCING,
  ARTICLES,
  COMPOUNDING,
  ORDINARY,
  PAIRED,
  ROLES,
  TRADES,
  UNIT_ENDINGS,
} from "./words.ts";

/** A word of a shape, without the full stop or colon behind it. */
export interface Word {
  shape: string;
  from: number;
  to: number;
  /** The word before it, where only a blank is between; else empty. */
  previous: string;
  /** Whether only a header and opening brackets stand before it in its line. */
  first: boolean;
  /** Whether it is of small ASCII letters alone. */
  plain: boolean;
}

const LONGEST = 128;

/** Where the name that a word begins ends; 0 where it is none. */
export function nameEnd(word: Word): number {
  const { shape, from, to, plain } = word;
  if (to - from > LONGEST || !(plain || hasLetter(shape, from, to))) return 0;
  const before = from === 0 ? 0 : shape.charCodeAt(from - 1);
  if (before === DOUBLE_QUOTE && shape.charCodeAt(to) === DOUBLE_QUOTE) return 0;
  if (before === EQUALS) return isValue(word) ? to : 0;
  if (isAnnounced(word) || isBetween(word) || isBracketed(word, before)) return to;
  if (plain) return 0;
  if (shape.startsWith("arn:", from) || isDescribed(word)) return to;
  return unitEnd(word) || codeEnd(word) || (isPair(word) || isCompound(word) ? to : 0);
}

/** Whether a noun announces a name, or a number that is one: `worker 3`. */
export function announces(word: string): boolean {
  if (word.length < 3 || MAY_ANNOUNCE[outline(word)] !== 1) return false;
  return ANNOUNCING.has(isUpper(word.charCodeAt(0)) ? word.toLowerCase() : word);
}

/** First and last letter and length, in any case: words that differ here needn't be hashed. */
function outline(word: string): number {
  const ends = ((word.charCodeAt(0) & 31) << 5) | (word.charCodeAt(word.length - 1) & 31);
  return (ends << 4) | Math.min(word.length, 15);
}

const MAY_ANNOUNCE = new Uint8Array(16_384);
for (const word of ANNOUNCING) MAY_ANNOUNCE[outline(word)] = 1;

function hasLetter(shape: string, from: number, to: number): boolean {
  for (let i = from; i < to; i++) {
    const code = shape.charCodeAt(i);
    if (isAsciiLetter(code) || code > 127) return true;
  }
  return false;
}

/**
 * `key=value` in prose: anything but a word that tells events apart, and one in capitals. A series of them at the end
 * of a line is left as it is.
 */
function isValue({ shape, from, to }: Word): boolean {
  const next = shape.charCodeAt(to);
  if (next === OPEN_PAREN || next === EQUALS || allCapitals(shape, from, to)) return false;
  if (TELLING.has(shape.slice(from, to))) return false;
  const key = KEY.exec(shape.slice(Math.max(0, from - 64), from - 1));
  return (
    key !== null && !(key[1] !== undefined || to < shape.length ? endsInPairs(shape, to) : false)
  );
}

/** A key, perhaps with a pair before it. */
const KEY = /(=[^ ]* )?[\w.-]+$/;
const PAIRS = /^(?: [\w.-]+=[^ ]*)*$/;

function endsInPairs(shape: string, at: number): boolean {
  return shape.length - at < 512 && PAIRS.test(shape.slice(at));
}

function allCapitals(shape: string, from: number, to: number): boolean {
  for (let i = from; i < to; i++) {
    const code = shape.charCodeAt(i);
    if (!isUpper(code) && code !== UNDERSCORE) return false;
  }
  return true;
}

/** The end of a unit of systemd, with the description behind it; 0 for none. */
function unitEnd({ shape, from, to, previous }: Word): number {
  let dot = to - 1;
  while (dot > from && shape.charCodeAt(dot) !== DOT) dot--;
  if (dot <= from || !UNIT_ENDINGS.has(shape.slice(dot + 1, to))) return 0;
  for (let i = from; i < dot; i++) {
    const code = shape.charCodeAt(i);
    if (!isNameSign(code) && code !== COLON) return 0;
  }
  if (previous === "" || !shape.startsWith(" - ", to)) return to;
  const line = shape.indexOf("\\n", to);
  return line < 0 ? shape.length : line;
}

function isNameSign(code: number): boolean {
  return isPlainSign(code) || code === DOT || code === UNDERSCORE || code === AT || isUpper(code);
}

/** A small letter, a digit, a masked number or a dash. */
function isPlainSign(code: number): boolean {
  return (code >= 97 && code <= 122) || isAsciiDigit(code) || code === DASH || code === WILD;
}

/** Behind a noun that announces a name: any word with a sign in it, and a plain one that isn't ordinary. */
function isAnnounced({ shape, from, to, previous }: Word): boolean {
  if (!announces(previous)) return false;
  let signs = 0;
  let humps = 0;
  for (let i = from; i < to; i++) {
    const code = shape.charCodeAt(i);
    if (isUpper(code)) humps += i > from ? 1 : 0;
    else if (code < 97 || code > 122) signs++;
  }
  const word = shape.slice(from, to);
  if (signs > 0) return !isOrdinaryCompound(word);
  if (isUpper(shape.charCodeAt(from))) return humps > 0 && humps < to - from - 1;
  return humps > 0 || !isOrdinary(word) || (ROLES.has(word) && endsPhrase(shape, to));
}

/** Whether nothing follows, or punctuation, or a preposition. */
function endsPhrase(shape: string, at: number): boolean {
  const code = at < shape.length ? shape.charCodeAt(at) : 0;
  if (code !== SPACE) return code !== EQUALS && code !== OPEN_PAREN && code !== OPEN_BRACKET;
  const end = shape.indexOf(" ", at + 1);
  return PREPOSITIONS.has(shape.slice(at + 1, end < 0 ? shape.length : end));
}

/** `the PutObject operation`, `the orders-api deployment`. */
function isDescribed({ shape, from, to, previous }: Word): boolean {
  if (previous !== "the" || shape.charCodeAt(to) !== SPACE) return false;
  const word = shape.slice(from, to);
  if (!/[a-z][A-Z\d_-]/.test(word) || isOrdinaryCompound(word)) return false;
  const end = NOUN.exec(shape.slice(to + 1, to + 24));
  return end !== null && announces(end[0]);
}

const NOUN = /^[a-z]+/;

/** `Accepted publickey for alice from <*>`. */
function isBetween({ shape, to, previous }: Word): boolean {
  return previous === "for" && shape.startsWith(" from ", to) && shape.charCodeAt(to + 6) === WILD;
}

/** Whether a word is never a name by itself. */
export function isOrdinary(word: string): boolean {
  if (TRADES.has(word)) return false;
  if (ORDINARY.has(word) || TELLING.has(word) || PREPOSITIONS.has(word)) return true;
  return word.length > 4 && /(?:ed|ing|ion|able|ible|ly|ment|ness|ity|ure|ance|ence)$/.test(word);
}

/** `[zeus]` or `(root)` before a message, and a word alone in square brackets behind another: `templates [audit]`. */
function isBracketed({ shape, from, to, first }: Word, before: number): boolean {
  const next = shape.charCodeAt(to);
  const square = before === OPEN_BRACKET && next === CLOSE_BRACKET;
  if (!square && !(before === OPEN_PAREN && next === CLOSE_PAREN)) return false;
  const word = shape.slice(from, to);
  if (LEVELS.has(word) || TELLING.has(word)) return false;
  return first || (square && shape.charCodeAt(from - 2) === SPACE);
}

/** `default/web`: two names in small letters, unless both are words that go in pairs. */
function isPair({ shape, from, to }: Word): boolean {
  let slash = from;
  while (slash < to && shape.charCodeAt(slash) !== SLASH) slash++;
  if (slash <= from || slash >= to - 1 || shape.charCodeAt(to) === OPEN_BRACKET) return false;
  for (let i = from; i < to; i++) {
    const code = shape.charCodeAt(i);
    if (isPlainSign(code) || code === UNDERSCORE || code === DOT || i === slash) continue;
    return false;
  }
  return !PAIRED.has(shape.slice(from, slash)) && !PAIRED.has(shape.slice(slash + 1, to));
}

/** `orders-api`, `web-<*>-prod`: two or more words in small letters, joined by dashes, none of them common in compounds. */
function isCompound({ shape, from, to, previous }: Word): boolean {
  if (ARTICLES.has(previous)) return false;
  let parts = 0;
  let start = from;
  for (let i = from; i <= to; i++) {
    const code = i < to ? shape.charCodeAt(i) : DASH;
    if (!isPlainSign(code)) return false;
    if (code !== DASH) continue;
    if (i === start) return false;
    if (hasLetter(shape, start, i)) parts++;
    start = i + 1;
  }
  return parts > 1 && !isOrdinaryCompound(shape.slice(from, to));
}

function isOrdinaryCompound(word: string): boolean {
  if (!word.includes("-")) return false;
  return /(?:ed|ing|able)$/.test(word) || word.split("-").some((part) => COMPOUNDING.has(part));
}

/** `SIGTERM(15)` behind a preposition. */
function codeEnd({ shape, from, to, previous }: Word): number {
  if (!PREPOSITIONS.has(previous) || shape.charCodeAt(to) !== OPEN_PAREN) return 0;
  if (shape.charCodeAt(to + 1) !== WILD || shape.charCodeAt(to + 2) !== CLOSE_PAREN) return 0;
  return allCapitals(shape, from, to) ? to + 3 : 0;
}
