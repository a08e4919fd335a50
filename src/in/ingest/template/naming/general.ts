import { ShapeBuffer } from "../text/buffer.ts";
import { classOf, QUOTE, SEPARATOR } from "../text/classes.ts";
import {
  BACKSLASH,
  BANG,
  CLOSE_PAREN,
  COLON,
  COMMA,
  DOT,
  OPEN_BRACKET,
  OPEN_PAREN,
  QUESTION,
  SPACE,
} from "../text/codes.ts";
import { HEADER, NAME, REST, WILD } from "../text/marks.ts";
import { announces, announcesList, isVerb, type Word } from "./grammar.ts";
import { isQuoted, listEnd, nameEnd } from "./rules.ts";
import { COUNTED } from "./words.ts";

/** `1 file` is written as `2 files`: the plural, or null. */
function pluralOf({ shape, from, to, previous }: Word): string | null {
  if (previous.length !== 1 || previous.charCodeAt(0) !== WILD || to - from > 12) return null;
  const word = shape.slice(from, to);
  if (!COUNTED.has(word) || (to < shape.length && !endsCount(shape.charCodeAt(to)))) return null;
  if (word.endsWith("ry")) return `${word.slice(0, -1)}ies`;
  return /(?:s|ch)$/.test(word) ? `${word}es` : `${word}s`;
}

function endsCount(code: number): boolean {
  return code === SPACE || code === COMMA || code === DOT || code === CLOSE_PAREN;
}

/** Makes general shapes: those in which names vary, too. One for each miner; not re-entrant. */
export class Namer {
  readonly #buffer = new ShapeBuffer();
  readonly #word: Word = {
    shape: "",
    from: 0,
    to: 0,
    previous: "",
    colon: false,
    first: true,
    plain: false,
  };
  /** Up to where the shape was copied; 0 while nothing changed. */
  #copied = 0;

  /** The shape with a mark for each name; the same string where nothing changes. */
  generalOf(shape: string): string {
    const word = this.#word;
    this.#buffer.reset();
    this.#copied = 0;
    word.shape = shape;
    word.previous = "";
    word.colon = false;
    word.first = true;
    let at = 0;
    while (at < shape.length && shape.charCodeAt(at) !== REST) {
      const end = this.#wordEnd(at);
      if (end === at) {
        at = this.#passSign(at);
        continue;
      }
      word.from = at;
      word.to = tailStart(shape, at, end);
      at = this.#putName() || this.#putCounted() || this.#passWord();
    }
    if (this.#copied === 0) return shape;
    this.#buffer.putText(shape, this.#copied);
    return this.#buffer.toString();
  }

  /** A word ends at a blank, a separator, a quote or an escaped line break. */
  #wordEnd(from: number): number {
    const { shape } = this.#word;
    let at = from;
    let plain = true;
    let tail = false;
    for (; at < shape.length; at++) {
      const code = shape.charCodeAt(at);
      if (code >= 97 && code <= 122) {
        if (tail) plain = false;
        continue;
      }
      if (code === SPACE || code === BACKSLASH || (code <= REST && code >= HEADER)) break;
      const kind = classOf(code);
      if (kind === SEPARATOR || kind === QUOTE) break;
      if (isTail(code)) tail = true;
      else plain = false;
    }
    this.#word.plain = plain;
    return at;
  }

  #passSign(at: number): number {
    const word = this.#word;
    const code = word.shape.charCodeAt(at);
    const opens = code === OPEN_BRACKET || code === OPEN_PAREN;
    if (code === OPEN_PAREN && word.shape.charCodeAt(at - 1) !== SPACE) word.previous = "";
    else if (opens) {
      const end = listEnd(word, at);
      if (end > 0) return this.#putList(at + 1, end);
    } else if (code !== SPACE) word.previous = "";
    if (code === BACKSLASH && at + 1 < word.shape.length) {
      word.first = true;
      return at + 2;
    }
    if (code === HEADER) word.first = true;
    else if (!opens) word.first = false;
    return at + 1;
  }

  /** Writes a mark for a name. Returns where the name ends, 0 for none. */
  #putName(): number {
    const word = this.#word;
    const end = nameEnd(word);
    if (end === 0) return 0;
    // a quoted name varies with its quotes, as a quoted number does
    this.#copyTo(end > word.to && isQuoted(word) ? word.from - 1 : word.from, end);
    this.#buffer.mask(NAME);
    word.previous = "";
    word.first = false;
    return end;
  }

  /** Writes one mark for a list of names in brackets, whose length varies, too. */
  #putList(from: number, end: number): number {
    this.#copyTo(from, end);
    this.#buffer.mask(NAME);
    this.#word.previous = "";
    this.#word.first = false;
    return end;
  }

  /** Writes what is counted in the plural. */
  #putCounted(): number {
    const word = this.#word;
    const plural = pluralOf(word);
    if (plural === null) return 0;
    const singular = word.shape.slice(word.from, word.to);
    this.#copyTo(word.from, word.to);
    // the number and what it counts vary together: a mark says that lines have another text here
    this.#buffer.length--;
    this.#buffer.mask(NAME);
    this.#buffer.put(SPACE);
    this.#buffer.putText(plural);
    word.previous = singular;
    word.first = false;
    return word.to;
  }

  #passWord(): number {
    const word = this.#word;
    const { shape, from, to } = word;
    const isAlone = to - from === 1 && shape.charCodeAt(from) === WILD;
    if (isAlone && this.#copied > 0) {
      this.#copyTo(from, to);
      this.#buffer.mask();
    }
    const own = shape.slice(from, to);
    const announcesNone = isAlone ? announces(word.previous) : isVerb(own, word);
    word.previous = announcesNone ? "" : own;
    word.first = false;
    word.colon = shape.charCodeAt(to) === COLON && shape.charCodeAt(to + 1) === SPACE;
    if (!word.colon) return to;
    if (!announcesList(word.previous)) word.previous = "";
    return to + 1;
  }

  /** Copies the shape up to a word, and skips the word. */
  #copyTo(from: number, end: number): void {
    this.#buffer.putText(this.#word.shape, this.#copied, from);
    this.#copied = end;
  }
}

/** Where the punctuation behind a word begins. */
function tailStart(shape: string, from: number, end: number): number {
  let to = end;
  while (to > from + 1 && isTail(shape.charCodeAt(to - 1))) to--;
  return to;
}

function isTail(code: number): boolean {
  return code === DOT || code === COLON || code === BANG || code === QUESTION;
}
