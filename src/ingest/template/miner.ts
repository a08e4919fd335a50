import { hash } from "node:crypto";
import { textOfShape } from "./buffer.ts";
import { SLOT } from "./chars.ts";
import { Entry, Recency } from "./entry.ts";
import { Evidence, type Finding } from "./evidence.ts";
import { coversWords, joinWords, type Pattern, Patterns } from "./patterns.ts";
import { minerRules, Shaper } from "./shape.ts";
import { readState, writeState } from "./state.ts";
import { type Tokens, tokensOf } from "./tokens.ts";

export { minerRules } from "./shape.ts";

/** A stored template. A merge is a row whose `aliasOf` is set; what `state` holds is the miner's own affair. */
export interface MinerRow {
  /** 16 lower-case hex characters: a hash of the shape, and what ingest answers for its lines. */
  id: string;
  shape: string;
  text: string;
  /** The root's id; null for a root. */
  aliasOf: string | null;
  state: string;
}

/** A root. Its identity is stable while it lives, so callers may hang caches on it. */
export interface Template {
  readonly id: string;
  /** What a person reads, with `<*>` for what varies. */
  readonly text: string;
  /** Rises whenever the text changes. */
  readonly version: number;
}

export interface Mined {
  /** The id of the line's own shape: always the same for the same line. */
  readonly id: string;
  readonly root: Template;
}

export interface MinerChanges {
  /** To be written, by id. */
  rows: MinerRow[];
  merged: { younger: string; older: string }[];
  /** Ids whose rows may go: used least recently, past the limit. */
  evicted: string[];
}

export interface Miner {
  /** Never throws, whatever the message holds. */
  mine(message: string): Mined;
  /** What changed since it was last taken; to be written in the transaction that holds the lines. */
  takeChanges(): MinerChanges;
  /** The root's id; an id that isn't known comes back as it is. */
  rootOf(id: string): string;
  /** Shapes held, aliases included. */
  readonly size: number;
  /** Shapes evicted since the start. */
  readonly overflowed: number;
}

export interface MinerOptions {
  /** The most shapes held; the least recently used go first. */
  limit: number;
  /** What earlier miners wrote, in any order. */
  rows: Iterable<MinerRow>;
}

/** A miner that knows everything earlier ones wrote: the same line gets the same id, and the same root. */
export function createMiner(options: MinerOptions): Miner {
  return new TemplateMiner(options);
}

type Witness = Entry | Pattern<Entry>;

class TemplateMiner implements Miner {
  overflowed = 0;
  readonly #limit: number;
  readonly #shaper = new Shaper();
  readonly #byShape = new Map<string, Entry>();
  readonly #byId = new Map<string, Entry>();
  readonly #byStructure = new Map<string, Entry[]>();
  readonly #recency = new Recency();
  readonly #patterns = new Patterns<Entry>();
  readonly #evidence: Evidence<Witness>;
  #order = 0;
  #changed: Entry[] = [];
  #merged: { younger: string; older: string }[] = [];
  #evicted = new Set<string>();

  constructor({ limit, rows }: MinerOptions) {
    this.#limit = Math.max(1, limit);
    this.#evidence = new Evidence(this.#limit * 10);
    this.#restore(rows);
  }

  get size(): number {
    return this.#byId.size;
  }

  mine(message: string): Mined {
    const shape = this.#shaper.shapeOf(message);
    const entry = this.#byShape.get(shape) ?? this.#first(shape);
    this.#recency.touch(entry);
    if (entry.root !== entry) this.#recency.touch(entry.root);
    return entry;
  }

  rootOf(id: string): string {
    return this.#byId.get(id)?.root.id ?? id;
  }

  takeChanges(): MinerChanges {
    const rows = this.#changed.filter((entry) => !entry.dead).map(rowOf);
    for (const entry of this.#changed) entry.changed = false;
    const changes = { rows, merged: this.#merged, evicted: [...this.#evicted] };
    this.#changed = [];
    this.#merged = [];
    this.#evicted = new Set();
    return changes;
  }

  /** A shape at its first sight: an alias when a pattern covers it, else a template of its own. */
  #first(shape: string): Entry {
    if (this.#byId.size >= this.#limit) this.#evict();
    const entry = new Entry(this.#idOf(shape), shape, ++this.#order);
    const tokens = tokensOf(shape);
    this.#hold(entry, tokens);
    this.#evicted.delete(entry.id);
    this.#change(entry);
    const pattern = this.#patterns.find(tokens);
    if (pattern !== undefined) this.#merge(entry, pattern.owner.root);
    for (const finding of this.#evidence.add(entry, tokens, true))
      this.#generalise(finding, tokens);
    return entry;
  }

  /** A hash of the shape. Two shapes with one hash are told apart by trying the next. */
  #idOf(shape: string): string {
    let id = hash("sha256", shape, "hex").slice(0, 16);
    for (let i = 1; this.#byId.has(id); i++) {
      id = hash("sha256", `${shape}\u0000${i}`, "hex").slice(0, 16);
    }
    return id;
  }

  #hold(entry: Entry, tokens: Tokens): void {
    this.#byShape.set(entry.shape, entry);
    this.#byId.set(entry.id, entry);
    const bucket = this.#byStructure.get(tokens.structure);
    if (bucket === undefined) this.#byStructure.set(tokens.structure, [entry]);
    else bucket.push(entry);
    this.#recency.touch(entry);
  }

  /** Makes one template of witnesses that differ in one word, and of every shape the wider pattern covers. */
  #generalise({ place, witnesses }: Finding<Witness>, tokens: Tokens): void {
    const roots = new Set(
      witnesses.map((one) => (one instanceof Entry ? one.root : one.owner.root)),
    );
    let oldest: Entry | null = null;
    const words = [...tokens.words];
    words[place] = String.fromCharCode(SLOT);
    for (const root of roots) {
      if (oldest === null || root.order < oldest.order) oldest = root;
      widen(words, root.pattern, tokens.structure);
    }
    if (oldest === null || !words.some(isFixed)) return;
    const text = joinWords(tokens.structure, words);
    if (oldest.pattern?.words === text) {
      for (const root of roots) this.#merge(root, oldest);
      return;
    }
    for (const root of roots) this.#merge(root, oldest);
    this.#setPattern(oldest, text);
    const pattern = oldest.pattern;
    if (pattern === null) return;
    this.#sweep(pattern);
    for (const finding of this.#evidence.add(pattern, pattern.tokens, true)) {
      this.#generalise(finding, pattern.tokens);
    }
  }

  /** Merges every template of the structure that the pattern covers. */
  #sweep(pattern: Pattern<Entry>): void {
    const bucket = this.#byStructure.get(pattern.tokens.structure) ?? [];
    for (const entry of bucket) {
      const root = pattern.owner.root;
      if (entry.root === root || !coversWords(pattern.tokens, tokensOf(entry.shape).words))
        continue;
      if (entry.root.order < root.order) this.#adopt(entry.root, root);
      else this.#merge(entry.root, root);
    }
  }

  /** The older of two roots takes the younger and its pattern. */
  #adopt(older: Entry, younger: Entry): void {
    const words = younger.pattern?.words ?? "";
    this.#merge(younger, older);
    if (words !== "" && older.pattern === null) this.#setPattern(older, words);
  }

  #setPattern(root: Entry, words: string): void {
    if (root.pattern !== null) this.#patterns.remove(root.pattern);
    root.pattern = { words, tokens: tokensOf(words), owner: root, dead: false };
    this.#patterns.add(root.pattern);
    const text = textOfShape(words);
    if (text !== root.text) {
      root.text = text;
      root.version++;
    }
    this.#change(root);
  }

  #merge(younger: Entry, older: Entry): void {
    if (younger === older) return;
    const moved = younger.aliases ?? [];
    younger.aliases = null;
    if (younger.pattern !== null) this.#patterns.remove(younger.pattern);
    younger.pattern = null;
    older.aliases ??= [];
    for (const entry of [younger, ...moved]) {
      if (entry.dead) continue;
      entry.root = older;
      older.aliases.push(entry);
      this.#change(entry);
    }
    this.#recency.touch(older);
    this.#merged.push({ younger: younger.id, older: older.id });
  }

  #change(entry: Entry): void {
    if (entry.changed) return;
    entry.changed = true;
    this.#changed.push(entry);
  }

  #evict(): void {
    const entry = this.#recency.oldest;
    if (entry === null) return;
    entry.dead = true;
    this.overflowed++;
    this.#recency.remove(entry);
    this.#byShape.delete(entry.shape);
    this.#byId.delete(entry.id);
    if (entry.pattern !== null) this.#patterns.remove(entry.pattern);
    this.#release(entry);
    this.#evicted.add(entry.id);
  }

  #release(entry: Entry): void {
    const { structure } = tokensOf(entry.shape);
    const bucket = this.#byStructure.get(structure) ?? [];
    const at = bucket.indexOf(entry);
    if (at >= 0) bucket.splice(at, 1);
    if (bucket.length === 0) this.#byStructure.delete(structure);
    const aliases = entry.root.aliases;
    if (entry.root !== entry && aliases !== null) {
      const place = aliases.indexOf(entry);
      if (place >= 0) aliases.splice(place, 1);
    }
  }

  #restore(rows: Iterable<MinerRow>): void {
    const known = [...rows].map((row) => ({ row, state: readState(row.state) }));
    known.sort((a, b) => a.state.order - b.state.order || (a.row.id < b.row.id ? -1 : 1));
    for (const { row, state } of known) {
      const tokens = tokensOf(row.shape);
      this.#order = Math.max(this.#order, state.order);
      const entry = new Entry(row.id, row.shape, state.order);
      this.#hold(entry, tokens);
      const root = row.aliasOf === null ? undefined : this.#byId.get(row.aliasOf);
      if (root !== undefined) this.#link(entry, root.root);
      if (state.pattern !== "") this.#setPattern(entry, state.pattern);
      this.#evidence.add(entry, tokens, false);
      if (entry.pattern !== null) this.#evidence.add(entry.pattern, entry.pattern.tokens, false);
    }
    for (const entry of this.#changed) entry.changed = false;
    this.#changed = [];
    while (this.#byId.size > this.#limit) this.#evict();
  }

  #link(entry: Entry, root: Entry): void {
    entry.root = root;
    root.aliases ??= [];
    root.aliases.push(entry);
    this.#recency.touch(root);
  }
}

function isFixed(word: string): boolean {
  return word.charCodeAt(0) !== SLOT && word.length > 1;
}

/** Where a root's pattern already varies, the wider one does too. */
function widen(words: string[], pattern: Pattern<Entry> | null, structure: string): void {
  if (pattern === null || pattern.tokens.structure !== structure) return;
  pattern.tokens.words.forEach((word, i) => {
    if (!isFixed(word) && word.charCodeAt(0) === SLOT) words[i] = word;
  });
}

function rowOf(entry: Entry): MinerRow {
  const { id, shape, text, order } = entry;
  const state = writeState({ rules: minerRules, order, pattern: entry.pattern?.words ?? "" });
  return { id, shape, text, aliasOf: entry.root === entry ? null : entry.root.id, state };
}
