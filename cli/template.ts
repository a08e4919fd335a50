import type { Command } from "commander";
import type { TriedTemplate } from "../src/ingest/template/try.ts";
import { openText, unreadable } from "./files.ts";
import { lineGroups } from "./lines.ts";
import { jsonFlag, print } from "./options.ts";
import { table } from "./table.ts";
import { terminal } from "./terminal.ts";

interface Tried {
  lines: number;
  templates: TriedTemplate[];
}

/** Message templates, without a box: `box template …`. */
export function registerTemplate(program: Command): void {
  program
    .command("template")
    .description("message templates")
    .command("try [file...]")
    .description("show what lines of files (or standard input) become, with counts; stores nothing")
    .addOption(jsonFlag())
    .action(tryFiles);
}

async function tryFiles(files: string[], options: { json?: boolean }): Promise<void> {
  const { createTrial } = await import("../src/ingest/template/try.ts");
  const trial = createTrial();
  let lines = 0;
  for (const file of files.length === 0 ? ["-"] : files) {
    for await (const line of linesOf(file)) {
      trial.add(line);
      lines++;
    }
  }
  const tried = { lines, templates: trial.templates() };
  print(tried, options, () => trialText(tried, terminal().stdout.columns));
}

/** Lines as `box ingest` sends them. */
async function* linesOf(file: string): AsyncGenerator<string> {
  try {
    for await (const group of lineGroups(openText(file))) yield* group;
  } catch (error) {
    throw unreadable(file, error);
  }
}

/** `columns`: the terminal's width, to which rows are cut; undefined where there is no terminal. */
export function trialText({ lines, templates }: Tried, columns: number | undefined): string {
  const text = table(
    ["LINES", "TEMPLATE ID", "TEMPLATE"],
    templates.map(({ count, template_id, template }) => [count, template_id, template]),
  );
  const rows = text.split("\n").map((row) => cutTo(row, columns));
  return [...rows, `${lines} lines, ${templates.length} templates`].join("\n");
}

function cutTo(row: string, columns: number | undefined): string {
  return columns === undefined || row.length <= columns ? row : `${row.slice(0, columns - 1)}…`;
}
