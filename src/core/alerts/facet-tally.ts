import type { Labels, Varied } from "./label-book.ts";

const MOST_SHOWN = { names: 50, values: 20 };
/** Names, and values of one, that are counted. */
const MOST_COUNTED = { names: 1000, values: 10_000 };

interface Counted {
  value: string;
  count: number;
}

/** Of one label. */
interface Tallied {
  alerts: number;
  values: Map<string, number>;
  /** The most frequent values, sorted; null: to be looked for. */
  most: Counted[] | null;
}

/** How many alerts have each label, and each value of it. */
export class FacetTally {
  readonly #names = new Map<string, Tallied>();
  #isWhole = true;
  readonly #cut = new Set<string>();

  add(labels: Labels, varied: Varied | null): void {
    for (const name in labels) {
      const of = this.#of(name);
      if (of === null) continue;
      of.alerts += 1;
      for (const value of valuesOf(name, labels, varied)) this.#count(name, of, value);
    }
  }

  /** Whether all was counted: only then can something be taken out again. */
  get isWhole(): boolean {
    return this.#isWhole && this.#cut.size === 0;
  }

  /** What was added before. */
  remove(labels: Labels, varied: Varied | null): void {
    for (const name in labels) {
      const of = this.#names.get(name);
      if (of === undefined) continue;
      of.alerts -= 1;
      if (of.alerts === 0) this.#names.delete(name);
      for (const value of valuesOf(name, labels, varied)) {
        const count = of.values.get(value) ?? 0;
        if (count > 1) of.values.set(value, count - 1);
        else of.values.delete(value);
        // Of those that aren't shown none may have become one that is.
        if (of.most?.some((one) => one.value === value)) of.most = null;
      }
    }
  }

  #of(name: string) {
    const known = this.#names.get(name);
    if (known !== undefined) return known;
    if (this.#names.size >= MOST_COUNTED.names) {
      this.#isWhole = false;
      return null;
    }
    const made: Tallied = { alerts: 0, values: new Map(), most: null };
    this.#names.set(name, made);
    return made;
  }

  #count(name: string, { values, most }: Tallied, value: string): void {
    const count = (values.get(value) ?? 0) + 1;
    if (count === 1 && values.size >= MOST_COUNTED.values) {
      this.#cut.add(name);
      return;
    }
    values.set(value, count);
    if (most === null) return;
    const at = most.findIndex((one) => one.value === value);
    if (at !== -1) most.splice(at, 1);
    putInto(most, { value, count });
  }

  answer(isWhole: boolean) {
    const names = [...this.#names].sort(
      ([a, x], [b, y]) => y.alerts - x.alerts || (a < b ? -1 : 1),
    );
    return {
      facets: names.slice(0, MOST_SHOWN.names).map(([name, of]) => {
        of.most ??= mostFrequent(of.values);
        const complete = of.values.size <= MOST_SHOWN.values && !this.#cut.has(name);
        return { name, values: [...of.most], complete };
      }),
      complete: isWhole && this.#isWhole && names.length <= MOST_SHOWN.names,
    };
  }
}

/** A label that varies has each known value. */
function valuesOf(name: string, labels: Labels, varied: Varied | null): readonly string[] {
  const isOne = varied === null || !Object.hasOwn(varied, name);
  return isOne ? [labels[name] as string] : (varied[name] as string[]);
}

/** Sorted. Of thousands of values it sorts none but those that are shown. */
function mostFrequent(values: ReadonlyMap<string, number>): Counted[] {
  const most: Counted[] = [];
  for (const [value, count] of values) putInto(most, { value, count });
  return most;
}

/** Where it belongs, if it is one of the most frequent. */
function putInto(most: Counted[], { value, count }: Counted): void {
  const isBehind = (one: Counted) =>
    one.count < count || (one.count === count && value < one.value);
  const last = most[MOST_SHOWN.values - 1];
  if (last !== undefined && !isBehind(last)) return;
  const at = most.findIndex(isBehind);
  most.splice(at === -1 ? most.length : at, 0, { value, count });
  most.length = Math.min(most.length, MOST_SHOWN.values);
}
