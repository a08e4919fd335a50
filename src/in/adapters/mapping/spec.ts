import { type JsonFields, objectOf } from "../json.ts";
import { readPointer, through } from "./read.ts";
import { textAs } from "./template.ts";
import { findTransform, type Transform, transformNames } from "./transforms.ts";
import { isFilled, type MappingPosition, valueText } from "./values.ts";

export type Read = (place: MappingPosition) => unknown;

/** Collects a document's faults, and counts its specs. */
export interface Writing {
  fault(pointer: string, reason: string): null;
  specs: number;
}

const SPEC = ["at", "text", "const", "first", "do", "map", "else"];
const MOST_FIRST = 16;
const MOST_STEPS = 16;
const nothing: Read = () => null;

/**
 * A compiled value spec: `{at}`, `{text}`, `{const}` or `{first}`, then `do`, `map` and `else`. Faults are collected by
 * their pointer; a faulty spec reads nothing.
 */
export function readSpec(
  value: unknown,
  at: string,
  writing: Writing,
  more: readonly string[] = [],
): Read {
  const fields = objectOf(value);
  if (fields === null) return writing.fault(at, "must be an object") ?? nothing;
  writing.specs++;
  for (const name of Object.keys(fields))
    if (!SPEC.includes(name) && !more.includes(name))
      writing.fault(`${at}/${escaped(name)}`, `is not known; there is ${SPEC.join(", ")}`);
  const read = readOrigin(fields, at, writing, more);
  const steps = readSteps(fields["do"], at, writing);
  const map = readMap(fields["map"], at, writing);
  const otherwise = fields["else"] ?? null;
  if (typeof otherwise === "object" && otherwise !== null)
    writing.fault(`${at}/else`, "must be a string, number, boolean or null");
  return (place) => {
    const value = through(steps, read(place), place);
    if (map === null) return isFilled(value) ? value : otherwise;
    const word = valueText(value);
    if (map.has(word)) return map.get(word);
    return otherwise === WORD ? { word } : otherwise;
  };
}

/** `"else": "word"` of a level: the severity that the word means. */
export const WORD = "word";

function readOrigin(
  fields: JsonFields,
  at: string,
  writing: Writing,
  more: readonly string[],
): Read {
  const given = ["at", "text", "const", "first"].filter(
    (name) => name in fields && !more.includes(name),
  );
  const [origin] = given;
  if (given.length !== 1 || origin === undefined)
    return writing.fault(at, "needs one of at, text, const and first") ?? nothing;
  const value = fields[origin];
  if (origin === "const") return () => value;
  if (origin === "first") return readFirst(value, `${at}/first`, writing);
  if (typeof value !== "string")
    return writing.fault(`${at}/${origin}`, "must be a string") ?? nothing;
  if (origin === "text") return textAs(value, (reason) => writing.fault(`${at}/text`, reason));
  return readPointer(value) ?? writing.fault(`${at}/at`, "must be a JSON pointer") ?? nothing;
}

function readFirst(value: unknown, at: string, writing: Writing): Read {
  if (!Array.isArray(value) || value.length === 0 || value.length > MOST_FIRST)
    return writing.fault(at, `must be a list of 1 to ${MOST_FIRST} specs`) ?? nothing;
  const specs = value.map((item, i) => readSpec(item, `${at}/${i}`, writing));
  return (place) => {
    for (const spec of specs) {
      const found = spec(place);
      if (isFilled(found)) return found;
    }
    return null;
  };
}

function readSteps(value: unknown, at: string, writing: Writing): Transform[] {
  if (value === undefined) return [];
  if (!Array.isArray(value) || value.length > MOST_STEPS) {
    writing.fault(`${at}/do`, `must be a list of at most ${MOST_STEPS} transforms`);
    return [];
  }
  return value.flatMap((name, i) => {
    const found = typeof name === "string" ? findTransform(name) : null;
    if (found === null) writing.fault(`${at}/do/${i}`, `must be one of ${transformNames}`);
    return found ?? [];
  });
}

function readMap(value: unknown, at: string, writing: Writing): Map<string, unknown> | null {
  if (value === undefined) return null;
  const fields = objectOf(value);
  if (fields === null) return writing.fault(`${at}/map`, "must be an object");
  for (const [name, to] of Object.entries(fields))
    if (typeof to === "object" && to !== null)
      writing.fault(`${at}/map/${escaped(name)}`, "must be a string, number, boolean or null");
  return new Map(Object.entries(fields));
}

/** A name escaped for a pointer. */
export function escaped(name: string): string {
  return name.slice(0, 100).replaceAll("~", "~0").replaceAll("/", "~1");
}
