import { isNameUnit, isUpper } from "../text/classes.ts";
import {
  APOSTROPHE,
  CLOSE_BRACKET,
  CLOSE_PAREN,
  COLON,
  DOUBLE_QUOTE,
  EQUALS,
  GREATER,
  LESS,
  OPEN_BRACKET,
  OPEN_PAREN,
  SPACE,
} from "../text/codes.ts";
import { WILD } from "../text/marks.ts";
import { LEVELS, TELLING } from "../text/words.ts";
import {
  allCapitals,
  codeEnd,
  hasLetter,
  isBetween,
  isClass,
  isCompound,
  isDescribed,
  isDotted,
  isJoined,
  isPair,
  isPort,
  isStarted,
  THROWN,
  unitEnd,
} from "./forms.ts";
import {
  announces,
  announcesAny,
  announcesList,
  closes,
  endsPhrase,
  isCommon,
  isOrdinaryCompound,
  singularOf,
  type Word,
} from "./grammar.ts";
import { ROLES } from "./words.ts";

const LONGEST = 128;

/** Where the name that a word begins ends; 0 where it is none. */
export function nameEnd(word: Word): number {
  const { shape, from, to, plain } = word;
  if (to - from > LONGEST || !((plain && to - from > 1) || hasLetter(shape, from, to))) return 0;
  const before = from === 0 ? 0 : shape.charCodeAt(from - 1);
  if (isQuoted(word)) return isQuotedName(word) ? to + 1 : 0;
  if (before === EQUALS) return isValue(word) ? to : 0;
  if (isAnnounced(word) || isBetween(word) || isBracketed(word, before)) return to;
  if (plain) return 0;
  if (shape.startsWith("arn:", from) || isDescribed(word)) return to;
  if (isClass(word) || isStarted(word) || isJoined(word) || isPort(word)) return to;
  const end = unitEnd(word) || codeEnd(word);
  return end || (isPair(word) || isCompound(word) || isDotted(word) ? to : 0);
}

/** Whether a word stands alone in quotes. */
export function isQuoted({ shape, from, to }: Word): boolean {
  const before = from === 0 ? 0 : shape.charCodeAt(from - 1);
  return (before === DOUBLE_QUOTE || before === APOSTROPHE) && shape.charCodeAt(to) === before;
}

/**
 * The masking rules take `"name":` for a key, and leave what a message begins with. Behind a word it is no key:
 * `no route to subnet "orders": refused`.
 */
function isQuotedName({ shape, from, to }: Word): boolean {
  const word = shape.slice(from, to);
  if (isCommon(word) && !ROLES.has(word)) return false;
  if (shape.charCodeAt(to + 1) === COLON && shape.charCodeAt(to + 2) === SPACE)
    return isBehindWord(shape, from - 1);
  return /^[a-z]/.test(word) && closes(shape, to + 1);
}

function isBehindWord(shape: string, at: number): boolean {
  const code = shape.charCodeAt(at - 2);
  return shape.charCodeAt(at - 1) === SPACE && (isNameUnit(code) || code === WILD);
}

/** Where a list of names in square brackets ends, 0 for none: `partitions [orders, users]`. */
export function listEnd({ shape, previous }: Word, open: number): number {
  if (shape.charCodeAt(open) !== OPEN_BRACKET || !announcesList(previous)) return 0;
  LIST.lastIndex = open + 1;
  const list = LIST.exec(shape);
  if (list === null) return 0;
  const told = list[0]
    .split(/, ?/)
    .some((item) => TELLING.has(item) || LEVELS.has(item) || THROWN.test(item));
  return told ? 0 : LIST.lastIndex;
}

const LIST = /[\w.:\u0001-]{1,128}(?:, ?[\w.:\u0001-]{1,128})+(?=\])/y;

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
  if (shape.length - at >= 512) return false;
  const code = shape.charCodeAt(shape.length - 1);
  // a series in brackets was read as words: `(path=docs/a.txt pkg=scan)`
  return code !== CLOSE_PAREN && code !== CLOSE_BRACKET && PAIRS.test(shape.slice(at));
}

/** Behind a noun that announces a name: any word with a sign in it, and a plain one that isn't ordinary. */
function isAnnounced({ shape, from, to, previous, colon }: Word): boolean {
  const isOpen = announces(previous);
  if (!isOpen && !announcesAny(previous)) return false;
  let signs = 0;
  let humps = 0;
  for (let i = from; i < to; i++) {
    const code = shape.charCodeAt(i);
    if (isUpper(code)) humps += i > from ? 1 : 0;
    else if (code < 97 || code > 122) signs++;
  }
  const word = shape.slice(from, to);
  if (THROWN.test(word)) return false;
  if (signs > 0) return !isOrdinaryCompound(word) && (isOpen || NAME_LIKE.test(word));
  if (isUpper(shape.charCodeAt(from))) {
    if (humps > 0 && humps < to - from - 1) return isOpen;
    return to - from > 2 && isProper(word) && isClosed(shape, to);
  }
  if (humps > 0) return true;
  const common = isCommon(word);
  if (isOpen && !colon && !common && !isCommon(singularOf(word))) return true;
  const ends = isClosed(shape, to);
  if (!ends || !common) return ends;
  return ROLES.has(word) && !colon && (isOpen || shape.charCodeAt(to) !== COLON);
}

/** `stream ORDERS is full`, `role Billing`, but `server TLS handshake` and `host DOWN`. */
function isProper(word: string): boolean {
  return !TELLING.has(word) && !isCommon(word.toLowerCase());
}

const isClosed = (shape: string, at: number) => endsPhrase(shape, at) || closes(shape, at);

/** Two parts or more; a few letters and a number keep the letters: `eth<*>`. */
const NAME_LIKE = /^[A-Za-z\u0001\d]+[-_.:/][\w.:/\u0001-]+$|^\w{5}/;

/**
 * `[zeus]` or `(root)` before a message, a word alone in square brackets behind another (`templates [audit]`), and one in
 * angle brackets: `by <orders>`.
 */
function isBracketed({ shape, from, to, first }: Word, before: number): boolean {
  const next = shape.charCodeAt(to);
  const square = before === OPEN_BRACKET && next === CLOSE_BRACKET;
  if (before === LESS && next === GREATER) return !isCommon(shape.slice(from, to));
  if (!square && !(before === OPEN_PAREN && next === CLOSE_PAREN)) return false;
  const word = shape.slice(from, to);
  if (LEVELS.has(word) || TELLING.has(word)) return false;
  const outside = shape.charCodeAt(from - 2);
  return first || (square && (outside === SPACE || outside === EQUALS));
}
