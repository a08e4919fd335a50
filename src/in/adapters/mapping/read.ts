import { cut } from "../../../ground/kit/text.ts";
import type { Transform } from "./transforms.ts";
import { follow, type MappingPosition, MOST_VALUE, pointerSteps } from "./values.ts";

/**
 * A compiled pointer: into the element; with `^` into the whole body; `#h/name` a header, `#q/name` a query parameter.
 * Null for any other text.
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

/** What listing a name costs, in characters. */
export const PER_NAME = 32;

/** The value, charged to the budget; null once the budget is used up. */
function charged(value: unknown, { budget }: MappingPosition): unknown {
  if (budget.left <= 0) return null;
  if (typeof value !== "string") {
    budget.left -= costOf(value);
    return value;
  }
  budget.left -= Math.min(value.length, MOST_VALUE) + 1;
  return cut(value, MOST_VALUE);
}

/** Applies transforms one after the other, each charged again; null once the budget is used up. */
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

/** In a list each item is charged. */
function stepCost(value: unknown): number {
  if (typeof value === "string") return value.length;
  return Array.isArray(value) ? value.length * PER_NAME : 1;
}

/** For a list or object: all its names are listed, however few are used. */
function costOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 1;
  return 1 + (Array.isArray(value) ? value.length : Object.keys(value).length * PER_NAME);
}
