import type { ErrorDetail } from "../../../ground/kit/errors.ts";
import { type JsonFields, objectOf } from "../json.ts";
import { readPointer } from "./read.ts";
import { escaped, type Read, readSpec, type Writing } from "./spec.ts";
import { type MappingPosition, pointerSteps, valueText } from "./values.ts";

/** A compiled mapping: where each field of an event is read from; null where the document doesn't set the field. */
export interface Mapping {
  each: readonly string[] | null;
  /** Without all of these there is no event. */
  when: readonly ((place: MappingPosition) => boolean)[];
  fields: Readonly<Record<FieldName, Read | null>>;
  links: readonly { href: Read; text: string }[];
  images: readonly Read[];
  keys: MappedKeys | null;
  tags: readonly (string | Read)[];
}

interface MappedKeys {
  from: readonly { read: Read; at: string }[];
  drop: ReadonlySet<string>;
  set: readonly (readonly [string, Read])[];
}

const FIELDS = "message title level action dedup_key instance occurred_at details".split(" ");
export type FieldName = (typeof FIELDS)[number];

const OTHERS = ["each", "when", "links", "images", "keys", "tags"];
const MOST_SPECS = 64;
const MOST_CHARACTERS = 16_384;
const MOST_ITEMS = 16;

/** The compiled document, or its faults, each by its pointer below `at`. */
export function readMapping(
  document: unknown,
  at: string,
): { mapping: Mapping } | { faults: ErrorDetail[] } {
  const faults: ErrorDetail[] = [];
  const writing: Writing = {
    specs: 0,
    fault(field, reason) {
      if (faults.length < 100) faults.push({ field, reason });
      return null;
    },
  };
  const fields = objectOf(document);
  if (fields === null) return { faults: [{ field: at, reason: "must be an object" }] };
  if (JSON.stringify(fields).length > MOST_CHARACTERS)
    return { faults: [{ field: at, reason: `must have at most ${MOST_CHARACTERS} characters` }] };
  for (const name of Object.keys(fields))
    if (![...FIELDS, ...OTHERS].includes(name))
      writing.fault(
        `${at}/${escaped(name)}`,
        `is not known; there is ${[...FIELDS, ...OTHERS].join(", ")}`,
      );
  const mapping = readDocument(fields, at, writing);
  if (writing.specs > MOST_SPECS) writing.fault(at, `must have at most ${MOST_SPECS} specs`);
  return faults.length > 0 ? { faults } : { mapping };
}

function readDocument(fields: JsonFields, at: string, writing: Writing): Mapping {
  const each = fields["each"];
  const steps = typeof each === "string" ? pointerSteps(each) : null;
  if (each !== undefined && steps === null) writing.fault(`${at}/each`, "must be a JSON pointer");
  const spec = (name: FieldName) =>
    fields[name] === undefined ? null : readSpec(fields[name], `${at}/${name}`, writing);
  return {
    each: steps,
    when: items(fields, "when", at, writing).map(([item, where]) =>
      condition(item, where, writing),
    ),
    fields: Object.fromEntries(FIELDS.map((name) => [name, spec(name)])) as Mapping["fields"],
    links: items(fields, "links", at, writing).map(([item, where]) => link(item, where, writing)),
    images: items(fields, "images", at, writing).map(([item, where]) =>
      readSpec(item, where, writing),
    ),
    keys: fields["keys"] === undefined ? null : keysOf(fields["keys"], `${at}/keys`, writing),
    tags: items(fields, "tags", at, writing).map(([item, where]) =>
      typeof item === "string" ? item : readSpec(item, where, writing),
    ),
  };
}

/** A list's items, each with its pointer. */
function items(
  fields: JsonFields,
  name: string,
  at: string,
  writing: Writing,
): (readonly [unknown, string])[] {
  const value = fields[name];
  if (value === undefined) return [];
  if (Array.isArray(value) && value.length <= MOST_ITEMS)
    return value.map((item, i) => [item as unknown, `${at}/${name}/${i}`] as const);
  writing.fault(`${at}/${name}`, `must be a list of at most ${MOST_ITEMS}`);
  return [];
}

/** `{at, in: […]}`: the value is one of the list; null in the list means a missing value. */
function condition(
  item: unknown,
  at: string,
  writing: Writing,
): (place: MappingPosition) => boolean {
  const read = readSpec(item, at, writing, ["in"]);
  const list = objectOf(item)?.["in"];
  if (!Array.isArray(list) || list.some((one) => typeof one === "object" && one !== null)) {
    writing.fault(`${at}/in`, "must be a list of strings, numbers, booleans or null");
    return () => false;
  }
  const words = new Set(list.map(String));
  return (place) => words.has(wordOf(read(place)));
}

/** The value as text, like `String`, but safe for any value. */
function wordOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? value.map(valueText).join(",") : valueText(value);
}

/** `{at, text}` or `{href: spec, text}`: an address and its text. */
function link(item: unknown, at: string, writing: Writing): Mapping["links"][number] {
  const fields = objectOf(item);
  const { text = "", ...rest } = fields ?? {};
  if (typeof text !== "string") writing.fault(`${at}/text`, "must be a string");
  const href =
    fields?.["href"] === undefined
      ? readSpec(fields === null ? null : rest, at, writing)
      : readSpec(fields["href"], `${at}/href`, writing);
  return { href, text: String(text) };
}

function keysOf(value: unknown, at: string, writing: Writing): MappedKeys {
  const fields = objectOf(value) ?? {};
  if (objectOf(value) === null) writing.fault(at, "must be an object");
  for (const name of Object.keys(fields))
    if (!["from", "drop", "set"].includes(name))
      writing.fault(`${at}/${escaped(name)}`, "is not known; there is from, drop, set");
  const pointerOr = (item: unknown, where: string): Read => {
    if (typeof item !== "string") return readSpec(item, where, writing);
    const read = readPointer(item);
    return read ?? writing.fault(where, "must be a JSON pointer or a spec") ?? (() => null);
  };
  const drop = items(fields, "drop", at, writing).map(([item, where]) => {
    if (typeof item === "string" && pointerSteps(item) !== null) return item;
    writing.fault(where, "must be a JSON pointer");
    return "";
  });
  const set = objectOf(fields["set"] ?? {});
  if (set === null) writing.fault(`${at}/set`, "must be an object");
  return {
    from: items(fields, "from", at, writing).map(([item, where]) => ({
      read: pointerOr(item, where),
      at: typeof item === "string" ? item : "#",
    })),
    drop: new Set(drop),
    set: Object.entries(set ?? {}).map(([name, item]) => [
      name,
      pointerOr(item, `${at}/set/${escaped(name)}`),
    ]),
  };
}
