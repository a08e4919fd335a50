/** One thing of an export. */
export type GivenFields = Readonly<Record<string, unknown>>;

export const isFields = (value: unknown): value is GivenFields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export const isEmpty = (value: unknown): boolean =>
  value === null ||
  value === undefined ||
  value === "" ||
  value === false ||
  (typeof value === "object" && Object.values(value).every(isEmpty));

/** Finds the fields that hold something and were never read: checked for each thing, reported by kind. */
export class Unread {
  readonly #isNothing: (value: unknown, key: string) => boolean;
  readonly #things = new Map<GivenFields, { kind: string; asked: Set<string> }>();
  readonly #left = new Set<unknown>();

  /** `isNothing`: whether a field's value needs no mention. */
  constructor(isNothing: (value: unknown, key: string) => boolean = isEmpty) {
    this.#isNothing = isNothing;
  }

  /** `asked`: fields that are read without a Given. */
  saw(thing: GivenFields, kind: string, asked: readonly string[] = []): void {
    if (!this.#things.has(thing)) this.#things.set(thing, { kind, asked: new Set(asked) });
  }

  read(thing: GivenFields, key: string): void {
    this.#things.get(thing)?.asked.add(key);
  }

  /** Marks a thing as read, with all that is in it: the report mentions it as a whole. */
  leave(thing: unknown): void {
    this.#left.add(thing);
    for (const one of partsOf(thing)) this.leave(one);
  }

  /** For each kind the unread fields that hold something, except `known` ones. `x.*`: known, with all that is in it. */
  rest(known: readonly string[]): { kind: string; fields: string[] }[] {
    const found = new Map<string, Set<string>>();
    for (const [thing, { kind, asked }] of this.#things) {
      if (this.#left.has(thing)) continue;
      for (const [key, value] of Object.entries(thing)) {
        if (known.includes(`${key}.*`)) continue;
        const isRead = asked.has(key) || known.includes(key);
        const names = this.#names(value, { key, path: key, known, isRead });
        if (names.length > 0) found.set(kind, new Set([...(found.get(kind) ?? []), ...names]));
      }
    }
    return [...found].map(([kind, fields]) => ({ kind, fields: [...fields].sort() }));
  }

  /** The unread parts of a value: all of it, or fields of the things inside that weren't read. */
  #names(
    value: unknown,
    at: { key: string; path: string; known: readonly string[]; isRead: boolean },
  ): string[] {
    const { key, path, known, isRead } = at;
    if (this.#isNothing(value, key) || this.#left.has(value)) return [];
    if (Array.isArray(value)) return value.flatMap((one) => this.#names(one, { ...at, key: "" }));
    if (!isFields(value)) return isRead ? [] : [path];
    if (this.#things.has(value)) return [];
    const names = Object.entries(value).flatMap(([key, one]) =>
      known.includes(`${key}.*`)
        ? []
        : this.#names(one, { key, path: `${path}.${key}`, known, isRead: known.includes(key) }),
    );
    return names.length > 0 || isRead ? names : [path];
  }
}

const partsOf = (value: unknown): unknown[] =>
  (Array.isArray(value) || isFields(value) ? Object.values(value) : []).filter(
    (one) => typeof one === "object" && one !== null,
  );
