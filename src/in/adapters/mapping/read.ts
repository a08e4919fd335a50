import { cut } from "../../../ground/kit/text.ts";
import type { Transform } from "./transforms.ts";
import { follow, type MappingPosition, MOST_VALUE, pointerSteps } from "./values.ts";

/**
 * A pointer made ready: into the element, with `^` before it into the whole body, `#h/name` and `#q/name` a header
 * and a parameter of the query. Null for text that is none of them.
 */
export function readPointer(text: string): ((place: MappingPosition) => unknown) | null {
  const [, kind, name = ""] = /^#(h|q)\/(.{1,128})$/s.exec(text) ?? [];
  if (kind === "h") return ({ header }) => header(name.toLowerCase()) ?? null;
  if (kind === "q") return ({ query }) => query.get(name);
  const isRoot = text.startsWith("^");
  const steps = pointerSteps(isRoot ? text.slice(1) : text);
  if (steps === null) return null;
  return (place) => charged(follow(isRoot ? place.root : place.here, steps), place);
}

/** What a name costs to list, in characters. */
export const PER_NAME = 32;

/** The value, paid for. Nothing once all is spent. */
function charged(value: unknown, { budget }: MappingPosition): unknown {
  if (budget.left <= 0) return null;
  if (typeof value !== "string") {
    budget.left -= costOf(value);
    return value;
  }
  budget.left -= Math.min(value.length, MOST_VALUE) + 1;
  return cut(value, MOST_VALUE);
}

/** What transforms make of a value, one after the other; each looks at all of it again. Nothing once all is spent. */
export function through(
  steps: readonly Transform[],
  value: unknown,
  { budget }: MappingPosition,
): unknown {
  let now = value;
  for (const step of steps) {
    budget.left -= stepCost(now);
    if (budget.left <= 0) return null;
    now = step(now);
  }
  return now;
}

/** Of a list each item is looked at by itself. */
function stepCost(value: unknown): number {
  if (typeof value === "string") return value.length;
  return Array.isArray(value) ? value.length * PER_NAME : 1;
}

/** Of a list or object: its names are all listed, however few of them are used. */
function costOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 1;
  return 1 + (Array.isArray(value) ? value.length : Object.keys(value).length * PER_NAME);
}
