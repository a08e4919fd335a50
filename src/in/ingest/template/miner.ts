/*
 * How a line becomes a template, folder by folder:
 *
 *   mining/lines     a cache: the shape of a line that differs from a recent one only in its digits
 *   reading/         from a message to its shape: skips stack frames and the header, reads the body as logfmt, JSON or prose
 *     header/        where the message begins, after time stamps, levels, hosts and loggers
 *     prose/         one pass by character class: separators, quotes, tokens
 *     values/        the kind of a token: a number, a time, a host, a name with a number in it, an id
 *   mining/          from shapes to templates: merges shapes once there is evidence which words vary
 *
 *   text/            used by all: codes, classes and marks of characters, word lists, the buffer
 *
 * A folder imports only from those below it: reading > header, prose > values > text. Mining imports only text.
 */
import { hash } from "node:crypto";
import { Entry, Recency } from "./mining/entry.ts";
import { LineCache } from "./mining/lines.ts";
import { Merging } from "./mining/merging.ts";
import { readState, writeState } from "./mining/state.ts";
import { minerRules, Shaper } from "./reading/shape.ts";
import { textOfShape, WILD_TEXT } from "./text/marks.ts";

export { minerRules } from "./reading/shape.ts";

/** A stored template. A merged one has `aliasOf`. Only the miner reads `state`. */
export interface MinerRow {
  /** 16 lower-case hex characters: a hash of the shape. Ingest answers it for the shape's lines. */
  id: string;
  shape: string;
  text: string;
  /** The root's id; null for a root. */
  aliasOf: string | null;
  state: string;
}

/** A root. The object stays the same while the root exists, so callers can cache by it. */
export interface Template {
  readonly id: string;
  /** For people, with `<*>` for the variable parts. */
  readonly text: string;
  /** Grows with each change of the text. */
  readonly version: number;
}

export interface Mined {
  /** The id of the line's own shape, always the same for the same line. */
  readonly id: string;
  readonly root: Template;
  /** The shape's text, as it was before any merge. Computed at each call. */
  readonly ownText: string;
}

export interface MinerChanges {
  /** Rows to write, by id. */
  rows: MinerRow[];
  /** Roots that became aliases, without shapes that were aliases from the start. */
  merged: { younger: string; older: string }[];
  /** Ids whose rows can be deleted: those used longest ago, above the limit. */
  evicted: string[];
}

export interface Miner {
  /** Never throws, whatever the message holds. */
  mine(message: string): Mined;
  /** The changes since the last call. Write them in the transaction that holds the lines. */
  takeChanges(): MinerChanges;
  /** The root's id; an unknown id is returned unchanged. */
  rootOf(id: string): string;
  /** Shapes in memory, with aliases. */
  readonly size: number;
  /** Shapes evicted since the start. */
  readonly overflowed: number;
}

export interface MinerOptions {
  /** The most shapes in memory; above it those used longest ago are evicted. */
  limit: number;
  /** The rows that earlier miners wrote, in any order. */
  rows: Iterable<MinerRow>;
}

/** A miner with the rows of earlier ones: the same line gets the same id and root. */
export function createMiner(options: MinerOptions): Miner {
  return new TemplateMiner(options);
}

class TemplateMiner implements Miner {
  overflowed = 0;
  readonly #limit: number;
  readonly #shaper = new Shaper();
  readonly #lines = new LineCache<Entry>();
  readonly #byShape = new Map<string, Entry>();
  readonly #byId = new Map<string, Entry>();
  readonly #recency = new Recency();
  readonly #merging: Merging;
  #order = 0;
  /** A shape that is being seen for the first time. */
  #newborn: Entry | null = null;
  #changed: Entry[] = [];
  #merged: { younger: string; older: string }[] = [];
  #evicted = new Set<string>();

  constructor({ limit, rows }: MinerOptions) {
    this.#limit = Math.max(1, limit);
    this.#merging = new Merging(this.#limit, {
      merge: (younger, older) => this.#merge(younger, older),
      changed: (root) => this.#retell(root),
    });
    this.#restore(rows);
  }

  get size(): number {
    return this.#byId.size;
  }

  mine(message: string): Mined {
    let entry = this.#lines.get(message);
    if (entry === undefined || entry.dead) {
      const shape = this.#shaper.shapeOf(message);
      entry = this.#byShape.get(shape) ?? this.#first(shape);
      this.#lines.put(entry);
    }
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
    if (this.#evicted.size > 0) this.#evicted = new Set();
    return changes;
  }

  #first(shape: string): Entry {
    if (this.#byId.size >= this.#limit) this.#evict();
    const entry = this.#hold(new Entry(this.#idOf(shape), shape, ++this.#order));
    this.#evicted.delete(entry.id);
    this.#change(entry);
    this.#newborn = entry;
    this.#merging.add(entry);
    this.#newborn = null;
    return entry;
  }

  #hold(entry: Entry): Entry {
    this.#byShape.set(entry.shape, entry);
    this.#byId.set(entry.id, entry);
    this.#recency.touch(entry);
    return entry;
  }

  /** A hash of the shape. If another shape has the same hash, the next one is tried. */
  #idOf(shape: string): string {
    let id = hash("sha256", shape, "hex").slice(0, 16);
    for (let i = 1; this.#byId.has(id); i++) {
      id = hash("sha256", `${shape}\u0000${i}`, "hex").slice(0, 16);
    }
    return id;
  }

  #merge(younger: Entry, older: Entry): void {
    const moved = younger.aliases ?? [];
    younger.aliases = null;
    for (const entry of [younger, ...moved]) {
      this.#link(entry, older);
      this.#change(entry);
    }
    // a shape that nobody can have seen as a root isn't reported; after an eviction it may have been one before
    const unseen = younger === this.#newborn && this.#order <= this.#byId.size;
    if (!unseen) this.#merged.push({ younger: younger.id, older: older.id });
  }

  #link(entry: Entry, root: Entry): void {
    entry.root = root;
    root.aliases ??= new Set();
    root.aliases.add(entry);
    this.#recency.touch(root);
  }

  /** A root's pattern has changed. A root that lost its pattern keeps its text. */
  #retell(root: Entry): void {
    this.#change(root);
    const text = root.pattern === null ? root.text : textOfShape(root.pattern.words);
    if (text === root.text) return;
    root.text = text;
    root.version++;
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
    this.#merging.remove(entry);
    if (entry.root !== entry) entry.root.aliases?.delete(entry);
    this.#evicted.add(entry.id);
  }

  #restore(rows: Iterable<MinerRow>): void {
    const known = [...rows].map((row) => ({ row, state: readState(row.state) }));
    known.sort((a, b) => a.state.order - b.state.order || (a.row.id < b.row.id ? -1 : 1));
    for (const { row, state } of known) {
      this.#order = Math.max(this.#order, state.order);
      this.#merging.restore(this.#hold(new Entry(row.id, row.shape, state.order)), state.pattern);
    }
    for (const { row } of known) this.#restoreRoot(row);
    for (const entry of this.#byId.values()) this.#merging.relearn(entry);
    for (const { row, state } of known) {
      if (state.rules !== minerRules) this.#carryOver(row.id);
    }
    while (this.#byId.size > this.#limit) this.#evict();
  }

  #restoreRoot({ id, text, aliasOf }: MinerRow): void {
    const entry = this.#byId.get(id);
    const root = aliasOf === null ? undefined : this.#byId.get(aliasOf);
    if (entry === undefined) return;
    if (root === undefined || root.order >= entry.order) entry.text = text;
    else this.#link(entry, root.root);
  }

  /** A shape by older rules: the shape of its text by today's rules becomes its alias, so its template lives on. */
  #carryOver(id: string): void {
    const entry = this.#byId.get(id);
    if (entry === undefined) return;
    this.#change(entry);
    const shape = this.#shaper.shapeOf(entry.text.replaceAll(WILD_TEXT, "0"));
    if (this.#byShape.has(shape)) return;
    const twin = this.#hold(new Entry(this.#idOf(shape), shape, ++this.#order));
    this.#merging.restore(twin, "");
    this.#merging.relearn(twin);
    this.#link(twin, entry.root);
    this.#change(twin);
  }
}

function rowOf(entry: Entry): MinerRow {
  const { id, shape, text, order } = entry;
  const state = writeState({ rules: minerRules, order, pattern: entry.pattern?.words ?? "" });
  return { id, shape, text, aliasOf: entry.root === entry ? null : entry.root.id, state };
}
