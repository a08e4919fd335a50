import { isNameUnit, isUpper } from "../text/classes.ts";
import { APOSTROPHE, COLON, DOUBLE_QUOTE, EQUALS, OPEN_BRACKET, SPACE } from "../text/codes.ts";
import { WILD } from "../text/marks.ts";
import { LEVELS, TELLING } from "../text/words.ts";
import { isBracketed } from "./brackets.ts";
import {
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
  isSender,
  isStarted,
  openUrlEnd,
  THROWN,
  titleEnd,
  unitEnd,
} from "./forms.ts";
import {
  announces,
  announcesAny,
  announcesList,
  closes,
  endsPhrase,
  isAccount,
  isCommon,
  isOrdinaryCompound,
  isOwnCompound,
  singularOf,
  type Word,
} from "./grammar.ts";
import { isOwner, isValue, signEnd, valueEnd } from "./values.ts";
import { ROLES } from "./words.ts";

const LONGEST = 128;

/** Where the name that a word begins ends; 0 where it is none. */
export function nameEnd(word: Word): number {
  const end = ownEnd(word);
  return valueEnd(word, end) || end;
}

function ownEnd(word: Word): number {
  const { shape, from, to, plain } = word;
  if (to - from > LONGEST) return 0;
  if (!((plain && to - from > 1) || hasLetter(shape, from, to))) return signEnd(word);
  const before = from === 0 ? 0 : shape.charCodeAt(from - 1);
  if (isQuoted(word)) return isQuotedName(word) ? to + 1 : 0;
  if (before === EQUALS) return isValue(word) ? to : 0;
  if (isAnnounced(word) || isBetween(word) || isBracketed(word, before)) return to;
  if (isSender(word) || isOwner(word)) return to;
  if (plain) return 0;
  if (shape.startsWith("arn:", from) || isDescribed(word)) return to;
  if (isClass(word) || isStarted(word) || isJoined(word) || isPort(word)) return to;
  const end = unitEnd(word) || codeEnd(word) || titleEnd(word) || openUrlEnd(word);
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
  if (isAccount(word, previous)) return true;
  if (signs > 0 && !isOrdinaryCompound(word)) return isOpen || NAME_LIKE.test(word);
  if (signs > 0) return isOpen && isOwnCompound(word) && isClosed(shape, to);
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

/** Two parts or more, or a letter and a number; a few letters and a number keep the letters: `eth<*>`. */
const NAME_LIKE = /^[A-Za-z\u0001\d]+[-_.:/][\w.:/\u0001-]+$|^\w{5}|^[A-Za-uw-z]\u0001$/;
