import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";

/** The lines of one program. */
export interface Log {
  name: string;
  lines: string[];
}

/** The ten public log sets where they lie beside the checkout, else the log that the project ships. */
export function logs(): Log[] {
  const sets = join(import.meta.dirname, "../../shared/data/loghub");
  if (!existsSync(sets)) {
    return [
      {
        name: "shop",
        lines: readFileSync(join(import.meta.dirname, "demo-lines.txt"), "utf8")
          .trim()
          .split("\n"),
      },
    ];
  }
  return readdirSync(sets)
    .filter((file) => file.endsWith(".csv"))
    .map((file) => ({
      name: basename(file).replace(/_2k.*/, ""),
      lines: contents(readFileSync(join(sets, file), "utf8")),
    }));
}

/** The Content column of a CSV file with quoted fields. */
function contents(csv: string): string[] {
  const rows = parseCsv(csv);
  const column = rows[0]?.indexOf("Content") ?? -1;
  return rows.slice(1).flatMap((row) => (row[column] === undefined ? [] : [row[column] as string]));
}

function parseCsv(text: string): string[][] {
  const rows: string[][] = [[]];
  for (const [, quoted, plain, end] of text.matchAll(
    /(?:"((?:[^"]|"")*)"|([^,\r\n]*))(,|\r?\n|$)/g,
  )) {
    rows.at(-1)?.push(quoted === undefined ? (plain ?? "") : quoted.replaceAll('""', '"'));
    if (end !== ",") rows.push([]);
  }
  return rows.filter((row) => row.length > 1);
}
