import { isAscii } from "node:buffer";
import { excessOf } from "../../ground/kit/json.ts";
import { UnreadableBody } from "./adapter.ts";

/** Most levels of nesting. */
const DEPTH = 64;
/** Values of one body: ten thousand records with a dozen attributes each have as many. */
const MOST_VALUES = 500_000;
/** Most bytes of a JSON text in memory: one for each character if all are ASCII, else two. Reading takes eight times as much. */
const MOST_TEXT = 20 * 1024 * 1024;

export type JsonFields = Readonly<Record<string, unknown>>;

/** The body as JSON with at most `values` values. Throws UnreadableBody. */
export function jsonBody(body: Buffer, values = MOST_VALUES): unknown {
  if (textBytes(body) > MOST_TEXT) throw new UnreadableBody({ why: "too_large" });
  const text = body.toString("utf8").replace(/^\uFEFF/, "");
  const excess = excessOf(text, { deepest: DEPTH, values });
  if (excess === "values") throw new UnreadableBody({ why: "too_large" });
  const no = excess === null ? "The body is no JSON." : `The JSON is deeper than ${DEPTH}.`;
  try {
    if (excess === null) return JSON.parse(text);
  } catch {
    // Not JSON.
  }
  throw new UnreadableBody({ why: "bad_request", message: no });
}

/** Bytes that the UTF-8 needs as a text in memory. */
function textBytes(body: Buffer): number {
  if (body.length <= MOST_TEXT / 2 || isAscii(body)) return body.length;
  let units = 0;
  for (const byte of body) {
    // The first byte of each character; one of four bytes is two units.
    if ((byte & 0xc0) !== 0x80) units += byte < 0xf0 ? 1 : 2;
  }
  return 2 * units;
}

/** As `jsonBody`, but undefined for text that isn't JSON. Throws UnreadableBody only for too many values. */
export function jsonOr(body: Buffer, values = MOST_VALUES): unknown {
  try {
    return jsonBody(body, values);
  } catch (error) {
    if (error instanceof UnreadableBody && error.refusal.why !== "too_large") return undefined;
    throw error;
  }
}

/** The value as an object; null for anything else, arrays included. */
export function objectOf(value: unknown): JsonFields | null {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as JsonFields)
    : null;
}

/** Elements of one list; an honest request has fewer. */
const MOST_ELEMENTS = 10_000;

/** The value as a list; null for anything else. Throws UnreadableBody for a list that is too long. */
export function listOf(value: unknown): readonly unknown[] | null {
  if (!Array.isArray(value)) return null;
  if (value.length > MOST_ELEMENTS) throw new UnreadableBody({ why: "too_large" });
  return value;
}

/** The objects among the first `most` items of a list; empty for anything else. */
export function objectsIn(value: unknown, most: number): JsonFields[] {
  if (!Array.isArray(value)) return [];
  return value
    .slice(0, most)
    .map(objectOf)
    .filter((fields) => fields !== null);
}

/** The value as text: a string, number or boolean; empty for anything else. */
export function asText(value: unknown): string {
  if (typeof value === "string") return value;
  return typeof value === "number" || typeof value === "boolean" ? String(value) : "";
}

/** An object's own pairs, without values that aren't text. */
export function textPairs(value: unknown): [string, string][] {
  const fields = objectOf(value);
  if (fields === null) return [];
  return Object.entries(fields)
    .filter(([, item]) => item !== null && typeof item !== "object")
    .map(([name, item]) => [name, asText(item)]);
}

/** Whole Unix seconds of an RFC 3339 time; null for an invalid one, and for the year 1, Go's "no time". */
export function timeOf(value: unknown): number | null {
  if (typeof value !== "string" || value.startsWith("0001-01-01")) return null;
  const found =
    /^(\d{4}-\d{2}-\d{2})[Tt ](\d{2}:\d{2}:\d{2})(?:\.\d+)?([Zz]|[+-]\d{2}:?\d{2})?$/.exec(value);
  if (found === null) return null;
  const [, date, time, zone = "Z"] = found;
  const offset = /^[+-]\d{4}$/.test(zone)
    ? `${zone.slice(0, 3)}:${zone.slice(3)}`
    : zone.toUpperCase();
  const ms = Date.parse(`${date}T${time}${offset}`);
  return Number.isNaN(ms) ? null : Math.floor(ms / 1000);
}
