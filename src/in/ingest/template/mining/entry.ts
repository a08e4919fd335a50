import { textOfShape } from "../text/marks.ts";
import { marksOf, type Tokens, tokensOf } from "./tokens.ts";

/** Shapes of one structure whose words differ only in known places. */
export interface Pattern {
  /** The shape with a mark in the places that vary. */
  readonly words: string;
  readonly tokens: Tokens;
  readonly marks: Int32Array;
  /** The shape it was made for; its root is the template. */
  readonly owner: Entry;
  dead: boolean;
}

/** Everything of one structure: shapes that are equal but for their words. */
export interface Bucket {
  readonly structure: string;
  readonly entries: Set<Entry>;
  patterns: Pattern[];
}

const NO_MARKS = new Int32Array(0);

/** A pattern of a root. */
export function patternOf(owner: Entry, words: string): Pattern {
  const tokens = tokensOf(words);
  return { words, tokens, marks: marksOf(tokens.words), owner, dead: false };
}

/** One masked shape and what became of it. A root is its own root; an alias names an older shape. */
export class Entry {
  readonly id: string;
  readonly shape: string;
  /** Rises with every new shape: who is older. */
  readonly order: number;
  root: Entry = this;
  text: string;
  version = 1;
  pattern: Pattern | null = null;
  bucket: Bucket | null = null;
  /** A hash for each word, to compare many quickly. */
  marks: Int32Array = NO_MARKS;
  /** The shapes merged into this root. */
  aliases: Set<Entry> | null = null;
  dead = false;
  changed = false;
  /** Neighbours in the order of last use. */
  older: Entry | null = null;
  newer: Entry | null = null;

  constructor(id: string, shape: string, order: number) {
    this.id = id;
    this.shape = shape;
    this.order = order;
    this.text = textOfShape(shape);
  }

  /** What a person reads of this shape alone. */
  get ownText(): string {
    return textOfShape(this.shape);
  }

  /** What evidence compares. */
  get words(): string {
    return this.shape;
  }
}

/** The entries by last use. A root is always used with its aliases, so it never goes before them. */
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
