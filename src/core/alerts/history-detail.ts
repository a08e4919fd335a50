/** A detail of an alert's history, read as text; what isn't there is empty. */
export class EntryDetail {
  readonly #detail: Readonly<Record<string, unknown>>;
  readonly #nameOf: (id: string) => string;

  constructor(detail: Readonly<Record<string, unknown>>, nameOf: (id: string) => string) {
    this.#detail = detail;
    this.#nameOf = nameOf;
  }

  has(name: string): boolean {
    return this.#detail[name] !== undefined && this.#detail[name] !== null;
  }

  text(name: string): string {
    return this.has(name) ? String(this.#detail[name]) : "";
  }

  /** 0 where it is none. */
  number(name: string): number {
    const value = Number(this.#detail[name] ?? 0);
    return Number.isFinite(value) ? value : 0;
  }

  list(name: string): string[] {
    const value = this.#detail[name];
    return Array.isArray(value) ? value.map(String) : [];
  }

  each(name: string): EntryDetail[] {
    const value = this.#detail[name];
    const items = Array.isArray(value) ? (value as Record<string, unknown>[]) : [];
    return items.map((item) => new EntryDetail(item, this.#nameOf));
  }

  /** Names, by the accounts' ids. */
  people(name: string): string {
    return this.list(name).map(this.#nameOf).join(", ");
  }

  person(name: string): string {
    return this.#nameOf(this.text(name));
  }

  /** All of it, so that nothing is kept back: ` (why x, at 12)`. */
  rest(): string {
    const parts = Object.entries(this.#detail).map(
      ([name, value]) =>
        `${name.replaceAll("_", " ")} ${typeof value === "object" ? JSON.stringify(value) : String(value)}`,
    );
    return parts.length === 0 ? "" : ` (${parts.join(", ")})`;
  }
}
