import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Command, Option } from "commander";
import { createProgram } from "../cli/program.ts";
import { type ErrorCode, errorStatus } from "../src/ground/kit/errors.ts";
import { ackOperations } from "../src/web/http/ack-page.ts";
import { alertPageOperation } from "../src/web/http/alert-page.ts";
import { calendarOperation } from "../src/web/http/calendar.ts";
import { openapi } from "../src/web/http/openapi.ts";
import { pairOperations } from "../src/web/http/pair-page.ts";
import { publicOperations } from "../src/web/http/public-operations.ts";
import { dataPlaneRoutes } from "../src/web/http/routes.ts";
import { twilioOperations } from "../src/web/http/twilio.ts";
import { connectReference } from "./connect.ts";
import { errorMeanings } from "./error-codes.ts";

/** `node_modules/.bin/node docs/generate.ts` writes docs/cli.md, docs/api.md and docs/connect.md from the program itself; a test holds them to it. */

interface Operation {
  operationId: string;
  tags: string[];
  summary: string;
  "x-needs-role"?: string;
  parameters?: Parameter[];
  requestBody?: { content: Record<string, { schema: Schema }> };
  responses: Record<string, { description: string; content?: Record<string, { schema: Schema }> }>;
}

interface Parameter {
  name: string;
  in: string;
  required: boolean;
  schema: Schema;
}

interface Schema {
  $ref?: string;
  type?: string | string[];
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  enum?: unknown[];
  const?: unknown;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  maxItems?: number;
  default?: unknown;
  description?: string;
  examples?: unknown[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  additionalProperties?: Schema | boolean;
}

/** How many commands have to take a flag for it to be told once for all of them. */
const COMMON = 5;

export function cliReference(): string {
  const commands = runnable(createProgram(), []);
  const uses = new Map<string, number>();
  for (const { command } of commands)
    for (const option of command.options)
      uses.set(flagRow(option), (uses.get(flagRow(option)) ?? 0) + 1);
  const common = new Set([...uses].filter(([, n]) => n >= COMMON).map(([row]) => row));
  const parts = [
    "# Command line",
    "",
    "Made from the program by `node_modules/.bin/node docs/generate.ts`. If a flag can be set by an environment variable, the table names it.",
    "",
    "You may type a time as `2026-11-21 18:00 Europe/Berlin`, `2026-11-21T17:00:00Z`, `18:00` (the next one), `+2h`, `+1d12h` or `now`.",
    "If you give no zone, the command uses the terminal's zone (`TZ`). Commands print times in the terminal's zone with the offset (`2026-11-21 18:00+01:00`, `Z` for UTC).",
    "Flags also accept times in the printed form. `--json` prints Unix seconds.",
    "A flag whose value ends in `...` takes several values, and may be given several times.",
    "",
    "## Flags that many commands take",
    "",
    "The section of a command names those that it takes.",
    "",
    "| flag | |",
    "|---|---|",
    ...common,
    "",
    ...commands.flatMap((each) => describeCommand(each, common)),
  ];
  return `${parts.join("\n").trimEnd()}\n`;
}

interface Runnable {
  name: string;
  command: Command;
}

/** The commands that do something, by their whole name. */
function runnable(command: Command, above: readonly string[]): Runnable[] {
  const words = [...above, command.name()];
  const children = command.commands.filter((child) => child.name() !== "help");
  const below = children.flatMap((child) => runnable(child, words));
  // A group that takes arguments does something by itself.
  if (children.length > 0 && command.registeredArguments.length === 0) return below;
  const args = command.registeredArguments.map((argument) => {
    const text = argument.variadic ? `${argument.name()}...` : argument.name();
    return argument.required ? `<${text}>` : `[${text}]`;
  });
  return [{ name: [...words, ...args].join(" "), command }, ...below];
}

function describeCommand({ name, command }: Runnable, common: ReadonlySet<string>): string[] {
  const isCommon = (option: Option) => common.has(flagRow(option));
  const shared = command.options.filter(isCommon).map(({ long }) => `\`${long}\``);
  const own = command.options.filter((option) => !isCommon(option)).map(flagRow);
  const takes = shared.length === 0 ? "" : ` Takes ${shared.join(", ")}.`;
  return [
    `## ${name}`,
    "",
    sentence(command.description()) + takes,
    "",
    ...(own.length === 0 ? [] : ["| flag | |", "|---|---|", ...own, ""]),
  ];
}

/** A default as it would be typed. */
const usualOf = ({ defaultValue, defaultValueDescription: typed }: Option): string =>
  typed === undefined ? String(defaultValue) : typed.replaceAll('"', "");

function flagRow(option: Option): string {
  const notes = [
    option.description,
    option.envVar ? `\`${option.envVar}\`` : "",
    option.defaultValue === undefined ? "" : `default \`${usualOf(option)}\``,
  ].filter((note) => note !== "");
  const cell = (text: string) => text.replaceAll("|", "\\|");
  return `| \`${cell(option.flags)}\` | ${cell(notes.join("; "))} |`;
}

function sentence(text: string): string {
  return text === "" ? "" : `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

export function apiReference(): string {
  const document = openapi(dataPlaneRoutes, "", [
    ...publicOperations,
    ...pairOperations,
    ...ackOperations,
    ...twilioOperations,
    alertPageOperation,
    calendarOperation,
  ]) as {
    paths: Record<string, Record<string, Operation>>;
    components: { schemas: Record<string, Schema> };
  };
  const parts = [
    "# API",
    "",
    "Made from the program's OpenAPI document by `node_modules/.bin/node docs/generate.ts`; a running box serves that at `GET /v1/openapi.json`.",
    "Requests carry `Authorization: Bearer <token>`. The token is an API key (`ptk_…`); ingest takes a source's token (`pti_…`).",
    "Health checks and the links in notifications need no token.",
    "",
    "Every time is in Unix seconds unless its field says otherwise. A field without *required* may be left out. A list is read on with `next`, if the answer has one.",
    "Wherever an id of an account is asked for, `email:` and the account's address will do.",
    "In code and API a rung of a ladder (escalation policy) is a *step*, and a channel is an *integration*. The other words are in the [glossary](glossary.md).",
    "",
  ];
  const byTag = new Map<string, [string, string, Operation][]>();
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      const tag = operation.tags[0] ?? "Other";
      byTag.set(tag, [...(byTag.get(tag) ?? []), [method.toUpperCase(), path, operation]]);
    }
  }
  for (const [tag, operations] of [...byTag].sort(([a], [b]) => (a < b ? -1 : 1))) {
    parts.push(`## ${tag}`, "");
    for (const [method, path, operation] of operations)
      parts.push(...describeOperation(method, path, operation));
  }
  parts.push("## Shapes", "");
  for (const [name, schema] of Object.entries(document.components.schemas).sort(([a], [b]) =>
    a < b ? -1 : 1,
  )) {
    if (name !== "Error") parts.push(`### ${name}`, "", ...fieldTable(schema), "");
  }
  parts.push(
    "## Error codes",
    "",
    "| code | status | meaning |",
    "|---|---|---|",
    ...Object.entries(errorMeanings).map(
      ([code, meaning]) => `| \`${code}\` | ${errorStatus[code as ErrorCode]} | ${meaning} |`,
    ),
  );
  return `${parts.join("\n").trimEnd()}\n`;
}

function describeOperation(method: string, path: string, operation: Operation): string[] {
  const role = operation["x-needs-role"];
  const lines = [
    `### ${method} ${path}`,
    "",
    `${operation.summary}${role ? ` (needs the role ${role})` : ""}.`,
    "",
  ];
  const query = (operation.parameters ?? []).filter((parameter) => parameter.in === "query");
  if (query.length > 0)
    lines.push("Query:", "", "| parameter | | |", "|---|---|---|", ...query.map(queryRow), "");
  const body = operation.requestBody?.content["application/json"]?.schema;
  if (body)
    lines.push(
      "Body:",
      "",
      ...(body.$ref
        ? [`[${refName(body.$ref)}](#${refName(body.$ref).toLowerCase()})`]
        : fieldTable(body)),
      "",
    );
  const answers = Object.entries(operation.responses).map(([status, { description, content }]) => {
    const schema = content?.["application/json"]?.schema;
    return Number(status) < 300
      ? `${status}${schema ? ` ${kind(schema)}` : ""}`
      : `${status} (${description})`;
  });
  lines.push(`Answers: ${answers.join("; ")}.`, "");
  return lines;
}

function fieldTable(schema: Schema): string[] {
  if (!schema.properties) return [kind(schema)];
  return [
    "| field | | |",
    "|---|---|---|",
    ...fieldRows(schema, ""),
    ...(schema.examples ?? []).flatMap((example) => [
      "",
      "For example:",
      "",
      "```json",
      JSON.stringify(example, null, 2),
      "```",
    ]),
  ];
}

function queryRow({ name, required, schema }: Parameter): string {
  return `| \`${name}\` | ${kind(schema)} | ${fieldNotes(required, schema)} |`;
}

function fieldNotes(required: boolean, { default: usual, description = "" }: Schema): string {
  return [
    required ? "required" : "",
    usual === undefined ? "" : `default \`${JSON.stringify(usual)}\``,
    description,
  ]
    .filter((note) => note !== "")
    .join("; ");
}

/** A row a field; the fields of a shape without a name of its own follow it as `match.min_level`, `layers[].name`. */
function fieldRows(schema: Schema, above: string): string[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const notes = fieldNotes(schema.required?.includes(name) ?? false, field);
    const row = `| \`${above}${name}\` | ${kind(field)} | ${notes} |`;
    return [row, ...nested(field, `${above}${name}`)];
  });
}

/** The rows of what is inside a field, through lists and through what may also be null. */
function nested(field: Schema, name: string): string[] {
  const choices = field.anyOf ?? field.oneOf ?? [];
  const inside = choices.filter((choice) => choice.properties ?? choice.items);
  if (inside.length === 1 && inside[0]) return nested(inside[0], name);
  if (field.items) return nested(field.items, `${name}[]`);
  return fieldRows(field, `${name}.`);
}

function refName(ref: string): string {
  return ref.slice(ref.lastIndexOf("/") + 1);
}

/** A schema in a few words. */
function kind(schema: Schema): string {
  if (schema.$ref) return `[${refName(schema.$ref)}](#${refName(schema.$ref).toLowerCase()})`;
  if (schema.enum) return `one of ${schema.enum.map((value) => `\`${String(value)}\``).join(", ")}`;
  if (schema.const !== undefined) return `\`${String(schema.const)}\``;
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) return choices.map(kind).join(" or ");
  if (schema.type === "array")
    return `array of ${schema.items ? kind(schema.items) : "anything"}${schema.maxItems === undefined ? "" : `, at most ${schema.maxItems}`}`;
  if (schema.type === "object")
    return schema.properties
      ? `{${Object.keys(schema.properties)
          .map((name) => `\`${name}\``)
          .join(", ")}}`
      : "object";
  const bounds = [
    range("from", schema.minimum, Number.MIN_SAFE_INTEGER),
    range("to", schema.maximum, Number.MAX_SAFE_INTEGER),
    range("at least", schema.minLength, 0),
    range("at most", schema.maxLength, -1),
  ].filter((bound) => bound !== "");
  return `${Array.isArray(schema.type) ? schema.type.join(" or ") : (schema.type ?? "anything")}${bounds.length > 0 ? ` (${bounds.join(" ")}${schema.maxLength === undefined ? "" : " characters"})` : ""}`;
}

function range(word: string, bound: number | undefined, unbounded: number): string {
  return bound === undefined || bound === unbounded ? "" : `${word} ${bound}`;
}

if (import.meta.main) {
  writeFileSync(join(import.meta.dirname, "cli.md"), cliReference());
  writeFileSync(join(import.meta.dirname, "api.md"), apiReference());
  writeFileSync(join(import.meta.dirname, "connect.md"), connectReference());
}
