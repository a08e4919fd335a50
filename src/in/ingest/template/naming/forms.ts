import { isAsciiDigit, isAsciiLetter, isUpper } from "../text/classes.ts";
import {
  AT,
  CLOSE_PAREN,
  COLON,
  DASH,
  DOT,
  OPEN_BRACKET,
  OPEN_PAREN,
  SLASH,
  SPACE,
  UNDERSCORE,
} from "../text/codes.ts";
import { WILD } from "../text/marks.ts";
import { PREPOSITIONS } from "../text/words.ts";
import {
  announces,
  closes,
  endsPhrase,
  isCommon,
  isOrdinaryCompound,
  saysWhat,
  type Word,
} from "./grammar.ts";
import { ARTICLES, COMPOUNDING, PAIRED, ROLES, UNIT_ENDINGS } from "./words.ts";

/** What is thrown says what went wrong, so it is never a name. */
export const THROWN = /(?:Exception|Error|Failure|Fault|Warning|Timeout)$/;

/** A class in the middle of a sentence, but no exception: `of type com.shop.orders.OrderService`. */
export function isClass({ shape, from, to, previous }: Word): boolean {
  const next = shape.charCodeAt(to);
  if (previous === "" || previous === "at" || previous.charCodeAt(previous.length - 1) === WILD)
    return false;
  if (next === COLON || next === OPEN_PAREN) return false;
  const word = shape.slice(from, to);
  return CLASS.test(word) && !THROWN.test(word);
}

const CLASS = /^[a-z]\w*(?:\.\w+)*\.[A-Z][\w$]*$/;

/**
 * Words in small letters that dots join, which is a name of its owner's: `type shop.send_welcome`, `shop.orders.v2`. Not
 * what is called or thrown, nor what a line begins with.
 */
export function isDotted({ shape, from, to, first }: Word): boolean {
  const next = shape.charCodeAt(to);
  if (first || next === OPEN_PAREN || next === COLON || to - from < 4) return false;
  const word = shape.slice(from, to);
  return DOTTED.test(word) && !word.split(/[._-]/).some(saysWhat);
}

const DOTTED = /^[a-z][\w\u0001-]*(?:\.[a-z][\w\u0001-]*)+$/;

/** `tasks of ImportJob`: several words in one behind a preposition, where the phrase ends. Not what is thrown. */
export function isJoined({ shape, from, to, previous }: Word): boolean {
  if (!PREPOSITIONS.has(previous) || !(endsPhrase(shape, to) || closes(shape, to))) return false;
  const word = shape.slice(from, to);
  return /^[A-Za-z\u0001]*[a-z][A-Z][a-z\u0001][A-Za-z\u0001]*$/.test(word) && !THROWN.test(word);
}

/** `Started OrdersApplication in <*> seconds`. */
export function isStarted({ shape, from, to, previous }: Word): boolean {
  if (!/^(?:Start|Stopp)(?:ed|ing)$/.test(previous) || shape.charCodeAt(to) !== SPACE) return false;
  const word = shape.slice(from, to);
  return /^(?:[A-Z][a-z\u0001\d]+){2,}$/.test(word) && !THROWN.test(word);
}

/** The end of a unit of systemd, with the description behind it; 0 for none. */
export function unitEnd({ shape, from, to, previous }: Word): number {
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

/** `the PutObject operation`, `the orders-api deployment`. */
export function isDescribed({ shape, from, to, previous }: Word): boolean {
  if (previous !== "the" || shape.charCodeAt(to) !== SPACE) return false;
  const word = shape.slice(from, to);
  if (!/[a-z][A-Z\d_-]/.test(word) || isOrdinaryCompound(word)) return false;
  const end = NOUN.exec(shape.slice(to + 1, to + 24));
  return end !== null && announces(end[0]);
}

const NOUN = /^[a-z]+/;

/** `Accepted publickey for alice from <*>`. */
export function isBetween({ shape, to, previous }: Word): boolean {
  return previous === "for" && shape.startsWith(" from ", to) && shape.charCodeAt(to + 6) === WILD;
}

/** `default/web`: two names in small letters, unless both are words that go in pairs. */
export function isPair({ shape, from, to }: Word): boolean {
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

/**
 * `orders-api`, `web-<*>-prod`: two or more words in small letters, joined by dashes, none of them common in compounds.
 * With underscores only behind a word, and not as a place in a program: `index orders_archive`, but `in find_entry(`. Of
 * one word and a number: `orders-<*>`.
 */
export function isCompound(word: Word): boolean {
  const { shape, from, to, previous } = word;
  if (ARTICLES.has(previous)) return false;
  let parts = 0;
  let start = from;
  let snake = false;
  for (let i = from; i <= to; i++) {
    const code = i < to ? shape.charCodeAt(i) : DASH;
    if (code === UNDERSCORE) snake = true;
    else if (!isPlainSign(code)) return false;
    if (code !== DASH && code !== UNDERSCORE) continue;
    if (i === start) return false;
    if (hasLetter(shape, start, i)) parts++;
    start = i + 1;
  }
  if (snake && isPlace(word)) return false;
  const name = shape.slice(from, to);
  if (parts > 1) return !isOrdinaryCompound(snake ? name.replaceAll("_", "-") : name);
  return !snake && isNumbered(shape, from, to);
}

/** Whether a word with underscores may be where in a program, which tells events apart: `failed to drop_index`, `in find_entry`. */
function isPlace({ shape, to, previous }: Word): boolean {
  if (previous === "" || previous === "to" || previous === "in") return true;
  return shape.charCodeAt(to) === COLON || !(endsPhrase(shape, to) || closes(shape, to));
}

/** `to atlas:<*>`, and `from db<*>`. */
export function isPort({ shape, from, to, previous }: Word): boolean {
  if (!PREPOSITIONS.has(previous) || shape.charCodeAt(to - 1) !== WILD) return false;
  const found = /^([a-z]{2,})(?:[a-z\u0001-]*:|-)?\u0001$/.exec(shape.slice(from, to));
  if (found === null) return false;
  const word = found[1] as string;
  return ROLES.has(word) || !isCommon(word);
}

/** `orders-<*>`, unless the word says what it is: `node-<*>`. */
function isNumbered(shape: string, from: number, to: number): boolean {
  if (shape.charCodeAt(to - 1) !== WILD || shape.charCodeAt(to - 2) !== DASH) return false;
  const word = shape.slice(from, to - 2);
  if (!/^[a-z]{2,}$/.test(word) || NUMBERED.test(word) || COMPOUNDING.has(word)) return false;
  return ROLES.has(word) || !isCommon(word);
}

/** `SIGTERM(15)` behind a preposition. */
export function codeEnd({ shape, from, to, previous }: Word): number {
  if (!PREPOSITIONS.has(previous) || shape.charCodeAt(to) !== OPEN_PAREN) return 0;
  if (shape.charCodeAt(to + 1) !== WILD || shape.charCodeAt(to + 2) !== CLOSE_PAREN) return 0;
  return allCapitals(shape, from, to) ? to + 3 : 0;
}

/** Not names: standards, codes and grades. */
const NUMBERED =
  /^(?:utf|ucs|iso|sha|md|tls|ssl|ssh|http|aes|rsa|err|errno|exit|rc|sig|sev|tier|phase|stage)$/;

export function hasLetter(shape: string, from: number, to: number): boolean {
  for (let i = from; i < to; i++) {
    const code = shape.charCodeAt(i);
    if (isAsciiLetter(code) || code > 127) return true;
  }
  return false;
}

export function allCapitals(shape: string, from: number, to: number): boolean {
  for (let i = from; i < to; i++) {
    const code = shape.charCodeAt(i);
    if (!isUpper(code) && code !== UNDERSCORE) return false;
  }
  return true;
}
