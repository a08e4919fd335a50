import { invalid, ServiceError } from "../../ground/kit/errors.ts";
import type { AskBox, BoxRequest } from "./ask.ts";

type Schema = Readonly<Record<string, unknown>>;

/** An operation of the interface, as a tool takes it. */
export interface Operation {
  summary: string;
  /** JSON Schema: the parameters and the fields of the body side by side. */
  input: Schema;
  /** The request that asks it. Throws 400 for a field that it hasn't, or for a missing part of its path. */
  request(input: Schema): BoxRequest;
}

/** The operations of a box, by name; null for one that it doesn't have. */
export type Operations = (name: string) => Operation | null;

interface Described {
  operationId: string;
  summary: string;
  parameters?: { name: string; in: string; required?: boolean; schema: Schema }[];
  requestBody?: { content: Record<string, { schema: Schema }> };
}

interface Document {
  paths: Record<string, Record<string, Described>>;
  components: { schemas: Record<string, Schema> };
}

/** Reads them from the box's own description, so that no field is told twice. */
export async function readOperations(ask: AskBox): Promise<Operations> {
  const { status, body } = await ask({ method: "GET", path: "/v1/openapi.json" });
  if (status !== 200) throw new ServiceError("internal", `The box answered ${status}.`);
  const { paths, components } = body as Document;
  const found = new Map<string, () => Operation>();
  for (const [path, methods] of Object.entries(paths))
    for (const [method, described] of Object.entries(methods))
      found.set(described.operationId, () =>
        operationOf(
          { method: method.toUpperCase() as BoxRequest["method"], path, described },
          components.schemas,
        ),
      );
  const made = new Map<string, Operation>();
  return (name) => {
    const operation = made.get(name) ?? found.get(name)?.();
    if (operation === undefined) return null;
    made.set(name, operation);
    return operation;
  };
}

function operationOf(
  { method, path, described }: { method: BoxRequest["method"]; path: string; described: Described },
  schemas: Readonly<Record<string, Schema>>,
): Operation {
  const { parameters = [], requestBody, summary } = described;
  const names = namesIn(path);
  const inPath = [...names.values()].map((name) => [name, { type: "string" }] as const);
  const inQuery = parameters.filter((one) => one.in === "query");
  const body = resolved(requestBody?.content["application/json"]?.schema ?? {}, schemas);
  const fields = (body["properties"] ?? {}) as Record<string, Schema>;
  const input = {
    type: "object",
    properties: {
      ...Object.fromEntries(inPath),
      ...Object.fromEntries(inQuery.map(({ name, schema }) => [name, schema])),
      ...fields,
    },
    required: [
      ...names.values(),
      ...inQuery.filter(({ required }) => required).map(({ name }) => name),
      ...((body["required"] ?? []) as string[]),
    ],
    additionalProperties: false,
  };
  const request = (given: Schema): BoxRequest => {
    const unknown = Object.keys(given).filter((name) => !(name in input.properties));
    if (unknown.length > 0)
      throw invalid(unknown.map((name) => ({ field: `/${name}`, reason: "is no such field" })));
    const query = new URLSearchParams();
    for (const { name } of inQuery)
      if (given[name] !== undefined) query.set(name, String(given[name]));
    const sent = Object.entries(given).filter(([name]) => name in fields);
    return {
      method,
      path: filled(path, names, given) + (query.size === 0 ? "" : `?${query}`),
      ...(requestBody !== undefined && { body: Object.fromEntries(sent) }),
    };
  };
  return { summary, input: withDefinitions(input, schemas), request };
}

/** What a path's parameters are called: `{id}` behind `projects` is `project`, `{name}` behind `rules` is `rule`. */
function namesIn(path: string): Map<string, string> {
  const found = [...path.matchAll(/([^/]+)s\/(\{[^}]+\})/g)];
  return new Map(found.map(([, noun = "", parameter = ""]) => [parameter, noun]));
}

function filled(path: string, names: ReadonlyMap<string, string>, given: Schema): string {
  let full = path;
  for (const [parameter, name] of names) {
    const value = given[name];
    if (typeof value !== "string" || value === "")
      throw invalid([{ field: `/${name}`, reason: "is needed, as text" }]);
    full = full.replace(parameter, () => encodeURIComponent(value));
  }
  return full;
}

const REFERENCE = "#/components/schemas/";

function resolved(schema: Schema, schemas: Readonly<Record<string, Schema>>): Schema {
  const to = schema["$ref"];
  return typeof to === "string" ? (schemas[to.slice(REFERENCE.length)] ?? {}) : schema;
}

/** With what it refers to beside it: a tool's schema stands alone. */
function withDefinitions(schema: Schema, schemas: Readonly<Record<string, Schema>>): Schema {
  const named = new Map<string, string>();
  const take = (text: string): string =>
    text.replaceAll(/"#\/components\/schemas\/([^"]+)"/g, (_all, name: string) => {
      if (!named.has(name)) {
        named.set(name, "");
        named.set(name, take(JSON.stringify(schemas[name] ?? {})));
      }
      return `"#/$defs/${name}"`;
    });
  const own = JSON.parse(take(JSON.stringify(schema))) as Schema;
  if (named.size === 0) return own;
  const $defs = [...named].map(([name, text]) => [name, JSON.parse(text)]);
  return { ...own, $defs: Object.fromEntries($defs) };
}
