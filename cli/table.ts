import { systemClock, unixSeconds } from "../src/ground/kit/clock.ts";
import { offsetTime } from "../src/ground/kit/wall-time.ts";
import { localZone } from "./terminal.ts";

/** Rows in aligned columns below their heads. */
export function table(
  heads: readonly string[],
  rows: readonly (readonly (string | number | boolean)[])[],
): string {
  const cells = [...(heads.length > 0 ? [heads] : []), ...rows].map((row) =>
    row.map((cell) => printable(String(cell))),
  );
  const widths = (cells[0] ?? []).map((_, i) =>
    Math.max(...cells.map((row) => row[i]?.length ?? 0)),
  );
  return cells
    .map((row) =>
      row
        .map((cell, i) => cell.padEnd(widths[i] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

/** The columns of a table: what each head says of a row. */
export type Columns<T> = Readonly<Record<string, (row: T) => string | number | boolean>>;

export function tableOf<T>(columns: Columns<T>, rows: readonly T[]): string {
  const cells = Object.values(columns);
  return table(
    Object.keys(columns),
    rows.map((row) => cells.map((cell) => cell(row))),
  );
}

/** Escapes control characters, because services' texts must not control a terminal. */
export function printable(text: string): string {
  return text.replace(/\p{Cc}/gu, (c) => `\\x${c.charCodeAt(0).toString(16).padStart(2, "0")}`);
}

/** A time as every command prints it: in the terminal's zone, with its offset. Flags that take a time accept it. */
export function when(seconds: number): string {
  return offsetTime(seconds, localZone());
}

/** An age in its largest unit: `5 s`, `3 min`, `2 h`, `4 d`. */
export function age(seconds: number, now: number): string {
  const past = Math.max(0, now - seconds);
  if (past < 60) return `${past} s`;
  if (past < 3600) return `${Math.floor(past / 60)} min`;
  return past < 172_800 ? `${Math.floor(past / 3600)} h` : `${Math.floor(past / 86_400)} d`;
}

/** How long ago it was by this machine's clock, or that it never was. */
export function agoOrNever(seconds: number | null): string {
  return seconds === null ? "never" : `${age(seconds, unixSeconds(systemClock))} ago`;
}

/** `text` on one line and no longer than `most`. */
export function short(text: string, most: number): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length <= most ? line : `${line.slice(0, most - 1)}…`;
}
