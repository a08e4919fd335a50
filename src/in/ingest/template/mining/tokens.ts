import { classOf, DIGIT, isUpper, LETTER, SURROGATE, WIDE } from "../text/classes.ts";
import { AT, DASH, DOLLAR, DOT, HASH, OPEN_PAREN, PLUS, SLASH, UNDERSCORE } from "../text/codes.ts";
import { REST, SLOT, WILD } from "../text/marks.ts";

/** Only so many words of a shape can be variable; the rest is part of its structure. */
const MOST_WORDS = 24;

export interface Tokens {
  /** The shape with a mark for each word: only shapes of one structure can merge. */
  structure: string;
  words: string[];
  /** The unit before each word, 0 at the start. */
  before: number[];
  /** The unit after each word, 0 at the end. */
  after: number[];
}

const MARK = String.fromCharCode(SLOT);

/** Splits a shape, or a pattern, into words and the text between them. */
export function tokensOf(shape: string): Tokens {
  const words: string[] = [];
  const before: number[] = [];
  const after: number[] = [];
  let structure = "";
  let copied = 0;
  let at = 0;
  while (at < shape.length && words.length < MOST_WORDS) {
    if (shape.charCodeAt(at) === REST) break;
    const from = at;
    const end = wordEnd(shape, at);
    at = Math.max(end, at + 1);
    if (end === from) continue;
    words.push(shape.slice(from, end));
    before.push(from === 0 ? 0 : shape.charCodeAt(from - 1));
    after.push(end < shape.length ? shape.charCodeAt(end) : 0);
    structure += shape.slice(copied, from) + MARK;
    copied = end;
  }
  return { structure: structure + shape.slice(copied), words, before, after };
}

/** The end of the word at `from`, or `from`. `LOCAL(<*>)` is one word; the full stop of a sentence is none. */
function wordEnd(shape: string, from: number): number {
  let end = from;
  let telling = 0;
  let capitals = true;
  while (end < shape.length) {
    const code = shape.charCodeAt(end);
    if (isName(code)) telling = end + 1;
    else if (!isJoint(code)) break;
    if (!isUpper(code)) capitals = false;
    end++;
  }
  if (telling === 0) return from;
  if (
    capitals &&
    shape.charCodeAt(telling) === OPEN_PAREN &&
    shape.charCodeAt(telling + 1) === WILD
  ) {
    if (shape.charCodeAt(telling + 2) === OPEN_PAREN + 1) return telling + 3;
  }
  return telling;
}

function isName(code: number): boolean {
  if (code === WILD || code === SLOT || code === UNDERSCORE) return true;
  const kind = classOf(code);
  return kind === LETTER || kind === DIGIT || kind === WIDE || kind === SURROGATE;
}

function isJoint(code: number): boolean {
  return (
    code === DASH ||
    code === DOT ||
    code === DOLLAR ||
    code === HASH ||
    code === SLASH ||
    code === AT ||
    code === PLUS
  );
}

/** A hash of each word and its place. */
export function marksOf(words: readonly string[]): Int32Array {
  const marks = new Int32Array(words.length);
  for (let i = 0; i < words.length; i++) {
    marks[i] = hashOf(words[i] as string, Math.imul(i + 1, 0x9e3779b1));
  }
  return marks;
}

/** A 32-bit hash of a text; equal hashes are always verified by comparing. */
export function hashOf(text: string, seed: number): number {
  let hash = seed ^ text.length;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return hash ^ (hash >>> 13);
}
