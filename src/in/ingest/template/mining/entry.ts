import { hash } from "node:crypto";
import { bothNames, textOfShape, withoutNames } from "../text/marks.ts";
import { marksOf, type Tokens, tokensOf } from "./tokens.ts";

/** Shapes of one structure whose words differ only in known places. */
export interface Pattern {
  /** The shape, with a mark in the variable places. */
  readonly words: string;
  readonly tokens: Tokens;
  readonly marks: Int32Array;
  /** The shape that it was made for, whose root is the template. */
  readonly owner: Entry;
  dead: boolean;
}

/** All shapes of one structure, which differ only in their words. */
export interface Bucket {
  readonly structure: string;
  readonly entries: Set<Entry>;
  patterns: Pattern[];
}

const NO_MARKS = new Int32Array(0);

export function patternOf(owner: Entry, words: string): Pattern {
  const tokens = tokensOf(words);
  return { words, tokens, marks: marksOf(tokens.words), owner, dead: false };
}

/** A shape's id. `n`: the ids before it are other shapes'. */
export const idOfShape = (shape: string, n = 0): string =>
  hash("sha256", n === 0 ? shape : `${shape}\u0000${n}`, "hex").slice(0, 16);

/** A general shape and its template. A root is its own root; an alias has an older root. */
export class Entry {
  readonly id: string;
  /** With one mark for every variable part. */
  readonly shape: string;
  /** The shape with its names marked as such. */
  named: string;
  /** Itself: an entry stands for the lines that have no names. */
  readonly entry: Entry = this;
  /** Grows with every new shape: a smaller one is older. */
  readonly order: number;
  root: Entry = this;
  /** Whether it is known that lines of this shape have no names. */
  isPlain = false;
  text: string;
  version = 1;
  pattern: Pattern | null = null;
  bucket: Bucket | null = null;
  /** A hash of each word, for fast comparisons. */
  marks: Int32Array = NO_MARKS;
  /** The shapes merged into this root. */
  aliases: Set<Entry> | null = null;
  dead = false;
  changed = false;
  /** Neighbours in the order of last use. */
  older: Entry | null = null;
  newer: Entry | null = null;

  constructor(id: string, named: string, order: number) {
    this.id = id;
    this.shape = withoutNames(named);
    this.named = named;
    this.order = order;
    this.text = textOfShape(named);
  }

  asPlain(): this {
    this.isPlain = true;
    return this;
  }

  /** Notes where names stand. Returns whether that was not known. */
  learnNames(named: string): boolean {
    const both = bothNames(this.named, named);
    if (both === this.named) return false;
    this.named = both;
    return true;
  }

  get hasNames(): boolean {
    return false;
  }

  /** The text of this shape alone, for people. */
  get ownText(): string {
    return textOfShape(this.shape);
  }

  /** The words that evidence compares. */
  get words(): string {
    return this.shape;
  }
}

/** A line's shape with its names in it, and the general shape that it has. */
export class NamedShape {
  readonly entry: Entry;
  readonly #shape: string;

  constructor(entry: Entry, shape: string) {
    this.entry = entry;
    this.#shape = shape;
  }

  get id(): string {
    return this.entry.id;
  }

  get hasNames(): boolean {
    return true;
  }

  get root(): Entry {
    return this.entry.root;
  }

  get ownText(): string {
    return textOfShape(this.#shape);
  }
}

/** The entries by last use. Using an alias uses its root, too, so a root never goes before its aliases. */
export class Recency {
  #oldest: Entry | null = null;
  #newest: Entry | null = null;

  get oldest(): Entry | null {
    return this.#oldest;
  }

  touch(entry: Entry): void {
    if (this.#newest === entry) return;
    this.remove(entry);
    entry.older = this.#newest;
    if (this.#newest !== null) this.#newest.newer = entry;
    this.#newest = entry;
    if (this.#oldest === null) this.#oldest = entry;
  }

  remove(entry: Entry): void {
    const { older, newer } = entry;
    if (older !== null) older.newer = newer;
    else if (this.#oldest === entry) this.#oldest = newer;
    if (newer !== null) newer.older = older;
    else if (this.#newest === entry) this.#newest = older;
    entry.older = null;
    entry.newer = null;
  }
}
