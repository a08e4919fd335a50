/** What an alert's events say about themselves: pure. Records have no prototype, so that every name is only a name. */

/** Each name with its last value. */
export type Labels = Record<string, string>;

/** Names whose value differed between events, with their latest values, the one used last first. */
export type Varied = Record<string, string[]>;

export interface AlertLabels {
  readonly labels: Labels;
  readonly varied: Varied;
  /** Those in `varied` that had other values, too. */
  readonly varied_more: string[];
}

export const labelLimits = {
  names: 64,
  /** UTF-8, of names and last values. */
  bytes: 8_192,
  /** Of one name. */
  values: 5,
  /** UTF-8, of all values in `varied`. */
  variedBytes: 32_768,
} as const;

const none = <T>(): Record<string, T> => Object.create(null);

export const NO_LABELS: AlertLabels = { labels: none(), varied: none(), varied_more: [] };

/** The keys that a rule itself names: they go before others where there is no room for all. */
export function namesOfRule(rule: {
  conditions: readonly { key: string }[];
  identifier_keys: readonly string[];
  silenced_by: readonly { equal: readonly string[] }[];
}): string[] {
  const { conditions, identifier_keys, silenced_by } = rule;
  return [
    ...new Set([
      ...conditions.map(({ key }) => key),
      ...identifier_keys,
      ...silenced_by.flatMap(({ equal }) => equal),
    ]),
  ];
}

/**
 * What is known of an alert after one more event with these keys; `known` itself where that is nothing new. A name that the
 * event lacks keeps its value. `first`: the names that the rule gives; where there is no room for one, later ones go.
 */
export function withKeys(
  known: AlertLabels,
  keys: Readonly<Record<string, string>> | null,
  first: readonly string[],
): AlertLabels {
  if (keys === null || isKnown(known.labels, keys)) return known;
  const draft = new Draft(known, first);
  for (const name of first) if (Object.hasOwn(keys, name)) draft.take(name, keys[name] as string);
  for (const name in keys) if (!draft.first.has(name)) draft.take(name, keys[name] as string);
  return draft.result;
}

/** What is known of one alert whose events were counted into two, of which `later` was seen last. */
export function joinedLabels(
  earlier: AlertLabels,
  later: AlertLabels,
  first: readonly string[],
): AlertLabels {
  const draft = new Draft(earlier, first);
  const { labels, varied, varied_more } = later;
  const rest = Object.keys(labels).filter((name) => !draft.first.has(name));
  for (const name of [...first, ...rest]) {
    if (!Object.hasOwn(labels, name)) continue;
    const values = varied[name] ?? [labels[name] as string];
    for (const value of values.toReversed()) draft.take(name, value);
  }
  for (const name of varied_more) draft.lacks(name);
  return draft.result;
}

function isKnown(labels: Labels, keys: Readonly<Record<string, string>>): boolean {
  for (const name in keys) if (labels[name] !== keys[name]) return false;
  return true;
}

/** What becomes of `known`, copied where it changes. */
class Draft {
  readonly first: ReadonlySet<string>;
  readonly #known: AlertLabels;
  readonly #labels: Record<string, string>;
  readonly #varied: Record<string, string[]>;
  readonly #more: Set<string>;
  #names: number;
  #bytes = 0;
  #isChanged = false;

  constructor(known: AlertLabels, first: readonly string[]) {
    this.first = new Set(first);
    this.#known = known;
    this.#labels = Object.assign(none<string>(), known.labels);
    this.#varied = Object.assign(none<string[]>(), known.varied);
    this.#more = new Set(known.varied_more);
    this.#names = 0;
    for (const name in this.#labels) {
      this.#names++;
      this.#bytes += sizeOf(name, this.#labels[name] as string);
    }
  }

  get result(): AlertLabels {
    if (!this.#isChanged) return this.#known;
    return { labels: this.#labels, varied: this.#varied, varied_more: [...this.#more] };
  }

  take(name: string, value: string): void {
    const before = this.#labels[name];
    if (before === value) return;
    const more = sizeOf(name, value) - (before === undefined ? 0 : sizeOf(name, before));
    if (!this.#makesRoom(name, { names: before === undefined ? 1 : 0, bytes: more })) {
      // What it is now isn't known.
      if (before !== undefined) this.lacks(name);
      return;
    }
    this.#isChanged = true;
    this.#bytes += more;
    if (before === undefined) this.#names++;
    else this.#vary(name, [before, value]);
    this.#labels[name] = value;
  }

  /** It had values that aren't known. */
  lacks(name: string): void {
    const value = this.#labels[name];
    if (value === undefined || this.#more.has(name)) return;
    this.#isChanged = true;
    this.#more.add(name);
    this.#varied[name] ??= [value];
  }

  #vary(name: string, [before, value]: readonly [string, string]): void {
    const values = [value, ...(this.#varied[name] ?? [before]).filter((one) => one !== value)];
    const kept = values.slice(0, labelLimits.values);
    this.#varied[name] = kept;
    while (kept.length > 1 && variedBytes(this.#varied) > labelLimits.variedBytes) kept.pop();
    if (kept.length < values.length) this.#more.add(name);
  }

  /** Whether so much fits; for a name of the rule's, others go, the last one first. */
  #makesRoom(name: string, more: { names: number; bytes: number }): boolean {
    const tooMany = () => Math.max(0, this.#names + more.names - labelLimits.names);
    const tooLong = () => Math.max(0, this.#bytes + more.bytes - labelLimits.bytes);
    if (tooMany() === 0 && tooLong() === 0) return true;
    if (!this.first.has(name)) return false;
    const others = Object.keys(this.#labels).filter((one) => !this.first.has(one));
    const freed = others.reduce((sum, one) => sum + sizeOf(one, this.#labels[one] as string), 0);
    if (others.length < tooMany() || freed < tooLong()) return false;
    while (tooMany() > 0 || tooLong() > 0) this.#drop(others.pop() as string);
    return true;
  }

  #drop(name: string): void {
    this.#names--;
    this.#bytes -= sizeOf(name, this.#labels[name] as string);
    this.#isChanged = true;
    delete this.#labels[name];
    delete this.#varied[name];
    this.#more.delete(name);
  }
}

function sizeOf(name: string, value: string): number {
  return Buffer.byteLength(name) + Buffer.byteLength(value);
}

function variedBytes(varied: Varied): number {
  let bytes = 0;
  for (const name in varied)
    for (const value of varied[name] as string[]) bytes += Buffer.byteLength(value);
  return bytes;
}

/** Every label with all its known values, the last one first: `["host", "db7, db8 …"]`. */
export function labelTexts({ labels, varied, varied_more }: AlertLabels): [string, string][] {
  return Object.entries(labels).map(([name, value]) => {
    const values = Object.hasOwn(varied, name) ? varied[name] : undefined;
    return [name, `${(values ?? [value]).join(", ")}${varied_more.includes(name) ? " …" : ""}`];
  });
}

/** Its columns in the table, JSON; null where there is nothing. */
export interface LabelColumns {
  labels: string | null;
  varied: string | null;
  varied_more: string | null;
}

export function labelColumns({ labels, varied, varied_more }: AlertLabels): LabelColumns {
  const written = (of: object, isEmpty: boolean) => (isEmpty ? null : JSON.stringify(of));
  return {
    labels: written(labels, isEmptyRecord(labels)),
    varied: written(varied, isEmptyRecord(varied)),
    varied_more: written(varied_more, varied_more.length === 0),
  };
}

function isEmptyRecord(of: object): boolean {
  for (const _name in of) return false;
  return true;
}

/** What the columns of an alert's row hold. */
export function labelsOf({ labels, varied, varied_more }: LabelColumns): AlertLabels {
  if (labels === null) return NO_LABELS;
  return {
    labels: recordOf<string>(labels),
    varied: recordOf<string[]>(varied),
    varied_more: varied_more === null ? [] : (JSON.parse(varied_more) as string[]),
  };
}

function recordOf<T>(json: string | null): Record<string, T> {
  return json === null ? none<T>() : Object.assign(none<T>(), JSON.parse(json));
}
