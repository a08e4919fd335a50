import { MOST_UNKNOWN } from "../quiet/labels.ts";

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

/** A record without a prototype, so that every name is only a name. */
export const none = <T>(): Record<string, T> => Object.create(null);

type Keys = Readonly<Record<string, string>> | null;

/** A label as it is now. */
interface Entry {
  readonly name: string;
  value: string;
  /** Of the value, in UTF-8. */
  bytes: number;
  /** Its values in `#varied`; null where it doesn't vary. */
  values: string[] | null;
}

/** In so many characters a book's size is told. */
const CHARGED_BY = 512;

const NO_LAST: readonly Entry[] = [];

/** What is known of an alert, while its events come: a change costs what it changes. */
export class LabelBook {
  readonly #labels = new Map<string, Entry>();
  /** Arrays of its own. */
  readonly #varied = new Map<string, string[]>();
  readonly #more: Set<string>;
  #bytes = 0;
  #variedBytes = 0;
  /** Names in `#varied` without a value. */
  #unknown = 0;
  #isChanged = false;
  #charge = 0;
  /** What the last event named of which all is known, in its order; empty where there is none. */
  #last = NO_LAST;

  constructor({ labels, varied, varied_more }: AlertLabels) {
    for (const name in labels) this.#set(name, labels[name] as string);
    for (const name in varied) {
      this.#keep(name, [...(varied[name] as string[])]);
      if (!this.#labels.has(name)) this.#unknown++;
    }
    this.#more = new Set(varied_more);
    this.outgrew();
  }

  get labels(): AlertLabels {
    const labels = none<string>();
    for (const { name, value } of this.#labels.values()) labels[name] = value;
    return {
      labels,
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
    if (keys === null) return false;
    this.#isChanged = false;
    let hasNew = false;
    // Most events name what the last one did, and this costs least.
    let isLike = true;
    let i = 0;
    for (const name in keys) {
      const value = keys[name] as string;
      let one = this.#last[i++];
      isLike &&= one?.name === name;
      if (!isLike) one = this.#labels.get(name);
      if (one === undefined) hasNew = true;
      else if (one.value !== value) this.#replace(one, value, first);
    }
    if (hasNew) {
      for (const name of first)
        if (Object.hasOwn(keys, name)) this.#add(name, keys[name] as string, first);
      for (const name in keys) this.#add(name, keys[name] as string, first);
    }
    if (!isLike) this.#last = this.#known(keys);
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

  /** The labels that are named, where each of them is known with this value. */
  #known(keys: NonNullable<Keys>): readonly Entry[] {
    const all: Entry[] = [];
    for (const name in keys) {
      const one = this.#labels.get(name);
      if (one === undefined || one.value !== keys[name]) return NO_LAST;
      all.push(one);
    }
    return all;
  }

  #set(name: string, value: string): void {
    const bytes = bytesOf(value);
    this.#labels.set(name, { name, value, bytes, values: this.#varied.get(name) ?? null });
    this.#bytes += bytesOf(name) + bytes;
  }

  #add(name: string, value: string, first: readonly string[]): void {
    if (this.#labels.has(name)) return;
    if (!this.#makesRoom(name, sizeOf(name, value), first)) {
      this.#lacks(name);
      return;
    }
    this.#set(name, value);
    this.#isChanged = true;
    // It had no room before: what it was then isn't known.
    if (!this.#varied.has(name)) return;
    this.#unknown--;
    this.#keep(name, [value]);
  }

  #replace(one: Entry, value: string, first: readonly string[]): void {
    const { name, value: before, values } = one;
    const bytes = bytesOf(value);
    const more = bytes - one.bytes;
    // What it is now isn't known.
    if (more > 0 && !this.#makesRoom(name, more, first)) {
      this.#lacks(name);
      return;
    }
    one.value = value;
    one.bytes = bytes;
    this.#bytes += more;
    this.#isChanged = true;
    if (values === null) {
      this.#keep(name, [value, before]);
      return;
    }
    let at = values.indexOf(value);
    if (at === -1) {
      at = values.length;
      this.#variedBytes += bytes;
    }
    for (; at > 0; at--) values[at] = values[at - 1] as string;
    values[0] = value;
    while (
      values.length > labelLimits.values ||
      (values.length > 1 && this.#variedBytes > labelLimits.variedBytes)
    ) {
      this.#variedBytes -= bytesOf(values.pop() as string);
      this.#more.add(name);
    }
  }

  #keep(name: string, values: string[]): void {
    this.#varied.set(name, values);
    const one = this.#labels.get(name);
    if (one !== undefined) one.values = values;
    for (const value of values) this.#variedBytes += bytesOf(value);
  }

  /** It had values that aren't known; there may be no other. */
  #lacks(name: string): void {
    this.#last = NO_LAST;
    if (this.#more.has(name)) return;
    const value = this.#labels.get(name)?.value;
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
    const others = [...this.#labels.values()].filter((one) => !first.includes(one.name));
    const freed = others.reduce((sum, one) => sum + sizeOf(one.name, one.value), 0);
    if (others.length < tooMany() || freed < tooLong()) return false;
    while (tooMany() > 0 || tooLong() > 0) this.#drop(others.pop() as Entry);
    return true;
  }

  #drop({ name, value }: Entry): void {
    this.#isChanged = true;
    this.#bytes -= sizeOf(name, value);
    for (const one of this.#varied.get(name) ?? []) this.#variedBytes -= bytesOf(one);
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
  return bytesOf(name) + bytesOf(value);
}

const SHORT = 64;

/** `Buffer.byteLength`, which costs more for the short texts of ASCII that most are. */
function bytesOf(text: string): number {
  if (text.length > SHORT) return Buffer.byteLength(text);
  for (let i = 0; i < text.length; i++)
    if (text.charCodeAt(i) > 0x7f) return Buffer.byteLength(text);
  return text.length;
}
