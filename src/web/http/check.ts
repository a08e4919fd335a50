import type { z } from "zod";
import { type ErrorDetail, invalid, ServiceError } from "../../ground/kit/errors.ts";
import { parseJson } from "../../ground/kit/json.ts";

/** How a fault's path is written: a body's as a JSON pointer, a query's as `?name`, a path's as `{name}`. */
type Place = "body" | "query" | "path";

/** Parses `value` by `schema`; throws a 400 that lists every bad field. */
export function check<T extends z.ZodType>(schema: T, value: unknown, place: Place): z.infer<T> {
  const { error, data } = schema.safeParse(value);
  const faults =
    error === undefined
      ? passedOver(value, data).map((path) => ({
          field: fieldName(path, place),
          reason: "can't have that name",
        }))
      : error.issues.flatMap((issue) => details(issue, place));
  if (faults.length > 0) throw invalid(faults.slice(0, 100));
  return data as z.infer<T>;
}

const ODD = "__proto__";

/**
 * Where something of that name was sent and isn't kept: the library leaves it out of a record and says nothing, and what
 * was meant for few would be done to many.
 */
function passedOver(sent: unknown, kept: unknown): string[][] {
  if (sent === kept || !isRecord(sent) || !isRecord(kept)) return [];
  return Object.keys(sent).flatMap((name) => {
    if (Object.hasOwn(kept, name))
      return passedOver(sent[name], kept[name]).map((path) => [name, ...path]);
    return name === ODD ? [[name]] : [];
  });
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null;

function details(issue: z.core.$ZodIssue, place: Place): ErrorDetail[] {
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((key) => ({
      field: fieldName([...issue.path, key], place),
      reason: "unknown field",
    }));
  }
  return [{ field: fieldName(issue.path, place), reason: reason(issue) }];
}

function reason(issue: z.core.$ZodIssue): string {
  if (
    issue.code === "invalid_type" &&
    issue.input === undefined &&
    issue.message.includes("undefined")
  )
    return "is required";
  return issue.message.replace(/^Invalid input: /, "").slice(0, 200);
}

function fieldName(path: readonly PropertyKey[], place: Place): string {
  const [first] = path;
  if (place === "query") return `?${String(first ?? "")}`;
  if (place === "path") return `{${String(first ?? "")}}`;
  return path
    .map((part) => `/${String(part).slice(0, 100).replaceAll("~", "~0").replaceAll("/", "~1")}`)
    .join("");
}

/** A query string as a record. A parameter given twice is refused (contract §2). */
export function readQuery(search: string): Record<string, string> {
  const query: Record<string, string> = Object.create(null);
  for (const [name, value] of new URLSearchParams(search)) {
    if (name in query) throw invalid([{ field: `?${name.slice(0, 100)}`, reason: "given twice" }]);
    query[name] = value;
  }
  return query;
}

/**
 * The body as a JSON value without the fields that only reads return, `rule/created_at` being one of its field `rule`. An
 * empty body is `{}`.
 */
export function readBody(text: string, readOnly: readonly string[] = []): unknown {
  return without(text.trim() === "" ? {} : parseJson(text), readOnly);
}

function without(value: unknown, names: readonly string[]): unknown {
  if (names.length === 0 || typeof value !== "object" || value === null || Array.isArray(value))
    return value;
  const kept = Object.entries(value).filter(([key]) => !names.includes(key));
  const below = (key: string) =>
    names.flatMap((name) => (name.startsWith(`${key}/`) ? [name.slice(key.length + 1)] : []));
  return Object.fromEntries(kept.map(([key, one]) => [key, without(one, below(key))]));
}

/** Reads a request's body, counting bytes as they come. Throws 413 over `limit`, 415 for an encoding. */
export async function readBytes(request: Request, limit: number): Promise<Uint8Array> {
  const encoding = request.headers.get("content-encoding");
  if (encoding !== null && encoding.toLowerCase() !== "identity") {
    throw new ServiceError(
      "unsupported_encoding",
      "Send the body as it is, without a Content-Encoding.",
    );
  }
  if (Number(request.headers.get("content-length") ?? 0) > limit) throw tooLarge(limit);
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of unbroken(request.body)) {
    size += chunk.byteLength;
    if (size > limit) throw tooLarge(limit);
    chunks.push(chunk);
  }
  return chunks.length === 1 ? (chunks[0] as Uint8Array) : Buffer.concat(chunks);
}

/** A client that goes away in the middle of its body is no fault of the server's. */
async function* unbroken(body: Request["body"]): AsyncGenerator<Uint8Array> {
  try {
    yield* body ?? [];
  } catch {
    throw new ServiceError("invalid_request", "The body broke off.");
  }
}

export function tooLarge(limit: number): ServiceError {
  return new ServiceError("body_too_large", `The body is larger than ${limit} bytes.`);
}

const utf8 = new TextDecoder("utf-8");

export function decodeText(bytes: Uint8Array): string {
  return utf8.decode(bytes);
}
