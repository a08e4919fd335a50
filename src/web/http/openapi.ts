import * as z from "zod";
import { version } from "../../ground/kit/assets.ts";
import { type ErrorCode, errorStatus } from "../../ground/kit/errors.ts";
import { text } from "../../ground/kit/fields.ts";
import { fits } from "../../ground/kit/text.ts";
import { eventLimits } from "../../in/ingest/event.ts";
import { publishedBounds } from "./bounds.ts";
import { ingestErrors } from "./ingest.ts";
import { pathParameters, type RawOperation } from "./raw-operation.ts";
import type { Route } from "./route.ts";

/**
 * The body of `POST /v1/ingest`, as the document shows it and as it is checked by hand on the hot path: a
 * test holds the two together. A message's lone surrogates and NUL are mended, not refused.
 */
export const ingestSchema = z
  .looseObject({
    message: z
      .string()
      .refine((message) => fits(message, eventLimits.message))
      .meta({ maxLength: eventLimits.message }),
    title: z.string().optional().meta({
      description:
        "The alert's title: the first non-empty line, up to 200 characters. Without a title: the message's first non-empty line.",
    }),
    level: z.int().min(0).optional(),
    keys: z
      .record(
        text(eventLimits.key, 1),
        z.union([text(eventLimits.value), z.number(), z.boolean(), z.null()]),
      )
      .refine((keys) => Object.keys(keys).length <= eventLimits.keys)
      .meta({ maxProperties: eventLimits.keys })
      .optional(),
    tags: z.array(text(eventLimits.tag, 1)).max(eventLimits.tags).optional(),
    dedup_key: text(512, 1).optional().meta({
      description:
        "The sender's own name for the problem. Events with the same name belong to one alert per rule, whatever their messages say.",
    }),
    status: z.enum(["firing", "acknowledged", "resolved"]).optional().meta({
      description:
        "`firing` (default) opens or updates the alert. `resolved` resolves and `acknowledged` acknowledges every unresolved alert with this `dedup_key`.",
    }),
    instance: z.unknown().optional().meta({
      description:
        "String: the sender's id of this occurrence. An event with the same id repeats the same occurrence and notifies nobody.",
    }),
    expires_at: z.unknown().optional().meta({
      description:
        "Unix seconds. The sender reports again before this time; if it does not, the alert resolves.",
    }),
    occurred_at: z.unknown().optional().meta({
      description: "Unix seconds by the sender's clock.",
    }),
    details: z
      .unknown()
      .optional()
      .meta({ description: "String. Longer text that is shown with the alert." }),
    links: z
      .unknown()
      .optional()
      .meta({ description: "List of `{href, text}`, shown with the alert." }),
    images: z
      .unknown()
      .optional()
      .meta({ description: "List of `{src, href, alt}`, shown with the alert." }),
  })
  .meta({ id: "Event" });

const common: readonly ErrorCode[] = ["unauthorized", "rate_limited", "internal"];

type Schema = Record<string, unknown>;

/** OpenAPI 3.1, made from the schemas that validate (contract §10). `raw` are routes that have none. */
export function openapi(
  routes: readonly Route[],
  baseUrl: string,
  raw: readonly RawOperation[] = [],
): object {
  const schemas: Schema = {};
  const paths: Record<string, Record<string, unknown>> = {};
  const add = (method: string, path: string, operation: unknown) => {
    paths[path] ??= {};
    (paths[path] as Schema)[method.toLowerCase()] = operation;
  };
  for (const route of routes) add(route.method, route.path, operation(route, schemas));
  add("POST", "/v1/ingest", ingestOperation(schemas));
  for (const { method, path, operation } of raw) add(method, path, operation);
  for (const [path, { summary, ...more }] of Object.entries(plainRoutes))
    add("GET", path, {
      operationId: operationId(path),
      tags: ["Operating"],
      summary,
      security: [],
      responses: { "200": { description: "OK" } },
      ...more,
    });
  return {
    openapi: "3.1.0",
    info: {
      title: "box: alert monitoring",
      version,
      description:
        "`x-additive` marks routes that came after the first published interface. `x-bounds`: how many of each thing there may be; over one 422 `too_many`. Its `bodies`: bytes of one request of each kind of sender, as sent and inflated; over one 413.",
    },
    "x-bounds": publishedBounds,
    servers: baseUrl === "" ? [] : [{ url: baseUrl }],
    paths,
    components: {
      schemas: { ...schemas, Error: errorSchema },
      securitySchemes: {
        apiKey: { type: "http", scheme: "bearer", bearerFormat: "ptk_<tenant>_<secret>" },
        ingestToken: { type: "http", scheme: "bearer", bearerFormat: "pti_<tenant>_<secret>" },
        session: { type: "http", scheme: "bearer", bearerFormat: "pts_<secret>" },
        twilioSignature: { type: "apiKey", in: "header", name: "X-Twilio-Signature" },
      },
    },
  };
}

const plainRoutes: Record<string, { summary: string; security?: object[]; responses?: object }> = {
  "/healthz": { summary: "Whether the process is alive" },
  "/readyz": {
    summary: "Whether the box is able to page, check by check",
    responses: {
      "200": { description: "Able to page, perhaps with something to see to" },
      "503": { description: "Not able to page; the checks say why" },
    },
  },
  "/metrics": {
    summary: "Prometheus metrics; open to all with --metrics-open",
    security: [{ apiKey: [] }],
    responses: { ...responses(200, undefined, ["unauthorized"]), "200": { description: "OK" } },
  },
  "/v1/openapi.json": { summary: "This document" },
  "/v1/role": {
    summary:
      "Whether this machine serves the box (200) or stands by (503), for load balancers: `role`, `owner`, `epoch`, `behind`; `upgrade_failed` where a machine that stands by couldn't upgrade the box",
    responses: {
      "200": { description: "This machine serves the box" },
      "503": { description: "This machine is the standby" },
    },
  },
  "/v1/version": { summary: "Name and version of the program" },
};

const securityOf = { api: [{ apiKey: [] }], session: [{ session: [] }], none: [] } as const;

function operation(route: Route, schemas: Schema): object {
  const codes: ErrorCode[] = [
    ...route.errors,
    ...(route.plane === "none" ? (["internal"] as const) : common),
    ...(route.body ? (["body_too_large", "unsupported_encoding"] as const) : []),
  ];
  return {
    operationId: route.name,
    tags: [route.tag],
    summary: route.summary,
    ...(route.additive ? { "x-additive": true } : {}),
    ...(route.manager ? { "x-needs-role": route.owner ? "owner" : "owner or admin" } : {}),
    security: securityOf[route.plane],
    parameters: [...pathParameters(route.path), ...queryParameters(route)],
    ...(route.body
      ? {
          requestBody: {
            required: true,
            content: { "application/json": { schema: toSchema(route.body, schemas, "input") } },
          },
        }
      : {}),
    responses: responses(route.status, toSchema(route.answer, schemas, "output"), codes),
  };
}

function ingestOperation(schemas: Schema): object {
  const event = toSchema(ingestSchema, schemas, "input");
  return {
    operationId: "ingest",
    tags: ["Ingest"],
    summary:
      "Accept one event, or up to 1,000 as NDJSON. The response comes after the events are stored",
    security: [{ ingestToken: [] }],
    requestBody: {
      required: true,
      content: {
        "application/json": { schema: event },
        "application/x-ndjson": { schema: { type: "string" } },
      },
    },
    responses: responses(
      202,
      {
        type: "object",
        properties: { alerted: { type: "boolean" }, template_id: { type: "string" } },
      },
      [...ingestErrors, "internal"],
    ),
  };
}

/** The answers of an operation: the usual one, and an error for each status of `codes`. */
export function responses(status: number, schema: unknown, codes: readonly ErrorCode[]): object {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of new Set(codes))
    byStatus.set(errorStatus[code], [...(byStatus.get(errorStatus[code]) ?? []), code]);
  const errors = [...byStatus]
    .sort(([a], [b]) => a - b)
    .map(([number, list]) => [
      String(number),
      {
        description: list.join(", "),
        content: { "application/json": { schema: { $ref: "#/components/schemas/Error" } } },
      },
    ]);
  const success =
    status === 204
      ? { description: "Done" }
      : { description: "OK", content: { "application/json": { schema } } };
  return { [String(status)]: success, ...Object.fromEntries(errors) };
}

function queryParameters(route: Route): object[] {
  if (!route.query) return [];
  const schema = z.toJSONSchema(route.query, { io: "input", unrepresentable: "any" }) as {
    properties?: Schema;
    required?: string[];
  };
  return Object.entries(schema.properties ?? {}).map(([name, property]) => ({
    name,
    in: "query",
    required: schema.required?.includes(name) ?? false,
    schema: property,
  }));
}

/** A schema with its named parts moved to the components. */
function toSchema(type: z.ZodType, schemas: Schema, io: "input" | "output"): unknown {
  const {
    $schema: _version,
    $defs,
    ...schema
  } = z.toJSONSchema(type, { io, unrepresentable: "any", reused: "inline" }) as Schema & {
    $defs?: Schema;
  };
  for (const [name, definition] of Object.entries($defs ?? {})) schemas[name] ??= refer(definition);
  const { id, ...plain } = schema;
  if (typeof id !== "string") return refer(schema);
  schemas[id] ??= refer(plain);
  return { $ref: `#/components/schemas/${id}` };
}

function refer(schema: unknown): unknown {
  return JSON.parse(JSON.stringify(schema).replaceAll('"#/$defs/', '"#/components/schemas/'));
}

const errorSchema = {
  type: "object",
  required: ["error"],
  properties: {
    error: {
      type: "object",
      required: ["code", "message"],
      properties: {
        code: { type: "string", enum: Object.keys(errorStatus) },
        message: { type: "string" },
        details: {
          type: "array",
          items: {
            type: "object",
            required: ["reason"],
            properties: {
              field: { type: "string" },
              reason: { type: "string" },
              value: { type: "string" },
            },
          },
        },
        request_id: { type: "string" },
      },
    },
  },
};

function operationId(path: string): string {
  return path
    .replace(/[^a-z]+(.)?/g, (_all, letter: string | undefined) => letter?.toUpperCase() ?? "")
    .replace(/^./, (c) => c.toLowerCase());
}
