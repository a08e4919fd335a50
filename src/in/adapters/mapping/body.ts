import { type InRequest, UnreadableBody } from "../adapter.ts";
import { jsonBody, jsonOr } from "../json.ts";
import { htmlText } from "./html.ts";
import { multipartFields } from "./multipart.ts";

/** Form fields in which senders put JSON. */
const JSON_FIELDS = ["payload", "data", "payload_json"];
/** Fields of a form or query that are read. */
const MOST_FIELDS = 200;
/** Parameters that can hold a token, which never becomes a key. */
const TOKENS = new Set(["key", "token", "apiKey", "sentry_key"]);

/**
 * A body as a mapping reads it. JSON as it is, whatever its Content-Type; a form as an object of texts, or the JSON
 * inside it; other text as `{text}`; without a body, the query. Throws UnreadableBody.
 */
export function bodyValue(request: InRequest): unknown {
  const type = (request.header("content-type") ?? "").toLowerCase();
  const text = textOf(request.body, type);
  const start = text.trimStart();
  if (start === "") return fieldsOf(request.query, TOKENS);
  if (type.includes("multipart/")) return partsValue(request);
  if (type.includes("json")) return jsonBody(Buffer.from(text));
  if (start.startsWith("{") || start.startsWith("[")) {
    const value = jsonOr(Buffer.from(text));
    if (value !== undefined) return value;
    // `[nas-02] Pool degraded` is text; an incomplete object is an error.
    if (start.startsWith("{") && !type.startsWith("text/")) return jsonBody(Buffer.from(text));
  }
  if (type.includes("x-www-form-urlencoded")) return formValue(text);
  if (type.includes("xml") || type.includes("html") || start.startsWith("<"))
    return { text: htmlText(text) };
  return { text: text.trim() };
}

/** In the charset of its Content-Type if that is known; else UTF-8. */
function textOf(body: Buffer, type: string): string {
  const [, charset = "utf-8"] = /;\s*charset="?([\w.:-]{1,40})/.exec(type) ?? [];
  try {
    return new TextDecoder(charset).decode(body);
  } catch {
    return new TextDecoder().decode(body);
  }
}

/** Files in it are skipped. */
function partsValue({ body, header }: InRequest): unknown {
  const pairs = multipartFields(body, header("content-type") ?? "");
  if (pairs !== null) return jsonIn(pairs) ?? fieldsOf(pairs);
  throw new UnreadableBody("The form of parts breaks off or has too many of them.");
}

/** The JSON in a form field; undefined where there is none. */
function jsonIn(pairs: readonly [string, string][]): unknown {
  for (const name of JSON_FIELDS) {
    const json = pairs.find(([field]) => field === name)?.[1].trimStart() ?? "";
    if (json.startsWith("{") || json.startsWith("[")) return jsonOr(Buffer.from(json));
  }
  return undefined;
}

/** Pairs of a form that are looked at: each takes a hundred bytes, however short it is. */
const MOST_PAIRS = 10_000;

function firstPairs(text: string): string {
  let end = -1;
  for (let n = 0; n < MOST_PAIRS; n++) {
    end = text.indexOf("&", end + 1);
    if (end === -1) return text;
  }
  return text.slice(0, end);
}

function formValue(text: string): unknown {
  const form = [...new URLSearchParams(firstPairs(text))];
  const json = jsonIn(form);
  if (json !== undefined) return json;
  const fields = fieldsOf(form);
  const [[only = "", value = ""] = [], ...others] = Object.entries(fields);
  // `curl -d 'some words'` declares them a form.
  return others.length === 0 && value === "" ? { text: only.trim() } : fields;
}

function fieldsOf(
  pairs: Iterable<[string, string]>,
  without: ReadonlySet<string> = new Set(),
): Record<string, string> {
  const fields: Record<string, string> = {};
  let count = 0;
  for (const [name, value] of pairs) {
    if (without.has(name) || ++count > MOST_FIELDS) continue;
    Object.defineProperty(fields, name, { value, enumerable: true, configurable: true });
  }
  return fields;
}
