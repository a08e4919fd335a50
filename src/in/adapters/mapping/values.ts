import { cut } from "../../../ground/kit/text.ts";
import type { WatchedKeys } from "../adapter.ts";
import { asText, objectOf } from "../json.ts";

/** Characters of one value while it is transformed: as many as an event's message. */
export const MOST_VALUE = 65_536;
/** Characters of an object or list that is used as text. */
const MOST_COMPACT = 1024;

/**
 * The work that a request may still cost, in characters read. Without it, a mapping that reads the root for each of a
 * thousand elements would cost the square of the body.
 */
export interface Budget {
  left: number;
}

/** What a mapping can read: one element, the whole body, and the request. */
export interface MappingPosition {
  here: unknown;
  root: unknown;
  header(name: string): string | undefined;
  query: URLSearchParams;
  budget: Budget;
  /** The keys that the project's rules use. */
  watched: WatchedKeys;
}

/** Whether there is something to show. */
export function isFilled(value: unknown): boolean {
  return value !== null && value !== undefined && value !== "";
}

/** The value as text: scalars as they are, anything else as short JSON. */
export function valueText(value: unknown): string {
  if (typeof value !== "object" || value === null) return asText(value);
  return compactJson(value, MOST_COMPACT);
}

/** The first `most` characters of a value's JSON; reads no more of the value than needed. */
export function compactJson(value: unknown, most: number): string {
  const parts: string[] = [];
  let size = 0;
  const put = (text: string) => {
    parts.push(text);
    size += text.length;
  };
  const list = (items: readonly unknown[]) => {
    put("[");
    for (let i = 0; i < items.length && size <= most; i++) {
      if (i > 0) put(",");
      walk(items[i]);
    }
    put("]");
  };
  const object = (fields: Readonly<Record<string, unknown>>) => {
    let separator = "{";
    for (const name of Object.keys(fields)) {
      if (size > most) break;
      put(`${separator}${JSON.stringify(cut(name, most))}:`);
      separator = ",";
      walk(fields[name]);
    }
    put(separator === "{" ? "{}" : "}");
  };
  const walk = (item: unknown): void => {
    const fields = objectOf(item);
    if (Array.isArray(item)) list(item);
    else if (fields !== null) object(fields);
    else put(JSON.stringify(typeof item === "string" ? cut(item, most) : (item ?? null)));
  };
  walk(value);
  return cut(parts.join(""), most);
}

/** A JSON pointer's steps, unescaped; null for invalid text. `-` never names an existing element. */
export function pointerSteps(text: string): readonly string[] | null {
  if (text === "") return [];
  if (!text.startsWith("/") || /~(?![01])/.test(text)) return null;
  const steps = text.slice(1).split("/");
  if (steps.includes("-")) return null;
  return steps.map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** The value at the steps; null for none. */
export function follow(value: unknown, steps: readonly string[]): unknown {
  let at = value;
  for (const step of steps) {
    if (typeof at !== "object" || at === null) return null;
    if (Array.isArray(at) ? !/^(0|[1-9]\d{0,8})$/.test(step) : !Object.hasOwn(at, step))
      return null;
    at = (at as Record<string, unknown>)[step];
  }
  return at ?? null;
}
