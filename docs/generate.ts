import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import { createProgram } from "../cli/box.ts";
import { openapi } from "../src/http/openapi.ts";
import { pairOperations } from "../src/http/pair-page.ts";
import { publicOperations } from "../src/http/public-operations.ts";
import { dataPlaneRoutes } from "../src/http/routes.ts";
import { errorStatus } from "../src/kit/errors.ts";

/** `node docs/generate.ts` writes docs/cli.md and docs/api.md from the program itself; a test holds them to it. */

interface Operation {
  operationId: string;
  tags: string[];
  summary: string;
  "x-additive"?: boolean;
  "x-needs-role"?: string;
  parameters?: { name: string; in: string; required: boolean; schema: Schema }[];
  requestBody?: { content: Record<string, { schema: Schema }> };
  responses: Record<string, { description: string; content?: Record<string, { schema: Schema }> }>;
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
  anyOf?: Schema[];
  oneOf?: Schema[];
  additionalProperties?: Schema | boolean;
}

export function cliReference(): string {
  const parts = [
    "# Command line",
    "",
    "Made from the program by `node docs/generate.ts`. Every flag with an environment twin names it.",
    "",
  ];
  describe(createProgram(), [], parts);
  return `${parts.join("\n").trimEnd()}\n`;
}

function describe(command: Command, above: readonly string[], parts: string[]): void {
  const name = [...above, command.name()];
  const args = command.registeredArguments.map((argument) => {
    const text = argument.variadic ? `${argument.name()}...` : argument.name();
    return argument.required ? `<${text}>` : `[${text}]`;
  });
  const runs = command.commands.length === 0;
  if (runs) {
    parts.push(`## ${[...name, ...args].join(" ")}`, "", sentence(command.description()), "");
    if (command.options.length > 0) {
      parts.push("| flag | |", "|---|---|");
      for (const option of command.options) {
        const notes = [
          option.description,
          option.envVar ? `\`${option.envVar}\`` : "",
          option.defaultValue === undefined ? "" : `default \`${String(option.defaultValue)}\``,
        ];
        parts.push(
          `| \`${option.flags.replaceAll("|", "\\|")}\` | ${notes
            .filter((note) => note !== "")
            .join("; ")
            .replaceAll("|", "\\|")} |`,
        );
      }
      parts.push("");
    }
  }
  for (const child of command.commands) if (child.name() !== "help") describe(child, name, parts);
}

function sentence(text: string): string {
  return text === "" ? "" : `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

export function apiReference(): string {
  const document = openapi(dataPlaneRoutes, "", [...publicOperations, ...pairOperations]) as {
    paths: Record<string, Record<string, Operation>>;
    components: { schemas: Record<string, Schema> };
  };
  const parts = [
    "# API",
    "",
    "Made from the program's OpenAPI document by `node docs/generate.ts`; a running box serves that at `GET /v1/openapi.json`.",
    "Requests carry `Authorization: Bearer <token>`: an API key (`ptk_…`) everywhere but on ingest, which takes a source's token (`pti_…`).",
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
    "| code | status |",
    "|---|---|",
    ...Object.entries(errorStatus).map(([code, status]) => `| \`${code}\` | ${status} |`),
  );
  return `${parts.join("\n").trimEnd()}\n`;
}

function describeOperation(method: string, path: string, operation: Operation): string[] {
  const marks = [
    operation["x-additive"] ? "not in the API document" : "",
    operation["x-needs-role"] ? `needs the role ${operation["x-needs-role"]}` : "",
  ].filter((mark) => mark !== "");
  const lines = [
    `### ${method} ${path}`,
    "",
    `${operation.summary}${marks.length > 0 ? ` (${marks.join("; ")})` : ""}.`,
    "",
  ];
  const query = (operation.parameters ?? []).filter((parameter) => parameter.in === "query");
  if (query.length > 0)
    lines.push(
      `Query: ${query.map(({ name, schema }) => `\`${name}\` ${kind(schema)}`).join(", ")}.`,
      "",
    );
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
    ...Object.entries(schema.properties).map(
      ([name, field]) =>
        `| \`${name}\` | ${kind(field)} | ${[schema.required?.includes(name) ? "required" : "", field.default === undefined ? "" : `default \`${JSON.stringify(field.default)}\``, field.description ?? ""].filter((note) => note !== "").join("; ")} |`,
    ),
  ];
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
}
