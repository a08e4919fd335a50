import type { Command } from "commander";
import { systemClock, unixSeconds } from "../src/ground/kit/clock.ts";
import { lastFriday } from "../src/ground/kit/wall-time.ts";
import type { TriedTemplate } from "../src/in/ingest/template/try.ts";
import type { MessageWhy } from "../src/in/ingest/template/why.ts";
import type { TemplatesAnswer } from "../src/in/ingest/templates.ts";
import { api, queried, v1 } from "./api.ts";
import { CommandError, exitCodes } from "./exit.ts";
import { openText, unreadable } from "./files.ts";
import { lineGroups } from "./lines.ts";
import { addFlags, apiFlags, type GivenBy, jsonFlag, print } from "./options.ts";
import { table, when } from "./table.ts";
import { localZone, terminal } from "./terminal.ts";

interface Tried {
  lines: number;
  templates: TriedTemplate[];
}

/** `box template`: a project's message templates, and, without a box, those of any lines. */
export function registerTemplate(program: Command): void {
  const template = program.command("template").alias("templates").description("message templates");
  apiFlags(template.command("list <project>", { isDefault: true }), listFlags)
    .description(
      "list a project's templates, the most frequent first, with the rules that may match them",
    )
    .action(listHeard);
  addFlags(template.command("try [file...]"), jsonFlag)
    .description(
      "show which templates the lines of files (or standard input) become, with counts; stores nothing",
    )
    .action(tryFiles);
  apiFlags(template.command("why <message>"), explainFlags)
    .description(
      "say why each part of a message varies, and with --project which of its templates it joins; stores nothing",
    )
    .action(explain);
}

type Explained = MessageWhy & { joins?: { template_id: string; template: string } | null };

const explainFlags = {
  "--project <project>": "a project of the box; without it no box is asked",
};

async function explain(message: string, options: GivenBy<typeof explainFlags>): Promise<void> {
  const { project } = options;
  if (project === undefined) {
    const { whyOf } = await import("../src/in/ingest/template/why.ts");
    const { template, parts } = whyOf(message);
    return print({ template, parts }, options, () => whyText({ template, parts }));
  }
  const at = v1("projects", project, "templates", "why");
  const answer = await api.post<Explained>(options, at, { message });
  print(answer, options, () => whyText({ ...answer, project }));
}

function whyText({ template, parts, joins, project }: Explained & { project?: string }): string {
  const rows = parts.map(({ text, why }) => [text ?? "<*>", why]);
  const varies = rows.length === 0 ? "Nothing of it varies." : table(["PART", "WHY"], rows);
  return [template, "", varies, ...joinWords(template, joins, project)].join("\n");
}

function joinWords(
  own: string,
  joins: Explained["joins"],
  project: string | undefined,
): readonly string[] {
  if (joins === undefined) return [];
  if (joins === null)
    return [
      "",
      `${project} has received no message of this shape: it would be a new template, or join one that is much like it.`,
    ];
  const { template_id: id, template } = joins;
  if (template === own) return ["", `${project} has this template: ${id}.`];
  return [
    "",
    `In ${project} it joins ${id}, because other messages have other words there:`,
    template,
  ];
}

const listFlags = {
  "--query <text>": "only those with this text",
  "--unmatched": "only templates that no rule can match",
  "--new [days]":
    "only templates first seen in the last N days (default 7), or since `friday`; highest level first",
  "--limit <n>": { about: "how many (1 to 200)", usual: "50" },
  "--after <cursor>": "continue after this cursor, which the page before printed",
};

async function listHeard(project: string, options: GivenBy<typeof listFlags>): Promise<void> {
  const { query: q, unmatched, limit, after } = options;
  const new_since = options.new && newSince(options.new);
  const asked = { limit, q, after, unmatched, new_since };
  const at = queried(v1("projects", project, "templates"), asked);
  const answer = await api.get<TemplatesAnswer>(options, at);
  print(answer, options, () => heardText(answer));
}

const A_WEEK = 7;

/** Unix seconds so many days ago, a week where none were named; or when the last Friday began. */
function newSince(given: string | true): number {
  if (given === "friday") return lastFriday(unixSeconds(systemClock), localZone());
  const days = given === true ? A_WEEK : Number(given);
  if (!(days > 0 && days <= 3650))
    throw new CommandError(
      `--new takes a number of days or friday, not "${given}"`,
      exitCodes.usage,
    );
  return Math.floor(unixSeconds(systemClock) - days * 86_400);
}

function heardText({ templates, events, next }: TemplatesAnswer): string {
  const seen = (at: number | null) => (at === null ? "" : when(at));
  const rows = templates.map((each) => [
    each.count,
    seen(each.first_seen),
    seen(each.last_seen),
    each.level ?? "",
    each.source,
    each.rules.join(", ") || "NONE",
    each.template,
  ]);
  const more = next === null ? "" : `; more with --after ${next}`;
  const head = ["EVENTS", "FIRST", "LAST", "LEVEL", "SOURCE", "RULES", "TEMPLATE"];
  return `${table(head, rows)}\n${events} events in all${more}`;
}

async function tryFiles(files: string[], options: { json?: boolean }): Promise<void> {
  const { createTrial } = await import("../src/in/ingest/template/try.ts");
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

/** The lines as `box ingest` sends them. */
async function* linesOf(file: string): AsyncGenerator<string> {
  try {
    for await (const group of lineGroups(openText(file))) yield* group;
  } catch (error) {
    throw unreadable(file, error);
  }
}

/** `columns`: the width to which rows are cut; undefined where there is no terminal. */
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
