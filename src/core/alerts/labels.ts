import { type Labelled, MOST_UNKNOWN } from "../quiet/labels.ts";

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

/** Of an alert from before labels were kept, until an event with keys comes: what it said isn't known. */
const UNKNOWN_LABELS: AlertLabels = { ...NO_LABELS };

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
 * What is known of an alert after one more event with these keys; `known` itself where that is nothing new. `first`: the
 * names that the rule gives; where there is no room for one, later ones go.
 */
export function withKeys(known: AlertLabels, keys: Keys, first: readonly string[]): AlertLabels {
  const book = new LabelBook(known);
  return book.hear(keys, first) ? book.labels : known;
}

/** What is known of one alert whose events were counted into two, of which `later` was seen last. */
export function joinedLabels(
  earlier: AlertLabels,
  later: AlertLabels,
  first: readonly string[],
): AlertLabels {
  const book = new LabelBook(earlier);
  return book.hearAll(later, first) ? book.labels : earlier;
}

type Keys = Readonly<Record<string, string>> | null;

interface Last {
  readonly names: readonly string[];
  readonly values: readonly string[];
}

/** In so many characters a book's size is told. */
const CHARGED_BY = 512;

const NO_LAST: Last = { names: [], values: [] };

/** Whether an event says just what the last one said, or as much of it: most do, and this costs least. */
function isAsBefore(keys: NonNullable<Keys>, { names, values }: Last): boolean {
  let i = 0;
  for (const name in keys) {
    if (names[i] !== name || values[i] !== keys[name]) return false;
    i++;
  }
  return true;
}

/** What is known of an alert, while its events come: a change costs what it changes. */
export class LabelBook {
  readonly #labels: Map<string, string>;
  /** Arrays of its own. */
  readonly #varied = new Map<string, string[]>();
  readonly #more: Set<string>;
  #bytes = 0;
  #variedBytes = 0;
  /** Names in `#varied` without a value. */
  #unknown = 0;
  #isChanged = false;
  #charge = 0;
  /** Names and values of the event that last said nothing new, in its order; empty once anything is new. */
  #last: Last = NO_LAST;

  constructor({ labels, varied, varied_more }: AlertLabels) {
    this.#labels = new Map(Object.entries(labels));
    for (const [name, value] of this.#labels) this.#bytes += sizeOf(name, value);
    for (const name in varied) {
      this.#keep(name, [...(varied[name] as string[])]);
      if (!this.#labels.has(name)) this.#unknown++;
    }
    this.#more = new Set(varied_more);
    this.outgrew();
  }

  get labels(): AlertLabels {
    return {
      labels: recordFrom(this.#labels),
      varied: recordFrom(this.#varied),
      varied_more: [...this.#more],
    };
  }

  /** Characters that it takes in memory at most, until it has outgrown them. */
  get charge(): number {
    return this.#charge;
  }

  /** Whether it takes more than its charge, which is higher from then on. */
  outgrew(): boolean {
    const size = this.#bytes + this.#variedBytes;
    if (size < this.#charge) return false;
    this.#charge = CHARGED_BY * (1 + Math.floor(size / CHARGED_BY));
    return true;
  }

  /** One more event; whether it says something new. A name that it lacks keeps its value. */
  hear(keys: Keys, first: readonly string[]): boolean {
    if (keys === null || isAsBefore(keys, this.#last)) return false;
    this.#isChanged = false;
    let hasNew = false;
    for (const name in keys) {
      const before = this.#labels.get(name);
      if (before === undefined) hasNew = true;
      else if (before !== keys[name]) this.#replace(name, [before, keys[name] as string], first);
    }
    this.#last = hasNew || this.#isChanged ? NO_LAST : this.#same(keys);
    if (!hasNew) return this.#isChanged;
    for (const name of first)
      if (Object.hasOwn(keys, name)) this.#add(name, keys[name] as string, first);
    for (const name in keys) this.#add(name, keys[name] as string, first);
    return this.#isChanged;
  }

  /** All that is known of another that is the same alert, and was seen last; whether that is something new. */
  hearAll({ labels, varied, varied_more }: AlertLabels, first: readonly string[]): boolean {
    let isNews = false;
    const most = Math.max(1, ...Object.values(varied).map(({ length }) => length));
    // From the value used first to the last one, of all names.
    for (let i = most - 1; i >= 0; i--) {
      const keys = none<string>();
      for (const name in labels) {
        const value = (varied[name] ?? [labels[name] as string])[i];
        if (value !== undefined) keys[name] = value;
      }
      isNews = this.hear(keys, first) || isNews;
    }
    this.#isChanged = false;
    for (const name of varied_more) this.#lacks(name);
    return isNews || this.#isChanged;
  }

  /** All of these are known with these values: the book's own strings. */
  #same(keys: NonNullable<Keys>): Last {
    const names = Object.keys(keys);
    return { names, values: names.map((name) => this.#labels.get(name) as string) };
  }

  #add(name: string, value: string, first: readonly string[]): void {
    if (this.#labels.has(name)) return;
    if (!this.#makesRoom(name, sizeOf(name, value), first)) {
      this.#lacks(name);
      return;
    }
    this.#labels.set(name, value);
    this.#bytes += sizeOf(name, value);
    this.#isChanged = true;
    // It had no room before: what it was then isn't known.
    if (!this.#varied.has(name)) return;
    this.#unknown--;
    this.#keep(name, [value]);
  }

  #replace(
    name: string,
    [before, value]: readonly [string, string],
    first: readonly string[],
  ): void {
    const more = Buffer.byteLength(value) - Buffer.byteLength(before);
    // What it is now isn't known.
    if (more > 0 && !this.#makesRoom(name, more, first)) {
      this.#lacks(name);
      return;
    }
    this.#labels.set(name, value);
    this.#bytes += more;
    this.#isChanged = true;
    const values = this.#varied.get(name);
    if (values === undefined) {
      this.#keep(name, [value, before]);
      return;
    }
    const at = values.indexOf(value);
    if (at !== -1) values.splice(at, 1);
    else this.#variedBytes += Buffer.byteLength(value);
    values.unshift(value);
    while (
      values.length > labelLimits.values ||
      (values.length > 1 && this.#variedBytes > labelLimits.variedBytes)
    ) {
      this.#variedBytes -= Buffer.byteLength(values.pop() as string);
      this.#more.add(name);
    }
  }

  #keep(name: string, values: string[]): void {
    this.#varied.set(name, values);
    for (const value of values) this.#variedBytes += Buffer.byteLength(value);
  }

  /** It had values that aren't known; there may be no other. */
  #lacks(name: string): void {
    if (this.#more.has(name)) return;
    const value = this.#labels.get(name);
    if (value === undefined && this.#unknown === MOST_UNKNOWN) return;
    this.#isChanged = true;
    this.#more.add(name);
    if (value === undefined) this.#unknown++;
    if (!this.#varied.has(name)) this.#keep(name, value === undefined ? [] : [value]);
  }

  /** Whether so many bytes fit; for a name of the rule's, others go, the last one first. */
  #makesRoom(name: string, bytes: number, first: readonly string[]): boolean {
    const names = this.#labels.has(name) ? 0 : 1;
    const tooMany = () => Math.max(0, this.#labels.size + names - labelLimits.names);
    const tooLong = () => Math.max(0, this.#bytes + bytes - labelLimits.bytes);
    if (tooMany() === 0 && tooLong() === 0) return true;
    if (!first.includes(name)) return false;
    const others = [...this.#labels].filter(([one]) => !first.includes(one));
    const freed = others.reduce((sum, [one, value]) => sum + sizeOf(one, value), 0);
    if (others.length < tooMany() || freed < tooLong()) return false;
    while (tooMany() > 0 || tooLong() > 0) this.#drop(...(others.pop() as [string, string]));
    return true;
  }

  #drop(name: string, value: string): void {
    this.#isChanged = true;
    this.#bytes -= sizeOf(name, value);
    for (const one of this.#varied.get(name) ?? []) this.#variedBytes -= Buffer.byteLength(one);
    this.#labels.delete(name);
    this.#varied.delete(name);
    this.#more.delete(name);
    this.#lacks(name);
  }
}

export function recordFrom<T>(map: ReadonlyMap<string, T>): Record<string, T> {
  const record = none<T>();
  for (const [name, value] of map) record[name] = value;
  return record;
}

function sizeOf(name: string, value: string): number {
  return Buffer.byteLength(name) + Buffer.byteLength(value);
}

/** Characters that it takes in memory. */
export function labelChars({ labels, varied }: AlertLabels): number {
  let chars = 0;
  for (const name in labels) chars += name.length + (labels[name] as string).length;
  for (const name in varied) for (const value of varied[name] as string[]) chars += value.length;
  return chars;
}

/** Every label with all its known values, the last one first: `["host", "db7, db8 …"]`. */
export function labelTexts({ labels, varied, varied_more }: AlertLabels): [string, string][] {
  return Object.entries(labels).map(([name, value]) => {
    const values = Object.hasOwn(varied, name) ? varied[name] : undefined;
    return [name, `${(values ?? [value]).join(", ")}${varied_more.includes(name) ? " …" : ""}`];
  });
}

/** Its columns in the table, JSON; null where there is nothing. `labels` null: nothing is known. */
export interface LabelColumns {
  labels: string | null;
  varied: string | null;
  varied_more: string | null;
}

export function labelColumns(of: AlertLabels): LabelColumns {
  const { labels, varied, varied_more } = of;
  const written = (of: object, isEmpty: boolean) => (isEmpty ? null : JSON.stringify(of));
  return {
    labels: written(labels, of === UNKNOWN_LABELS),
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
  if (labels === null && varied === null) return UNKNOWN_LABELS;
  return {
    labels: recordOf<string>(labels),
    varied: recordOf<string[]>(varied),
    varied_more: varied_more === null ? [] : (JSON.parse(varied_more) as string[]),
  };
}

/** The same for silences, which don't take an alert by what isn't known of it. */
export function labelledOf(row: LabelColumns): Labelled {
  const of = labelsOf(row);
  return of === UNKNOWN_LABELS ? { ...of, isUnknown: true } : of;
}

function recordOf<T>(json: string | null): Record<string, T> {
  return json === null ? none<T>() : Object.assign(none<T>(), JSON.parse(json));
}

/** All of it in one text, as `JSON.stringify` writes it. */
export function labelsFrom(json: string): AlertLabels {
  const { labels, varied, varied_more } = JSON.parse(json) as AlertLabels;
  return {
    labels: Object.assign(none<string>(), labels),
    varied: Object.assign(none<string[]>(), varied),
    varied_more,
  };
}
