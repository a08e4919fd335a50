import { isUpper } from "../text/classes.ts";
import { EQUALS, OPEN_BRACKET, OPEN_PAREN, SPACE } from "../text/codes.ts";
import { LEVELS, PREPOSITIONS, TELLING } from "../text/words.ts";
import {
  ANNOUNCING,
  ANNOUNCING_CLOSED,
  CLOSING,
  COMPOUNDING,
  ORDINARY,
  ROLES,
  TRADES,
  VERBAL,
  VERBS_FOLLOW,
} from "./words.ts";

/** A word of a shape, without the full stop or colon behind it. */
export interface Word {
  shape: string;
  from: number;
  to: number;
  /** The word before it, where only a blank is between; else empty. */
  previous: string;
  /** Whether a colon is behind the word before it. */
  colon: boolean;
  /** Whether only a header and opening brackets stand before it in its line. */
  first: boolean;
  /** Whether it is of small ASCII letters alone. */
  plain: boolean;
}

/** Whether a noun announces a name, or a number that is one: `worker 3`. */
export function announces(word: string): boolean {
  return mayAnnounce(word) && ANNOUNCING.has(lower(word));
}

/** Also nouns behind which a word is a name only if the phrase ends there: `snapshot orders is missing`. */
export function announcesAny(word: string): boolean {
  if (!mayAnnounce(word)) return false;
  const noun = lower(word);
  return ANNOUNCING.has(noun) || ANNOUNCING_CLOSED.has(noun);
}

const lower = (word: string) => (isUpper(word.charCodeAt(0)) ? word.toLowerCase() : word);

/** Whether it is worth a look into the lists. */
function mayAnnounce(word: string): boolean {
  return word.length > 2 && MAY_ANNOUNCE[outline(word)] === 1;
}

/** Whether a list of names can follow: `partitions [orders, users]`. */
export function announcesList(word: string): boolean {
  return announcesAny(word) || announcesAny(singularOf(word));
}

/** First and last letter and length, in any case: words that differ here needn't be hashed. */
function outline(word: string): number {
  const ends = ((word.charCodeAt(0) & 31) << 5) | (word.charCodeAt(word.length - 1) & 31);
  return (ends << 4) | Math.min(word.length, 15);
}

const MAY_ANNOUNCE = new Uint8Array(16_384);
for (const word of [...ANNOUNCING, ...ANNOUNCING_CLOSED]) MAY_ANNOUNCE[outline(word)] = 1;

/** Whether a word that announces names is a verb here: `failed to mount tmpfs`. */
export function isVerb(word: string, { previous, first }: Word): boolean {
  if (!mayAnnounce(word) || !VERBAL.has(lower(word))) return false;
  return VERBS_FOLLOW.has(previous) || (first && lower(word) === "set");
}

/** The singular of what may be a plural. */
export function singularOf(word: string): string {
  if (!word.endsWith("s") || word.endsWith("ss")) return word;
  return word.endsWith("ies") ? `${word.slice(0, -3)}y` : word.slice(0, -1);
}

/** Whether nothing follows, or punctuation, or a preposition. */
export function endsPhrase(shape: string, at: number): boolean {
  const code = at < shape.length ? shape.charCodeAt(at) : 0;
  if (code !== SPACE) return code !== EQUALS && code !== OPEN_PAREN && code !== OPEN_BRACKET;
  return PREPOSITIONS.has(nextWord(shape, at));
}

/** Whether a word follows that what is one thing does, or the next name. */
export function closes(shape: string, at: number): boolean {
  if (shape.charCodeAt(at) !== SPACE) return false;
  const next = nextWord(shape, at);
  if (CLOSING.has(next) || (next.length > 4 && next.endsWith("ed"))) return true;
  if (!announcesAny(next)) return false;
  const name = nextWord(shape, at + 1 + next.length);
  return name !== "" && (ROLES.has(name) || TRADES.has(lower(name)) || !isCommon(name));
}

function nextWord(shape: string, at: number): string {
  const end = shape.indexOf(" ", at + 1);
  return shape.slice(at + 1, end < 0 ? shape.length : end);
}

/** Whether a word is never a name by itself. */
export function isOrdinary(word: string): boolean {
  if (TRADES.has(word)) return false;
  if (ORDINARY.has(word) || TELLING.has(word) || LEVELS.has(word)) return true;
  if (PREPOSITIONS.has(word)) return true;
  return word.length > 4 && /(?:ed|ing|ion|able|ible|ly|ment|ness|ity|ure|ance|ence)$/.test(word);
}

/** Whether a word behind a noun says what the noun is of, rather than its name. */
export function isCommon(word: string): boolean {
  return isOrdinary(word) || announcesAny(word);
}

/** Whether a compound is of ordinary English, or says what is wrong: `read-only`, `disk-pressure`. */
export function isOrdinaryCompound(word: string): boolean {
  if (!word.includes("-")) return false;
  return /(?:ed|ing|able)$/.test(word) || word.split("-").some(saysWhat);
}

/** Whether a part of a compound is ordinary English, or says what is wrong. */
export function saysWhat(part: string): boolean {
  return COMPOUNDING.has(part) || TELLING.has(part) || LEVELS.has(part);
}
