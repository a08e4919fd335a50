import { invalid, ServiceError } from "../../ground/kit/errors.ts";
import { parseJson } from "../../ground/kit/json.ts";

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
 * empty body is `{}`. Throws 409 where it calls what the address names, by one of `named`, something else.
 */
export function readBody(
  text: string,
  readOnly: readonly string[] = [],
  named: Readonly<Record<string, string>> = {},
): unknown {
  const value = text.trim() === "" ? {} : parseJson(text);
  for (const [name, own] of Object.entries(named)) mustBeOfPath(value, name, own);
  return without(value, readOnly);
}

/** Throws 409 where a body has another value than the path in this field. */
export function mustBeOfPath(value: unknown, name: string, own: string): void {
  const isNamed = typeof value === "object" && value !== null && Object.hasOwn(value, name);
  const given = isNamed ? (value as Record<string, unknown>)[name] : undefined;
  if (given === undefined || given === own) return;
  throw new ServiceError(
    "name_mismatch",
    `The ${name} is taken from the path and can't be changed here.`,
    {
      details: [{ field: `/${name}`, reason: "differs from the path" }],
    },
  );
}

function without(value: unknown, names: readonly string[]): unknown {
  if (names.length === 0 || typeof value !== "object" || value === null || Array.isArray(value))
    return value;
  const kept = Object.entries(value).filter(([key]) => !names.includes(key));
  const below = (key: string) =>
    names.flatMap((name) => (name.startsWith(`${key}/`) ? [name.slice(key.length + 1)] : []));
  return Object.fromEntries(kept.map(([key, one]) => [key, without(one, below(key))]));
}

/** Bodies that were read, for as long as their requests are there: another node may have to be given them. */
const remembered = new WeakMap<Request, Uint8Array>();

export const rememberBytes = (request: Request, bytes: Uint8Array): void =>
  void remembered.set(request, bytes);

/** A body as it came, where it was read; else null. */
export const bytesRead = (request: Request): Uint8Array | null => remembered.get(request) ?? null;

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
  const bytes = chunks.length === 1 ? (chunks[0] as Uint8Array) : Buffer.concat(chunks);
  rememberBytes(request, bytes);
  return bytes;
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
const strictUtf8 = new TextDecoder("utf-8", { fatal: true });

export function decodeText(bytes: Uint8Array): string {
  return utf8.decode(bytes);
}

/** For text that is stored as it is sent (contract §2). Throws ServiceError invalid_json. */
export function decodeExactly(bytes: Uint8Array): string {
  try {
    return strictUtf8.decode(bytes);
  } catch {
    throw new ServiceError("invalid_json", "The body is no UTF-8.");
  }
}
