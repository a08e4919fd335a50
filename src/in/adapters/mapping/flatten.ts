import { eventLimits } from "../../ingest/event.ts";
import type { WatchedKeys } from "../adapter.ts";
import { asText, objectOf } from "../json.ts";
import { leavesCalled } from "../leaves.ts";
import { PER_NAME } from "./read.ts";
import { escaped } from "./spec.ts";
import { type Budget, compactJson } from "./values.ts";

const DEEPEST = 8;

interface MappedPairs {
  /** Pointers to leave out. */
  drop: ReadonlySet<string>;
  /** The pointer to the value. */
  from: string;
  budget: Budget;
  watched: WatchedKeys;
}

/** A value as pairs: nested names joined with a dot, lists with commas; above the limit, those that rules use. */
export function mappedPairs(
  value: unknown,
  { drop, from, budget, watched }: MappedPairs,
): [string, string][] {
  const pairs: [string, string][] = [];
  const put = (name: string, item: unknown) => {
    if (item === null) return;
    const text = leafText(item);
    budget.left -= text.length + 1;
    pairs.push([name, text]);
  };
  const walk = (item: unknown, name: string, at: string, depth: number): void => {
    if (budget.left <= 0 || drop.has(at)) return;
    const fields = depth < DEEPEST ? objectOf(item) : null;
    if (fields === null) {
      if (name !== "") put(name, item);
      return;
    }
    const names = Object.keys(fields);
    budget.left -= names.length * PER_NAME;
    for (const inner of names) {
      if (pairs.length >= eventLimits.keys || budget.left <= 0) return;
      const path = name === "" ? inner : `${name}.${inner}`;
      walk(fields[inner], path, `${at}/${escaped(inner)}`, depth + 1);
    }
  };
  walk(value, "", from, 0);
  if (pairs.length < eventLimits.keys || drop.has(from)) return pairs;
  const isDropped = (steps: readonly string[]) => {
    const path = steps.map((step) => `/${escaped(step)}`);
    return path.some((_, i) => drop.has(from + path.slice(0, i + 1).join("")));
  };
  for (const name of watched())
    for (const { item, steps } of leavesCalled(value, name, DEEPEST))
      if (budget.left > 0 && !isDropped(steps)) put(name, item);
  return pairs;
}

function leafText(item: unknown): string {
  if (Array.isArray(item) && item.every((part) => typeof part !== "object" || part === null)) {
    let text = "";
    for (const [i, part] of (item as unknown[]).entries()) {
      if (text.length > eventLimits.value) break;
      text += (i === 0 ? "" : ", ") + asText(part);
    }
    return text;
  }
  return typeof item === "object" ? compactJson(item, eventLimits.value) : asText(item);
}
