import type { Labels, Varied } from "./label-book.ts";

const MOST_SHOWN = { names: 50, values: 20 };
/** Names, and values of one, that are counted. */
const MOST_COUNTED = { names: 1000, values: 10_000 };

/** How many alerts have each label, and each value of it. */
export class FacetTally {
  readonly #names = new Map<string, { alerts: number; values: Map<string, number> }>();
  #isWhole = true;
  readonly #cut = new Set<string>();

  add(labels: Labels, varied: Varied | null): void {
    for (const name in labels) {
      const of = this.#of(name);
      if (of === null) continue;
      of.alerts += 1;
      for (const value of valuesOf(name, labels, varied)) this.#count(name, of.values, value);
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
    const made = { alerts: 0, values: new Map<string, number>() };
    this.#names.set(name, made);
    return made;
  }

  #count(name: string, values: Map<string, number>, value: string): void {
    const count = values.get(value);
    if (count !== undefined) values.set(value, count + 1);
    else if (values.size < MOST_COUNTED.values) values.set(value, 1);
    else this.#cut.add(name);
  }

  answer(isWhole: boolean) {
    const names = [...this.#names].sort(
      ([a, x], [b, y]) => y.alerts - x.alerts || (a < b ? -1 : 1),
    );
    return {
      facets: names.slice(0, MOST_SHOWN.names).map(([name, { values }]) => ({
        name,
        values: mostFrequent(values),
        complete: values.size <= MOST_SHOWN.values && !this.#cut.has(name),
      })),
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
function mostFrequent(values: ReadonlyMap<string, number>): { value: string; count: number }[] {
  const most: { value: string; count: number }[] = [];
  for (const [value, count] of values) {
    const isBehind = (one: { value: string; count: number }) =>
      one.count < count || (one.count === count && value < one.value);
    const last = most[MOST_SHOWN.values - 1];
    if (last !== undefined && !isBehind(last)) continue;
    const at = most.findIndex(isBehind);
    most.splice(at === -1 ? most.length : at, 0, { value, count });
    most.length = Math.min(most.length, MOST_SHOWN.values);
  }
  return most;
}
