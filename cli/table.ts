/** Rows as aligned columns under their heads. */
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

/** What services send must not steer a terminal: control characters are shown escaped. */
export function printable(text: string): string {
  return text.replace(/\p{Cc}/gu, (c) => `\\x${c.charCodeAt(0).toString(16).padStart(2, "0")}`);
}

export function when(seconds: number): string {
  return new Date(seconds * 1000).toISOString().replace(".000Z", "Z");
}
