import assert from "node:assert/strict";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import type { Answer } from "../support/box.ts";

/** One operation of the OpenAPI document, as far as the matrix reads it. */
export interface Operation {
  method: string;
  /** `/v1/projects/{id}/rules`. */
  path: string;
  id: string;
  /** What opens it; `null`: nothing is asked for. */
  scheme: "apiKey" | "ingestToken" | "session" | "twilioSignature" | null;
  needsManager: boolean;
  /** Of the managers only an owner. */
  needsOwner: boolean;
  hasBody: boolean;
  /** The status of success. */
  success: number;
  /** Documented error codes by status; empty where the answer has none (pages). */
  codes: Map<number, string[]>;
}

/** The document of a running box, and its schemas as a stock validator understands them. */
export interface Document {
  operations: Operation[];
  /** The closed list. */
  codes: string[];
  /** Throws where the answer isn't what the document says of this operation. */
  hold(operation: Operation, answer: Answer): void;
}

interface Raw {
  paths: Record<string, Record<string, RawOperation>>;
  components: { schemas: Record<string, object> };
}

interface RawOperation {
  operationId: string;
  security?: Record<string, unknown>[];
  "x-needs-role"?: string;
  requestBody?: object;
  responses: Record<string, { description: string; content?: Record<string, { schema: object }> }>;
}

/** Reads the document that the role at `url` serves. */
export async function readDocument(url: string): Promise<Document> {
  const raw = (await (await fetch(`${url}/v1/openapi.json`)).json()) as Raw;
  const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
  ajv.addSchema({ $id: "document", components: raw.components });
  const schemas = new Map<string, string>();
  const operations: Operation[] = [];
  for (const [path, methods] of Object.entries(raw.paths))
    for (const [method, operation] of Object.entries(methods)) {
      operations.push(read(method.toUpperCase(), path, operation));
      for (const [status, { content }] of Object.entries(operation.responses)) {
        const schema = content?.["application/json"]?.schema;
        if (schema === undefined) continue;
        const text = JSON.stringify(schema).replaceAll('"#/', '"document#/');
        schemas.set(`${operation.operationId} ${status}`, text);
      }
    }
  // Each when it is first needed: to compile all takes seconds, and most errors have one schema.
  const compiled = new Map<string, ValidateFunction>();
  const validatorOf = (text: string) => {
    const known = compiled.get(text) ?? ajv.compile(JSON.parse(text));
    compiled.set(text, known);
    return known;
  };
  const error = raw.components.schemas["Error"] as {
    properties: { error: { properties: { code: { enum: string[] } } } };
  };
  return {
    operations,
    codes: error.properties.error.properties.code.enum,
    hold(operation, answer) {
      const what = `${operation.method} ${operation.path}: ${answer.status} ${JSON.stringify(answer.body).slice(0, 500)}`;
      const documented = answer.status === operation.success || operation.codes.has(answer.status);
      assert.ok(documented, `status not in the document: ${what}`);
      const code = answer.body?.error?.code;
      if (answer.status >= 400 && code !== undefined && operation.codes.get(answer.status)?.length)
        assert.ok(
          operation.codes.get(answer.status)?.includes(code),
          `code not in the document: ${what}`,
        );
      const isJson = answer.headers.get("content-type")?.startsWith("application/json") ?? false;
      const schema = schemas.get(`${operation.id} ${answer.status}`);
      if (!isJson || schema === undefined) return;
      const validate = validatorOf(schema);
      assert.ok(validate(answer.body), `${what}\n${JSON.stringify(validate.errors, null, 1)}`);
    },
  };
}

function read(method: string, path: string, operation: RawOperation): Operation {
  const statuses = Object.keys(operation.responses).map(Number);
  const [scheme] = Object.keys(operation.security?.[0] ?? {});
  const codes = statuses
    .filter((status) => status >= 400)
    .map((status): [number, string[]] => {
      const { description } = operation.responses[String(status)] ?? { description: "" };
      return [status, /^[a-z_]+(, [a-z_]+)*$/.test(description) ? description.split(", ") : []];
    });
  return {
    method,
    path,
    id: operation.operationId,
    scheme: (scheme as Operation["scheme"] | undefined) ?? null,
    needsManager: operation["x-needs-role"] !== undefined,
    needsOwner: operation["x-needs-role"] === "owner",
    hasBody: operation.requestBody !== undefined,
    success: statuses.find((status) => status < 400) ?? 200,
    codes: new Map(codes),
  };
}
