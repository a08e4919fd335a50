import { type GivenFile, ImportFault } from "../importer.ts";

/** What other systems answered, read loosely: nothing is taken on trust, and what nobody asked for is told. */

export type GivenFields = Readonly<Record<string, unknown>>;

/** Throws ImportFault with the file's name. */
export function exportedJson({ name, text }: GivenFile): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new ImportFault(`${name}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

export const isFields = (value: unknown): value is GivenFields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Which fields of each kind of thing hold something, and which of them were asked for. */
export class Unread {
  readonly #seen = new Map<string, Set<string>>();
  readonly #read = new Map<string, Set<string>>();

  saw(kind: string, key: string): void {
    add(this.#seen, kind, key);
  }

  read(kind: string, key: string): void {
    add(this.#read, kind, key);
  }

  /** Kinds with the names of their fields that hold something and were never asked for, but for `known`. */
  rest(known: readonly string[]): { kind: string; fields: string[] }[] {
    return [...this.#seen].flatMap(([kind, seen]) => {
      const read = this.#read.get(kind);
      const fields = [...seen].filter((key) => !known.includes(key) && !read?.has(key));
      return fields.length === 0 ? [] : [{ kind, fields: fields.sort() }];
    });
  }
}

function add(to: Map<string, Set<string>>, kind: string, key: string): void {
  const keys = to.get(kind) ?? new Set();
  to.set(kind, keys.add(key));
}

/** Without what no text may hold here. */
const storable = (text: string) => text.replaceAll("\0", "").toWellFormed();

const isEmpty = (value: unknown): boolean =>
  value === null ||
  value === undefined ||
  value === "" ||
  value === false ||
  (Array.isArray(value) && value.length === 0) ||
  (isFields(value) && Object.keys(value).length === 0);

/** One thing of an answer. A field that isn't there, or isn't what it should be, is empty. */
export class Given {
  readonly #fields: GivenFields;
  readonly #kind: string;
  readonly #unread: Unread;

  /** `kind` is how the report calls such things, in the plural. */
  constructor(fields: GivenFields, kind: string, unread: Unread) {
    this.#fields = fields;
    this.#kind = kind;
    this.#unread = unread;
    for (const [key, value] of Object.entries(fields)) if (!isEmpty(value)) unread.saw(kind, key);
  }

  has(key: string): boolean {
    this.#unread.read(this.#kind, key);
    return Object.hasOwn(this.#fields, key) && this.#fields[key] !== null;
  }

  raw(key: string): unknown {
    return this.has(key) ? this.#fields[key] : undefined;
  }

  text(key: string): string {
    const value = this.raw(key);
    if (typeof value === "number") return `${value}`;
    return typeof value === "string" ? storable(value).trim() : "";
  }

  number(key: string): number | null {
    const value = this.raw(key);
    const number = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
    return typeof number === "number" && Number.isFinite(number) ? number : null;
  }

  list(key: string): readonly unknown[] {
    const value = this.raw(key);
    return Array.isArray(value) ? value : [];
  }

  /** Texts of a list; all else in it is left out. */
  texts(key: string): string[] {
    return this.list(key)
      .filter((one) => typeof one === "string")
      .map(storable);
  }

  objects(key: string, kind: string): Given[] {
    return this.list(key)
      .filter(isFields)
      .map((one) => new Given(one, kind, this.#unread));
  }

  object(key: string, kind: string): Given | null {
    const value = this.raw(key);
    return isFields(value) ? new Given(value, kind, this.#unread) : null;
  }

  /** Unix seconds of a time with its offset; null for any other. */
  instant(key: string): number | null {
    return instantOf(this.text(key));
  }
}

/** Unix seconds; null for a text that is no time with an offset. */
export function instantOf(text: string): number | null {
  try {
    return Math.floor(Temporal.Instant.from(text.replace(" ", "T")).epochMilliseconds / 1000);
  } catch {
    return null;
  }
}

/** Unix seconds of a time on the clocks of a zone, or one with an offset; null for no time. */
export function clockInstant(text: string, zone: string): number | null {
  const exact = instantOf(text);
  if (exact !== null) return exact;
  try {
    const wall = Temporal.PlainDateTime.from(text.replace(" ", "T"));
    return Math.floor(wall.toZonedDateTime(zone).epochMilliseconds / 1000);
  } catch {
    return null;
  }
}

/** Minutes since midnight of `17:00` or `17:00:00`; null for no time of day. */
export function minuteOfDay(text: string): number | null {
  const parts = /^(\d{1,2}):(\d{2})(?::\d{2})?/.exec(text);
  if (parts === null) return null;
  const minute = Number(parts[1]) * 60 + Number(parts[2]);
  return minute <= 1440 ? minute : null;
}
