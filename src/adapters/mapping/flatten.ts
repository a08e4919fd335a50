import { eventLimits } from "../../ingest/event.ts";
import { asText, objectOf } from "../json.ts";
import { PER_NAME } from "./read.ts";
import { escaped } from "./spec.ts";
import { type Budget, compactJson } from "./values.ts";

const DEEPEST = 8;

/** A value as pairs: nested names joined with a point, lists of scalars with commas; `drop` are pointers left out. */
export function mappedPairs(
  value: unknown,
  { drop, from, budget }: { drop: ReadonlySet<string>; from: string; budget: Budget },
): [string, string][] {
  const pairs: [string, string][] = [];
  const walk = (item: unknown, name: string, at: string, depth: number): void => {
    if (budget.left <= 0 || drop.has(at)) return;
    const fields = depth < DEEPEST ? objectOf(item) : null;
    if (fields === null) {
      if (name === "" || item === null) return;
      const text = leafText(item);
      budget.left -= text.length + 1;
      pairs.push([name, text]);
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
