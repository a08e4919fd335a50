import {
  CLOSE_BRACE,
  CLOSE_BRACKET,
  CLOSE_PAREN,
  EQUALS,
  GREATER,
  LESS,
  OPEN_BRACE,
  OPEN_BRACKET,
  OPEN_PAREN,
  SPACE,
} from "../text/codes.ts";
import { LEVELS, TELLING } from "../text/words.ts";
import { isNumberedName } from "./forms.ts";
import { isCommon, type Word } from "./grammar.ts";

/** Whether a word stands alone in brackets that hold a name. */
export function isBracketed(word: Word, before: number): boolean {
  const { shape, from, to, first } = word;
  const next = shape.charCodeAt(to);
  if (before === LESS && next === GREATER) return !isCommon(shape.slice(from, to));
  const outside = shape.charCodeAt(from - 2);
  if (before === OPEN_BRACE && next === CLOSE_BRACE)
    return outside === CLOSE_BRACE || shape.charCodeAt(to + 1) === OPEN_BRACE;
  const square = before === OPEN_BRACKET && next === CLOSE_BRACKET;
  if (!square && !(before === OPEN_PAREN && next === CLOSE_PAREN)) return false;
  const text = shape.slice(from, to);
  if (LEVELS.has(text) || TELLING.has(text)) return false;
  return first || (square ? isFree(outside) : isNumberedName(word) || isSignal(word));
}

/** `templates [audit]`, `members=[audit]`, and next to other brackets: `[[orders][<*>]]`. */
function isFree(outside: number): boolean {
  return [SPACE, EQUALS, OPEN_BRACKET, CLOSE_BRACKET].includes(outside);
}

/** `signal <*> (SIGTERM)`: the same value twice. */
function isSignal({ shape, from, to }: Word): boolean {
  if (!/^SIG[A-Z]+$/.test(shape.slice(from, to))) return false;
  return /signal [^ ]+ \($/.test(shape.slice(Math.max(0, from - 140), from));
}
