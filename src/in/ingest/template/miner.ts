/*
 * How a line becomes a template, folder by folder:
 *
 *   mining/lines     a cache: the shape of a line that differs from a recent one only in its digits
 *   reading/         from a message to its shape: skips stack frames and the header, reads the body as logfmt, JSON or prose
 *     header/        where the message begins, after time stamps, levels, hosts and loggers
 *     prose/         one pass by character class: separators, quotes, tokens
 *     values/        the kind of a token: a number, a time, a host, a name with a number in it, an id
 *   naming/          from a shape to its general shape, in which names vary, too
 *   mining/          from general shapes to templates: merges shapes once there is evidence which words vary
 *
 *   text/            used by all: codes, classes and marks of characters, word lists, the buffer
 *
 * A folder imports only from those below it: reading > header, prose > values > text. Naming and mining import only text.
 */
import { ForgetfulMap } from "../../../ground/kit/forgetful-map.ts";
import type { Mined, MinerChanges, MinerOptions, MinerRow } from "./mined.ts";
import { Entry, idOfShape, NamedShape, Recency } from "./mining/entry.ts";
import { LineCache } from "./mining/lines.ts";
import { Merging } from "./mining/merging.ts";
import { readState, writeState } from "./mining/state.ts";
import { Namer } from "./naming/general.ts";
import { minerRules, Shaper } from "./reading/shape.ts";
import { textOfShape, WILD_TEXT, withoutNames } from "./text/marks.ts";

export type { Mined, MinerRow } from "./mined.ts";
export { minerRules } from "./reading/shape.ts";

const MASKS_SINCE = 1; // later rules changed only names
const SIGNS_SINCE = 3; // earlier rules took a sign behind a noun for its name, as in `topic: orders`
/** Shapes with names that are remembered. */
const MOST_NAMED = 4_096;

/** A miner with the rows of earlier ones: the same line gets the same id and root. */
export class Miner {
  /** Shapes evicted since the start. */
  overflowed = 0;
  readonly #limit: number;
  readonly #shaper = new Shaper();
  readonly #namer = new Namer();
  readonly #lines = new LineCache<Entry | NamedShape>();
  readonly #named = new ForgetfulMap<string, NamedShape>(MOST_NAMED);
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
      // a root that lost its pattern keeps its text
      changed: (root) =>
        root.pattern === null ? this.#change(root) : this.#retell(root, root.pattern.words),
    });
    this.#restore(rows);
  }

  /** Shapes in memory, with aliases. */
  get size(): number {
    return this.#byId.size;
  }

  /** Never throws, whatever the message holds. */
  mine(message: string): Mined {
    let line = this.#lines.get(message);
    if (line === undefined || line.entry.dead) {
      line = this.#lineOf(this.#shaper.shapeOf(message));
      this.#lines.put(line);
    }
    const { entry } = line;
    this.#recency.touch(entry);
    if (entry.root !== entry) this.#recency.touch(entry.root);
    return line;
  }

  /** The root's id; an unknown id is returned unchanged. */
  rootOf(id: string): string {
    return this.#byId.get(id)?.root.id ?? id;
  }

  /** The changes since the last call. Write them in the transaction that holds the lines. */
  takeChanges(): MinerChanges {
    const rows = this.#changed.filter((entry) => !entry.dead).map(rowOf);
    for (const entry of this.#changed) entry.changed = false;
    const changes = { rows, merged: this.#merged, evicted: [...this.#evicted] };
    this.#changed = [];
    this.#merged = [];
    if (this.#evicted.size > 0) this.#evicted = new Set();
    return changes;
  }

  #lineOf(shape: string): Entry | NamedShape {
    const plain = this.#byShape.get(shape);
    if (plain?.isPlain) return plain;
    const known = this.#named.get(shape);
    if (known !== undefined && !known.entry.dead) return known;
    const general = this.#namer.generalOf(shape);
    if (general === shape) return (plain ?? this.#first(shape)).asPlain();
    const entry = this.#byShape.get(withoutNames(general)) ?? this.#first(general);
    if (entry.learnNames(general)) this.#change(entry);
    const line = new NamedShape(entry, shape);
    this.#named.set(shape, line);
    return line;
  }

  #first(general: string): Entry {
    if (this.#byId.size >= this.#limit) this.#evict();
    const entry = this.#hold(this.#entryOf(general));
    this.#evicted.delete(entry.id);
    this.#change(entry);
    this.#newborn = entry;
    this.#merging.add(entry);
    this.#newborn = null;
    return entry;
  }

  #entryOf(general: string): Entry {
    return new Entry(this.#idOf(withoutNames(general)), general, ++this.#order);
  }

  #hold(entry: Entry): Entry {
    this.#byShape.set(entry.shape, entry);
    this.#byId.set(entry.id, entry);
    this.#recency.touch(entry);
    return entry;
  }

  /** A hash of the shape. If another shape has the same hash, the next one is tried. */
  #idOf(shape: string): string {
    let id = idOfShape(shape);
    for (let n = 1; this.#byId.has(id); n++) id = idOfShape(shape, n);
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

  #retell(root: Entry, shape: string): void {
    this.#change(root);
    const text = textOfShape(shape);
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
      if (state.rules !== minerRules) this.#carryOver(row.id, state.rules);
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

  /**
   * A shape by older rules. The general shape that its lines have today becomes its alias, so its template lives on. If
   * another template has that general shape, they are one.
   */
  #carryOver(id: string, rules: number): void {
    const entry = this.#byId.get(id);
    if (entry === undefined) return;
    this.#change(entry);
    const shape =
      rules < MASKS_SINCE
        ? this.#shaper.shapeOf(entry.text.replaceAll(WILD_TEXT, "0"))
        : entry.shape;
    this.#cover(entry, this.#namer.generalOf(shape));
    for (const told of rules < SIGNS_SINCE ? signsOf(entry.named) : [])
      this.#cover(entry, this.#namer.generalOf(told));
    const { root } = entry;
    if (root.pattern === null && root.text !== textOfShape(root.shape)) return;
    this.#retell(root, this.#namer.generalOf(root.pattern?.words ?? root.shape));
  }

  #cover(entry: Entry, general: string): void {
    const known = this.#byShape.get(withoutNames(general));
    if (known === undefined) {
      const twin = this.#hold(this.#entryOf(general));
      this.#merging.restore(twin, "");
      this.#merging.relearn(twin);
      this.#link(twin, entry.root);
      this.#change(twin);
      return;
    }
    if (known.learnNames(general)) this.#change(known);
    this.#merging.unite(known.root, entry.root);
  }
}

/** What a shape may have been where a name stands for a sign, or for a sign and the value behind it. */
function signsOf(named: string): string[] {
  if (!SIGNS.test(named)) return [];
  return [":", ": \u0001", ".", "!", "?"].map((sign) =>
    named.replaceAll(new RegExp(SIGNS, "g"), sign),
  );
}

const SIGNS = /(?<=[A-Za-z])\u0002/;

function rowOf(entry: Entry): MinerRow {
  const { id, named: shape, text, order } = entry;
  const state = writeState({ rules: minerRules, order, pattern: entry.pattern?.words ?? "" });
  return { id, shape, text, aliasOf: entry.root === entry ? null : entry.root.id, state };
}
