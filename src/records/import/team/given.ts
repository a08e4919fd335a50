import { type GivenFile, ImportFault } from "../given-file.ts";
import { type GivenFields, isFields, type Unread } from "../unread.ts";

/** Reads other systems' answers without trusting their shape, and reports every field that wasn't read. */

/** Throws ImportFault with the file's name. */
export function exportedJson({ name, text }: GivenFile): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new ImportFault(`${name}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Without characters that no stored text may have. */
const storable = (text: string) => text.replaceAll("\0", "").toWellFormed();

/** One thing of an answer. A field that is missing or has the wrong type is empty. */
export class Given {
  readonly #fields: GivenFields;
  readonly #unread: Unread;

  /** `kind`: the report's word for such things, in the plural. */
  constructor(fields: GivenFields, kind: string, unread: Unread) {
    this.#fields = fields;
    this.#unread = unread;
    unread.saw(fields, kind);
  }

  /** Marks all of it as read, because the report mentions it as a whole. */
  leave(): this {
    this.#unread.leave(this.#fields);
    return this;
  }

  has(key: string): boolean {
    this.#unread.read(this.#fields, key);
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

  /** The texts of a list, without its other items. */
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

  /** Unix seconds of a time with an offset; null for others. */
  instant(key: string): number | null {
    return instantOf(this.text(key));
  }
}

/** Unix seconds; null for a text that isn't a time with an offset. */
function instantOf(text: string): number | null {
  try {
    return Math.floor(Temporal.Instant.from(text.replace(" ", "T")).epochMilliseconds / 1000);
  } catch {
    return null;
  }
}

/** Unix seconds of a time in a zone, or with an offset; null for other text. */
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

/** Minutes since midnight of `17:00` or `17:00:00`; null for other text. */
export function minuteOfDay(text: string): number | null {
  const parts = /^(\d{1,2}):(\d{2})(?::\d{2})?/.exec(text);
  if (parts === null) return null;
  const minute = Number(parts[1]) * 60 + Number(parts[2]);
  return minute <= 1440 ? minute : null;
}
