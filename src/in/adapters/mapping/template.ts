import { cut } from "../../../ground/kit/text.ts";
import { readPointer, through } from "./read.ts";
import { findTransform, type Transform, transformNames } from "./transforms.ts";
import { type MappingPosition, MOST_VALUE, valueText } from "./values.ts";

type Part = string | { read: (place: MappingPosition) => unknown; steps: readonly Transform[] };

/**
 * A compiled text with placeholders: `{/host}`, `{/host|upper}`, `{{` for a brace. A missing value is an empty text.
 * `fault` gets what is wrong with it.
 */
export function textAs(
  text: string,
  fault: (reason: string) => void,
): (place: MappingPosition) => string {
  const parts = partsOf(text, fault);
  return (place) => {
    let result = "";
    for (const part of parts) {
      if (result.length > MOST_VALUE) break;
      result += typeof part === "string" ? part : filled(part, place);
    }
    return cut(result, MOST_VALUE).trim();
  };
}

function filled({ read, steps }: Exclude<Part, string>, place: MappingPosition): string {
  return valueText(through(steps, read(place), place));
}

function partsOf(text: string, fault: (reason: string) => void): Part[] {
  const parts: Part[] = [];
  let at = 0;
  for (let open = text.indexOf("{"); open !== -1; open = text.indexOf("{", at)) {
    parts.push(text.slice(at, open));
    if (text[open + 1] === "{") {
      parts.push("{");
      at = open + 2;
      continue;
    }
    const close = text.indexOf("}", open);
    if (close === -1) {
      fault("has a { without its }");
      return parts;
    }
    const part = holeOf(text.slice(open + 1, close), fault);
    if (part !== null) parts.push(part);
    at = close + 1;
  }
  parts.push(text.slice(at));
  return parts;
}

function holeOf(hole: string, fault: (reason: string) => void): Part | null {
  const [pointer = "", ...names] = hole.split("|");
  const read = readPointer(pointer);
  if (read === null) {
    fault(`{${hole.slice(0, 100)}} must be a JSON pointer`);
    return null;
  }
  const steps = names.flatMap((name) => {
    const found = findTransform(name);
    if (found === null) fault(`${name.slice(0, 100)} must be one of ${transformNames}`);
    return found ?? [];
  });
  return { read, steps };
}
