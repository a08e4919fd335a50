import { SLOT, WILD } from "./chars.ts";
import { hashOf, type Tokens, tokensOf } from "./tokens.ts";
import { NAMING, TELLING } from "./words.ts";

/** Something that has been seen with a fixed word in each place: a shape, or a pattern of shapes. */
export interface Witness {
  /** The shape or pattern. */
  readonly words: string;
  /** Whether it was evicted since. */
  readonly dead: boolean;
}

/** Witnesses that are equal but for the word in one place, which therefore varies. */
export interface Finding<W extends Witness> {
  place: number;
  witnesses: W[];
}

const WILD_WORD = String.fromCharCode(WILD);
const SLOT_WORD = String.fromCharCode(SLOT);
/** More witnesses than any threshold asks for. */
const MOST_WITNESSES = 24;
const COLON = 58;

/**
 * Collects which shapes differ in a single word. Bounded: the oldest observations go first.
 */
export class Evidence<W extends Witness> {
  readonly #seen = new Map<number, W | W[]>();
  readonly #limit: number;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Adds a witness; yields each place whose word is now known to vary, where `judge` is set. */
  add(witness: W, tokens: Tokens, judge: boolean): Finding<W>[] {
    const findings: Finding<W>[] = [];
    const { words } = tokens;
    const base = hashOf(tokens.structure, 0x9747b28c);
    const marks = words.map((word, i) => hashOf(word, Math.imul(i + 1, 0x9e3779b1)));
    let low = base;
    let high = ~base;
    for (let i = 0; i < marks.length; i++) {
      low = (low + (marks[i] as number)) | 0;
      high = (high + Math.imul(marks[i] as number, 0x85ebca6b)) | 0;
    }
    for (let i = 0; i < marks.length; i++) {
      if (words[i] === SLOT_WORD) continue;
      const mark = marks[i] as number;
      const a = (low - mark) ^ Math.imul(i + 1, 0xc2b2ae35);
      const b = (high - Math.imul(mark, 0x85ebca6b)) | 0;
      const group = this.#note((a >>> 0) * 2_097_152 + (b >>> 11), witness);
      if (!judge || group === null) continue;
      const witnesses = verdict(group, tokens, i);
      if (witnesses !== null) findings.push({ place: i, witnesses });
    }
    return findings;
  }

  #note(key: number, witness: W): W[] | null {
    const seen = this.#seen.get(key);
    if (seen === undefined) {
      if (this.#seen.size >= this.#limit) this.#forgetOldest();
      this.#seen.set(key, witness);
      return null;
    }
    if (!Array.isArray(seen)) {
      const pair = [seen, witness];
      this.#seen.set(key, pair);
      return pair;
    }
    if (seen.length >= MOST_WITNESSES) {
      const dead = seen.findIndex((one) => one.dead);
      seen.splice(Math.max(dead, 0), 1);
    }
    seen.push(witness);
    return seen;
  }

  #forgetOldest(): void {
    for (const key of this.#seen.keys()) {
      this.#seen.delete(key);
      return;
    }
  }
}

/** The witnesses whose word in this place varies, when there are enough of them; else null. */
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
    if (tells(tokens, place, word) || !sameBut(tokens, other, place)) continue;
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

/** Words that tell events apart: `true`, `GET`, and where no name is due, most that end like a verb's form. */
export function tells(tokens: Tokens, place: number, word: string): boolean {
  if (TELLING.has(word)) return true;
  return word.length > 4 && /(?:ed|ing)$/.test(word) && !isNamed(tokens, place);
}

/** Whether the word before says that a name follows: `user …`, `topic …`. */
function isNamed({ words, before }: Tokens, place: number): boolean {
  return place > 0 && before[place] === 32 && NAMING.has(words[place - 1] as string);
}

/** How many different words a place needs before it counts as a variable; 0: it never does. */
function threshold(tokens: Tokens, place: number): number {
  const { words, after } = tokens;
  let others = 0;
  for (let i = 0; i < words.length; i++) {
    if (i !== place && isConstant(words[i] as string) && after[i] !== COLON) others++;
  }
  if (others === 0) return 0;
  if (isNamed(tokens, place)) return 3;
  if (place === 0) return others > 1 ? 16 : 0;
  return others > 1 ? 5 : 8;
}

function isConstant(word: string): boolean {
  return word !== SLOT_WORD && word !== WILD_WORD && word.length > 1;
}
