import { type NumbersAnswer, type NumbersRow, numbersRow } from "./shape.ts";

const COLUMNS = Object.keys(numbersRow.shape) as (keyof NumbersRow)[];

/** As comma-separated values (RFC 4180), a line for each row. */
export function numbersCsv({ rows }: NumbersAnswer): string {
  const lines = [COLUMNS, ...rows.map((row) => COLUMNS.map((column) => row[column]))];
  return lines.map((line) => `${line.map(field).join(",")}\r\n`).join("");
}

/** A spreadsheet takes what begins with these signs for a formula. */
const FORMULA = /^[=+\-@\t\r]/;

function field(value: string | number | null | undefined): string {
  const text = value == null ? "" : String(value);
  const plain = typeof value === "string" && FORMULA.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
}
