import { shellQuoted } from "../../ground/kit/shell.ts";
import type { Imported, ImportLine } from "./importer.ts";
import { pagedLines } from "./paged.ts";

/** The report of an import for people: counts, then what isn't the same here, and what to do by hand. */
export function reportText(
  title: string,
  { config, report, secrets, commands }: Imported,
  { next }: { next: readonly string[] },
): string {
  const of = (sort: ImportLine["sort"]) => report.filter((line) => line.sort === sort);
  const missing = secrets.filter(({ value }) => value === null);
  const parts = [
    `From ${title}: ${of("exact").length} exact, ${of("approximate").length} approximate, ${of("impossible").length} impossible.`,
    section("Whom alerts of these rules page:", pagedLines(config)),
    section("Approximate:", of("approximate").map(lineText)),
    section("Impossible here:", of("impossible").map(lineText)),
    section("The same here:", of("exact").map(lineText)),
    section(
      "Credentials to be entered, by the names of their variables:",
      missing.map(({ env, what }) => `- ${env}: ${what}`),
    ),
    section(
      "Run after it is applied, because a configuration file can't contain it:",
      commands.map((command) => `  ${command}`),
    ),
    section(
      "Nothing was applied. Next:",
      next.map((command) => `  ${command}`),
    ),
  ];
  return `${parts.filter((part) => part !== "").join("\n\n")}\n`;
}

const lineText = ({ what, how }: ImportLine): string => `- ${what}: ${how}`;

const section = (head: string, lines: readonly string[]): string =>
  lines.length === 0 ? "" : [head, ...lines].join("\n");

/** The variables as a file for a shell (`. FILE`). A missing value is empty, with a comment that says what it is. */
export function secretsText({ secrets }: Pick<Imported, "secrets">): string {
  const lines = secrets.flatMap(({ env, value, what }) => [
    `# ${what.replace(/\s+/g, " ")}${value === null ? " (enter it here)" : ""}`,
    `${env}=${value === null ? "" : shellQuoted(value)}`,
  ]);
  return `${lines.join("\n")}\n`;
}
