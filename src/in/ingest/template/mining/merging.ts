import { SLOT } from "../text/marks.ts";
import { type Bucket, type Entry, type Pattern, patternOf } from "./entry.ts";
import { Evidence, tells, type Variation } from "./evidence.ts";
import { marksOf, type Tokens, tokensOf } from "./tokens.ts";

const SLOT_WORD = String.fromCharCode(SLOT);
/** Patterns compared with one new shape. */
const MOST_PATTERNS = 128;

/** What the miner does when templates change; this class decides. */
interface MergeEffects {
  /** The younger root and its aliases become aliases of the older. */
  merge(younger: Entry, older: Entry): void;
  /** The root's pattern has changed. */
  changed(root: Entry): void;
}

/** Finds shapes that are one template, once there is enough evidence, independent of the order of lines. */
export class Merging {
  readonly #buckets = new Map<string, Bucket>();
  readonly #evidence: Evidence<Entry | Pattern>;
  readonly #effects: MergeEffects;

  constructor(limit: number, effects: MergeEffects) {
    this.#evidence = new Evidence(limit * 4);
    this.#effects = effects;
  }

  /** Adds a new shape: it becomes an alias where a pattern covers it, and a witness of what is variable. */
  add(entry: Entry): void {
    const tokens = this.#hold(entry);
    const pattern = this.#covering(entry, tokens);
    if (pattern !== null) this.#effects.merge(entry, pattern.owner.root);
    const findings = this.#evidence.add(entry, tokens, pattern?.tokens ?? null);
    for (const finding of findings) this.#widen(finding, tokens);
  }

  /** Adds a stored shape, with its pattern if it is a root that has one. */
  restore(entry: Entry, words: string): void {
    this.#hold(entry);
    if (words !== "") this.#setPattern(entry, words);
  }

  /** Adds a stored shape as a witness, without new decisions. Called after every shape is restored. */
  relearn(entry: Entry): void {
    const tokens = tokensOf(entry.shape);
    this.#evidence.add(entry, tokens, this.#covering(entry, tokens)?.tokens ?? null);
    const { pattern } = entry;
    if (pattern !== null) this.#evidence.add(pattern, pattern.tokens, null);
  }

  /** Of the patterns that cover a shape, the oldest root's. */
  #covering(entry: Entry, tokens: Tokens): Pattern | null {
    let oldest: Pattern | null = null;
    for (const pattern of entry.bucket?.patterns ?? []) {
      if (oldest !== null && pattern.owner.order > oldest.owner.order) continue;
      if (mayCover(pattern, entry.marks) && covers(pattern.tokens, tokens.words)) oldest = pattern;
    }
    return oldest;
  }

  /** Makes two templates one: the older, with the pattern of either. */
  unite(one: Entry, other: Entry): void {
    if (one === other) return;
    const [older, younger] = one.order < other.order ? [one, other] : [other, one];
    const words = younger.bucket === older.bucket ? younger.pattern?.words : undefined;
    this.#merge(younger, older);
    if (words !== undefined && older.pattern === null) this.#setPattern(older, words);
  }

  remove(entry: Entry): void {
    this.#dropPattern(entry);
    const { bucket } = entry;
    if (bucket === null) return;
    bucket.entries.delete(entry);
    if (bucket.entries.size === 0) this.#buckets.delete(bucket.structure);
  }

  #hold(entry: Entry): Tokens {
    const tokens = tokensOf(entry.shape);
    let bucket = this.#buckets.get(tokens.structure);
    if (bucket === undefined) {
      bucket = { structure: tokens.structure, entries: new Set(), patterns: [] };
      this.#buckets.set(tokens.structure, bucket);
    }
    bucket.entries.add(entry);
    entry.bucket = bucket;
    entry.marks = marksOf(tokens.words);
    return tokens;
  }

  /** Merges witnesses that differ in one word, and every shape that the wider pattern covers. */
  #widen({ place, witnesses }: Variation<Entry | Pattern>, tokens: Tokens): void {
    const roots = new Set(witnesses.map((one) => ("owner" in one ? one.owner.root : one.root)));
    const oldest = [...roots].reduce((a, b) => (b.order < a.order ? b : a));
    const words = [...tokens.words];
    words[place] = SLOT_WORD;
    for (const root of roots) keepSlots(words, root.pattern, tokens.structure);
    if (!words.some((word) => word !== SLOT_WORD && word.length > 1)) return;
    const text = joinWords(tokens.structure, words);
    const known = oldest.pattern?.words === text;
    for (const root of roots) this.#merge(root, oldest);
    if (known) return;
    const pattern = this.#setPattern(oldest, text);
    this.#effects.changed(oldest);
    this.#sweep(pattern);
    for (const finding of this.#evidence.add(pattern, pattern.tokens, null)) {
      this.#widen(finding, pattern.tokens);
    }
  }

  /** Merges every template of the structure that the pattern covers. */
  #sweep(pattern: Pattern): void {
    for (const entry of pattern.owner.bucket?.entries ?? []) {
      const root = pattern.owner.root;
      if (entry.root === root || !mayCover(pattern, entry.marks)) continue;
      if (!covers(pattern.tokens, tokensOf(entry.shape).words)) continue;
      if (entry.root.order > root.order) {
        this.#merge(entry.root, root);
        continue;
      }
      const older = entry.root;
      this.#merge(root, older);
      if (older.pattern === null) {
        this.#setPattern(older, pattern.words);
        this.#effects.changed(older);
      }
    }
  }

  #merge(younger: Entry, older: Entry): void {
    if (younger === older) return;
    this.#dropPattern(younger);
    this.#effects.merge(younger, older);
  }

  #setPattern(root: Entry, words: string): Pattern {
    this.#dropPattern(root);
    const pattern = patternOf(root, words);
    root.pattern = pattern;
    const { bucket } = root;
    if (bucket !== null) {
      bucket.patterns.push(pattern);
      const first = bucket.patterns[0]?.owner;
      if (bucket.patterns.length > MOST_PATTERNS && first !== undefined) {
        this.#dropPattern(first);
        this.#effects.changed(first);
      }
    }
    return pattern;
  }

  #dropPattern(root: Entry): void {
    const { pattern } = root;
    if (pattern === null) return;
    pattern.dead = true;
    root.pattern = null;
    if (root.bucket === null) return;
    root.bucket.patterns = root.bucket.patterns.filter((one) => one !== pattern);
  }
}

/** Whether the hashes of the words match the pattern. */
function mayCover(pattern: Pattern, marks: Int32Array): boolean {
  const { words } = pattern.tokens;
  for (let i = 0; i < marks.length; i++) {
    if (pattern.marks[i] !== marks[i] && words[i] !== SLOT_WORD) return false;
  }
  return true;
}

/** Whether words of the pattern's structure match it. */
function covers(pattern: Tokens, words: readonly string[]): boolean {
  for (let i = 0; i < words.length; i++) {
    const expected = pattern.words[i];
    if (expected === words[i]) continue;
    if (expected !== SLOT_WORD || tells(pattern, i, words[i] as string)) return false;
  }
  return true;
}

/** Inserts words into a structure. */
function joinWords(structure: string, words: readonly string[]): string {
  let next = 0;
  return structure.replaceAll(SLOT_WORD, () => words[next++] ?? "");
}

/** Places that are variable in a root's pattern stay variable in the wider one. */
function keepSlots(words: string[], pattern: Pattern | null, structure: string): void {
  if (pattern === null || pattern.tokens.structure !== structure) return;
  pattern.tokens.words.forEach((word, i) => {
    if (word === SLOT_WORD) words[i] = word;
  });
}
