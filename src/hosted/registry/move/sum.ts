import { createHash, type Hash } from "node:crypto";
import type { MovedRow } from "./tables.ts";

/** A table's number of rows, and the SHA-256 over all of them in order. */
export interface TableSum {
  rows: number;
  sha256: string;
}

export class RowSum {
  readonly #hash: Hash = createHash("sha256");
  #rows = 0;

  add(row: MovedRow): void {
    this.#rows++;
    this.#hash.update(`${JSON.stringify(row)}\n`);
  }

  end(): TableSum {
    return { rows: this.#rows, sha256: this.#hash.digest("hex") };
  }
}

/** The first table whose sums differ, as a sentence; null where none does. */
export function differenceOf(
  here: ReadonlyMap<string, TableSum>,
  there: ReadonlyMap<string, TableSum>,
): string | null {
  for (const [name, one] of here) {
    const other = there.get(name);
    if (other?.rows !== one.rows) return `${name}: ${one.rows} rows here, ${other?.rows} there`;
    if (other.sha256 !== one.sha256) return `${name}: its ${one.rows} rows differ`;
  }
  return null;
}
