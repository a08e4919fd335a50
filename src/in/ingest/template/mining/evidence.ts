import { COLON, LOWER_D, SPACE } from "../text/codes.ts";
import { SLOT, WILD } from "../text/marks.ts";
import { NAMING, PREPOSITIONS, TELLING } from "../text/words.ts";
import { hashOf, type Tokens, tokensOf } from "./tokens.ts";

/** A shape, or a pattern of shapes, with a fixed word in each place. */
interface Witness {
  /** The shape or pattern. */
  readonly words: string;
  /** A hash of each word. */
  readonly marks: Int32Array;
  /** Whether it was evicted. */
  readonly dead: boolean;
}

/** Witnesses that differ only in the word in one place, which is therefore variable. */
export interface Variation<W extends Witness> {
  place: number;
  witnesses: W[];
}

const WILD_WORD = String.fromCharCode(WILD);
const SLOT_WORD = String.fromCharCode(SLOT);
/** More witnesses than any threshold needs. */
const MOST_WITNESSES = 24;

const WINDOW = 8;
const SMALLEST = 1_024;

/**
 * Finds shapes that differ in a single word, by a table from a shape without one of its words to the shapes with it.
 * Bounded: above the limit a new observation replaces another.
 */
export class Evidence<W extends Witness> {
  #low = new Int32Array(SMALLEST);
  #high = new Int32Array(SMALLEST);
  #seen: (W | W[] | undefined)[] = new Array(SMALLEST).fill(undefined);
  #used = 0;
  #turn = 0;
  readonly #limit: number;

  /** `limit`: most observations, rounded up to a power of two. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /**
   * Adds a witness; returns each place whose word is now known to be variable. Skips places that are variable in
   * `pattern`, and words that distinguish events.
   */
  add(witness: W, tokens: Tokens, pattern: Tokens | null): Variation<W>[] {
    const findings: Variation<W>[] = [];
    const { words } = tokens;
    const { marks } = witness;
    let low = hashOf(tokens.structure, 0x9747b28c);
    let high = ~low;
    for (const mark of marks) {
      low = (low + mark) | 0;
      high = (high + Math.imul(mark, 0x85ebca6b)) | 0;
    }
    for (let i = 0; i < marks.length; i++) {
      const word = words[i] as string;
      if (word === SLOT_WORD || pattern?.words[i] === SLOT_WORD || tells(tokens, i, word)) continue;
      const mark = marks[i] as number;
      const group = this.#note(
        (low - mark) ^ Math.imul(i + 1, 0xc2b2ae35),
        (high - Math.imul(mark, 0x85ebca6b)) | 0,
        witness,
      );
      if (group === null) continue;
      const witnesses = verdict(group, tokens, i);
      if (witnesses !== null) findings.push({ place: i, witnesses });
    }
    return findings;
  }

  #note(low: number, high: number, witness: W): W[] | null {
    const at = this.#find(low, high);
    const seen = this.#seen[at];
    if (seen === undefined || this.#low[at] !== low || this.#high[at] !== high) {
      if (seen === undefined) this.#used++;
      this.#low[at] = low;
      this.#high[at] = high;
      this.#seen[at] = witness;
      if (this.#used * 2 > this.#seen.length && this.#seen.length < this.#limit) this.#grow();
      return null;
    }
    if (!Array.isArray(seen)) {
      const pair = [seen, witness];
      this.#seen[at] = pair;
      return pair;
    }
    if (seen.length >= MOST_WITNESSES) {
      const dead = seen.findIndex((one) => one.dead);
      seen.splice(Math.max(dead, 0), 1);
    }
    seen.push(witness);
    return seen;
  }

  /** The slot of the key, or a free one for it. */
  #find(low: number, high: number): number {
    const mask = this.#seen.length - 1;
    for (let i = 0; i < WINDOW; i++) {
      const at = (low + i) & mask;
      if (this.#seen[at] === undefined) return at;
      if (this.#low[at] === low && this.#high[at] === high) return at;
    }
    this.#turn = (this.#turn + 1) % WINDOW;
    return (low + this.#turn) & mask;
  }

  #grow(): void {
    const [low, high, seen] = [this.#low, this.#high, this.#seen];
    const size = seen.length * 4;
    this.#low = new Int32Array(size);
    this.#high = new Int32Array(size);
    this.#seen = new Array(size).fill(undefined);
    for (let i = 0; i < seen.length; i++) {
      if (seen[i] === undefined) continue;
      const at = this.#find(low[i] as number, high[i] as number);
      this.#low[at] = low[i] as number;
      this.#high[at] = high[i] as number;
      this.#seen[at] = seen[i];
    }
  }
}

/** The witnesses whose word in this place is variable, when there are enough; else null. */
function verdict<W extends Witness>(group: W[], tokens: Tokens, place: number): W[] | null {
  const needed = threshold(tokens, place);
  if (needed === 0) return null;
  const values: W[] = [];
  const distinct = new Set<string>();
  let masked = false;
  for (const witness of group) {
    if (witness.dead) continue;
    const other = tokensOf(witness.words);
    const word = other.words[place] ?? "";
    if (!sameBut(tokens, other, place)) continue;
    values.push(witness);
    if (word === WILD_WORD) masked = true;
    else distinct.add(word);
  }
  if (distinct.size === 0) return null;
  return (masked && needed <= 5) || distinct.size >= needed ? values : null;
}

function sameBut(a: Tokens, b: Tokens, place: number): boolean {
  if (a.structure !== b.structure) return false;
  for (let i = 0; i < a.words.length; i++) {
    if (i !== place && a.words[i] !== b.words[i]) return false;
  }
  return true;
}

/** First and last letter and length: words that differ here needn't be hashed. */
function outline(word: string): number {
  const { length } = word;
  const ends = ((word.charCodeAt(0) & 63) << 5) | (word.charCodeAt(length - 1) & 31);
  return (ends << 4) | Math.min(length, 15);
}

const MAY_TELL = new Uint8Array(32_768);
for (const word of TELLING) MAY_TELL[outline(word)] = 1;

/** Words that distinguish events: `true`, `GET`, and, where no name is expected, most that end like a verb. */
export function tells(tokens: Tokens, place: number, word: string): boolean {
  const { length } = word;
  if (MAY_TELL[outline(word)] === 1 && TELLING.has(word)) return true;
  if (length < 5) return false;
  const isVerb =
    word.charCodeAt(length - 1) === LOWER_D ? word.endsWith("ed") : word.endsWith("ing");
  return isVerb && !isNamed(tokens, place);
}

/** Whether the word before announces a name: `user …`, `topic …`. */
function isNamed({ words, before }: Tokens, place: number): boolean {
  return place > 0 && before[place] === SPACE && NAMING.has(words[place - 1] as string);
}

/** How many different words a place needs to count as variable; 0: it never does. */
function threshold(tokens: Tokens, place: number): number {
  const { words, after } = tokens;
  let others = 0;
  for (let i = 0; i < words.length; i++) {
    if (i !== place && isConstant(words[i] as string) && after[i] !== COLON) others++;
  }
  if (others === 0) return 0;
  if (isNamed(tokens, place)) return 3;
  if (place === 0) return others > 1 ? 16 : 0;
  if (others < 2) return 8;
  return PREPOSITIONS.has(words[place - 1] ?? "") ? 4 : 5;
}

function isConstant(word: string): boolean {
  return word !== SLOT_WORD && word !== WILD_WORD && word.length > 1;
}
