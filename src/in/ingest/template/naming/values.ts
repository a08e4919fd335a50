import { isUpper } from "../text/classes.ts";
import {
  CLOSE_BRACKET,
  CLOSE_PAREN,
  EQUALS,
  OPEN_PAREN,
  SLASH,
  UNDERSCORE,
} from "../text/codes.ts";
import { WILD } from "../text/marks.ts";
import { TELLING } from "../text/words.ts";
import { allCapitals, lineEnd, STARTING } from "./forms.ts";
import { announces, isCommon, type Word } from "./grammar.ts";
import { ACCOUNTS } from "./words.ts";

/**
 * `key=value` in prose: anything but a word that tells events apart, and one in capitals, which may vary in a list with
 * commas. In a series at the end of a line of which one has no value, ordinary words and known accounts stay: `user=root`.
 */
export function isValue({ shape, from, to }: Word): boolean {
  const next = shape.charCodeAt(to);
  if (next === OPEN_PAREN || next === EQUALS) return false;
  const lead = shape.slice(Math.max(0, from - 64), from - 1);
  const key = KEY.exec(lead);
  if (key === null) return false;
  const word = shape.slice(from, to);
  if (TELLING.has(word)) return false;
  if (allCapitals(shape, from, to)) return isListed(lead, shape, to) && !isInside(shape, from);
  const series = (key[1] !== undefined || to < shape.length) && endsInPairs(shape, to);
  return !series || !(ACCOUNTS.has(word) || isCommon(word));
}

/** A key, perhaps with a pair before it. */
const KEY = /(=(?:[^ ]*[^ ,])? )?[\w.-]+$/;
const COMMA_BEFORE = /=[^ ,=]+, [\w.-]+$/;
const COMMA_BEHIND = /^, [\w.-]+=/;
const PAIRS = /^(?: [\w.-]+=[^ ]*)*$/;

/** Whether another pair stands beside it, with a comma between. */
function isListed(lead: string, shape: string, to: number): boolean {
  return COMMA_BEFORE.test(lead) || COMMA_BEHIND.test(shape.slice(to, to + 64));
}

function endsInPairs(shape: string, at: number): boolean {
  if (shape.length - at >= 512) return false;
  const code = shape.charCodeAt(shape.length - 1);
  // a series in brackets was read as words: `(path=docs/a.txt pkg=scan)`
  return code !== CLOSE_PAREN && code !== CLOSE_BRACKET && PAIRS.test(shape.slice(at));
}

/** How far a rule looks for what belongs together. */
const NEAR = 256;

/** Whether a bracket is open. */
function isInside(shape: string, at: number): boolean {
  let depth = 0;
  for (const char of shape.slice(Math.max(0, at - NEAR), at)) {
    if ("([{".includes(char)) depth++;
    else if (")]}".includes(char)) depth--;
  }
  return depth > 0;
}

/** In `{Name:orders,Attempt:<*>}`: where the value of a key begins; 0 for none. */
export function fieldValue({ shape, from, to }: Word): number {
  if (!isUpper(shape.charCodeAt(from))) return 0;
  const key = FIELD.exec(shape.slice(from, to));
  if (key === null) return 0;
  const lead = shape.slice(Math.max(0, from - NEAR), from);
  const isField = lead.lastIndexOf("{") > lead.lastIndexOf("}");
  return isField ? from + key[0].length : 0;
}

const FIELD = /^[A-Z]\w*:(?=[^:])/;

/** `_<*>`, `PWD=/` and `server: _` are values, too. */
export function signEnd({ shape, from, to, previous }: Word): number {
  const code = shape.charCodeAt(from);
  if (to - from === 1 && code === SLASH) return shape.charCodeAt(from - 1) === EQUALS ? to : 0;
  if (code !== UNDERSCORE) return 0;
  if (to - from === 1) return announces(previous) ? to : 0;
  return to - from === 2 && shape.charCodeAt(from + 1) === WILD ? to : 0;
}

/** Where a variable part ends to which more words belong: a unit's description, or up to the next ` ; `; 0 for none. */
export function valueEnd({ shape, from, to, previous }: Word, name: number): number {
  if (name === 0 && !(to - from === 1 && shape.charCodeAt(from) === WILD)) return 0;
  const end = name || to;
  if (STARTING.test(previous) && shape.startsWith(" - ", end)) return lineEnd(shape, end);
  if (shape.charCodeAt(from - 1) !== EQUALS) return 0;
  const next = shape.slice(end, end + NEAR).search(/ ; [\w.-]+=/);
  if (next >= 0) return next > 0 ? end + next : 0;
  const isLast = / ; [\w.-]+$/.test(shape.slice(Math.max(0, from - 64), from - 1));
  return isLast && lineEnd(shape, end) > end ? lineEnd(shape, end) : 0;
}

/** `alice : TTY=<*> ; PWD=<*>`: whom pairs with ` ; ` between are about. */
export function isOwner({ shape, to, first }: Word): boolean {
  return first && shape.startsWith(" : ", to) && / ; [\w.-]+=/.test(shape);
}
