import { SLOT } from "./chars.ts";
import type { Bucket, Entry, Pattern } from "./entry.ts";
import { Evidence, type Finding, tells } from "./evidence.ts";
import { type Tokens, tokensOf } from "./tokens.ts";

const SLOT_WORD = String.fromCharCode(SLOT);
/** Patterns looked at for one new shape. */
const MOST_PATTERNS = 32;

/** What the miner does when templates change; the decisions are made here. */
export interface MergeEffects {
  /** The younger root and its aliases become aliases of the older. */
  merge(younger: Entry, older: Entry): void;
  /** The root's words have become more general. */
  generalise(root: Entry, pattern: Pattern): void;
}

/** Finds out which shapes are one template: late, on evidence, and the same whatever the order of lines. */
export class Merging {
  readonly #buckets = new Map<string, Bucket>();
  readonly #evidence: Evidence<Entry | Pattern>;
  readonly #effects: MergeEffects;

  constructor(limit: number, effects: MergeEffects) {
    this.#evidence = new Evidence(limit * 4);
    this.#effects = effects;
  }

  /** A shape at its first sight: an alias where a pattern covers it; and one more witness of what varies. */
  add(entry: Entry): void {
    const tokens = this.#hold(entry);
    const pattern = entry.bucket?.patterns.find((one) => covers(one.tokens, tokens.words));
    if (pattern !== undefined) this.#effects.merge(entry, pattern.owner.root);
    for (const finding of this.#evidence.add(entry, tokens, true)) this.#widen(finding, tokens);
  }

  /** A stored shape: what it taught is known again, and nothing is decided anew. */
  restore(entry: Entry, pattern: string): void {
    this.#evidence.add(entry, this.#hold(entry), false);
    if (pattern === "") return;
    const restored = this.#setPattern(entry, pattern);
    this.#evidence.add(restored, restored.tokens, false);
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
    return tokens;
  }

  /** Makes one template of witnesses that differ in one word, and of every shape the wider pattern covers. */
  #widen({ place, witnesses }: Finding<Entry | Pattern>, tokens: Tokens): void {
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
    this.#effects.generalise(oldest, pattern);
    this.#sweep(pattern);
    for (const finding of this.#evidence.add(pattern, pattern.tokens, true)) {
      this.#widen(finding, pattern.tokens);
    }
  }

  /** Merges every template of the structure that the pattern covers. */
  #sweep(pattern: Pattern): void {
    for (const entry of pattern.owner.bucket?.entries ?? []) {
      const root = pattern.owner.root;
      if (entry.root === root || !covers(pattern.tokens, tokensOf(entry.shape).words)) continue;
      if (entry.root.order > root.order) {
        this.#merge(entry.root, root);
        continue;
      }
      const older = entry.root;
      this.#merge(root, older);
      if (older.pattern === null) {
        this.#effects.generalise(older, this.#setPattern(older, pattern.words));
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
    const pattern = { words, tokens: tokensOf(words), owner: root, dead: false };
    root.pattern = pattern;
    const { bucket } = root;
    if (bucket !== null) {
      bucket.patterns.push(pattern);
      if (bucket.patterns.length > MOST_PATTERNS) this.#dropPattern(bucket.patterns[0]?.owner);
    }
    return pattern;
  }

  #dropPattern(root: Entry | undefined): void {
    const pattern = root?.pattern;
    if (root === undefined || pattern === null || pattern === undefined) return;
    pattern.dead = true;
    root.pattern = null;
    if (root.bucket === null) return;
    root.bucket.patterns = root.bucket.patterns.filter((one) => one !== pattern);
  }
}

/** Whether words of the pattern's structure fit it. */
function covers(pattern: Tokens, words: readonly string[]): boolean {
  for (let i = 0; i < words.length; i++) {
    const expected = pattern.words[i];
    if (expected === words[i]) continue;
    if (expected !== SLOT_WORD || tells(pattern, i, words[i] as string)) return false;
  }
  return true;
}

/** A structure's words put back into it. */
function joinWords(structure: string, words: readonly string[]): string {
  let next = 0;
  return structure.replaceAll(SLOT_WORD, () => words[next++] ?? "");
}

/** Where a root's pattern already varies, the wider one does too. */
function keepSlots(words: string[], pattern: Pattern | null, structure: string): void {
  if (pattern === null || pattern.tokens.structure !== structure) return;
  pattern.tokens.words.forEach((word, i) => {
    if (word === SLOT_WORD) words[i] = word;
  });
}
